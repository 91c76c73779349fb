"""Water flows through 18 tubes between 13 nodes.

Index 2, and friction jumps where flow turns from laminar to turbulent and back.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from herk.core import Dae, Problem, Switches
from herk.core.dae import Array
from herk.jit.compiled import compiled
from herk.model.forms.callable_forms import GivenForm, given_form
from testset.stored import stored

TAGS = ("index2", "hydraulic", "nonstiff", "discontinuous", "switches", "nonautonomous", "callables", "large")
SOURCE = "Test Set for IVP Solvers (CWI/Bari), problem water; contributed by Stichting DYNAMO"
TUBES = (
    (1, 2),
    (2, 3),
    (2, 6),
    (3, 4),
    (3, 5),
    (4, 5),
    (5, 10),
    (6, 5),
    (7, 4),
    (7, 8),
    (8, 5),
    (8, 10),
    (9, 8),
    (11, 9),
    (11, 12),
    (12, 7),
    (12, 8),
    (13, 11),
)
NODES = (
    5,
    8,
    1,
    2,
    3,
    4,
    6,
    7,
    9,
    10,
    11,
    12,
    13,
)  # in the order of the unknowns; the first two have a buffer
N = len(TUBES)
FROM, TO = (np.array([NODES.index(tube[end]) for tube in TUBES]) for end in (0, 1))
NU, GRAVITY, RHO, CRITICAL, LENGTH, ROUGHNESS, DIAMETER, BUFFER = (
    1.31e-6,
    9.8,
    1e3,
    2.3e3,
    1e3,
    2e-4,
    1.0,
    200.0,
)
AREA = math.pi * DIAMETER**2 / 4
CAPACITY, INERTIA = BUFFER / (RHO * GRAVITY), RHO * LENGTH / AREA
LAMINAR, ROUGH = 32 * NU * RHO * LENGTH / (AREA * DIAMETER**2), RHO * LENGTH / (AREA**2 * DIAMETER)
REYNOLDS = DIAMETER / (NU * AREA)  # of a flow of one
START = 0.047519404529185289807  # friction factor at the critical Reynolds number
# Where the solution switches (tube, time), found in quadruple precision with 12 digits; nothing here needs
# them but tests do.
SWITCHED = (
    3535.50683135,
    6864.28254035,
    9200.96805866,
    10489.1720766,
    12207.4306597,
    47693.8325798,
    48165.5060168,
    58324.3004489,
    59090.4013633,
)


@compiled(_nrt=True)
def supply(t, derivative):  # type: ignore[no-untyped-def]
    """Return what flows in from outside, node by node, or its first or second derivative in time."""
    tau, out = t / 3600.0, np.zeros(13)
    e = math.exp(-tau)
    if derivative == 0:
        wave, drain = 1.0 - math.cos(e - 1.0), tau**2 * (3 * tau**2 - 92 * tau + 720)
    elif derivative == 1:
        wave, drain = -math.sin(e - 1.0) * e, tau * (12 * tau**2 - 276 * tau + 1440)
    else:
        wave, drain = math.cos(e - 1.0) * e**2 + math.sin(e - 1.0) * e, 36 * tau**2 - 552 * tau + 1440
    out[2], out[12], out[9] = wave / 200.0, wave / 80.0, -drain / 1e6
    return out / 3600.0**derivative


@compiled(_nrt=True)
def right(t, y, modes):  # type: ignore[no-untyped-def]
    """Return momentum balances of the tubes, friction factors (Colebrook) and mass balances of the nodes.

    Modes: 1 is turbulent.
    """
    out = np.zeros(49)
    for i in range(N):
        flow, factor = y[i], y[N + i]
        friction = factor * ROUGH * flow**2 if modes[i] > 0.5 else LAMINAR * flow
        out[i] = y[36 + FROM[i]] - y[36 + TO[i]] - friction
        number = REYNOLDS * abs(flow) if modes[i] > 0.5 else CRITICAL
        root = math.sqrt(factor)
        out[N + i] = 1.0 / root - 1.74 + 2.0 * math.log10(2.0 * ROUGHNESS / DIAMETER + 18.7 / (number * root))
        out[36 + FROM[i]] -= flow
        out[36 + TO[i]] += flow
    out[36:] += supply(t, 0)
    return out


@compiled(_nrt=True)
def right_slope(y, modes):  # type: ignore[no-untyped-def]
    """Return its derivative with respect to y."""
    out = np.zeros((49, 49))
    for i in range(N):
        flow, factor, rough = y[i], y[N + i], modes[i] > 0.5
        out[i, 36 + FROM[i]], out[i, 36 + TO[i]] = 1.0, -1.0
        out[i, i] = -2.0 * factor * ROUGH * flow if rough else -LAMINAR
        out[i, N + i] = -ROUGH * flow**2 if rough else 0.0
        number = REYNOLDS * abs(flow) if rough else CRITICAL
        root = math.sqrt(factor)
        part = 18.7 / (number * root)
        outer = 2.0 / (math.log(10.0) * (2.0 * ROUGHNESS / DIAMETER + part))
        out[N + i, N + i] = -0.5 / (factor * root) - 0.5 * outer * part / factor
        out[N + i, i] = -outer * part / flow if rough else 0.0
        out[36 + FROM[i], i], out[36 + TO[i], i] = -1.0, 1.0
    return out


@compiled(_nrt=True)
def constraints(t, y, modes):  # type: ignore[no-untyped-def]
    """Return friction factors (18).

    Balances of the nodes without buffer (11) and their derivatives in time (11).
    """
    f, change, out = right(t, y, modes), supply(t, 1), np.empty(40)
    out[:18], out[18:29], out[29:] = f[18:36], f[38:], change[2:]
    for i in range(N):
        if FROM[i] > 1:
            out[27 + FROM[i]] -= f[i] / INERTIA
        if TO[i] > 1:
            out[27 + TO[i]] += f[i] / INERTIA
    return out


@compiled(_nrt=True)
def constraints_slope(y, modes):  # type: ignore[no-untyped-def]
    """Return their derivative with respect to y."""
    slope, out = right_slope(y, modes), np.zeros((40, 49))
    out[:18], out[18:29] = slope[18:36], slope[38:]
    for i in range(N):
        if FROM[i] > 1:
            out[27 + FROM[i]] -= slope[i] / INERTIA
        if TO[i] > 1:
            out[27 + TO[i]] += slope[i] / INERTIA
    return out


@compiled(_nrt=True)
def by_state(y):  # type: ignore[no-untyped-def]
    """Return the modes that the flows ask for."""
    modes = np.zeros(N)
    for i in range(N):
        modes[i] = 1.0 if REYNOLDS * abs(y[i]) > CRITICAL else 0.0
    return modes


@compiled(_nrt=True)
def f(t, y):  # type: ignore[no-untyped-def]
    """Return the right-hand side as stated."""
    return right(t, y, by_state(y))


@compiled(_nrt=True)
def jac_f(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return df/dy."""
    return right_slope(y, by_state(y))


@compiled(_nrt=True)
def g(t, y):  # type: ignore[no-untyped-def]
    """Return all constraints."""
    return constraints(t, y, by_state(y))


@compiled(_nrt=True)
def jac_g(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return dg/dy."""
    return constraints_slope(y, by_state(y))


@compiled(_nrt=True)
def g_t(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return dg/dt."""
    out = np.zeros(40)
    out[18:29], out[29:] = supply(t, 1)[2:], supply(t, 2)[2:]
    return out


@compiled(_nrt=True)
def switched_f(t, y):  # type: ignore[no-untyped-def]
    """Return the right-hand side with the modes as further unknowns, which stand still."""
    out = np.zeros(49 + N)
    out[:49] = right(t, y[:49], y[49:])
    return out


@compiled(_nrt=True)
def switched_g(t, y):  # type: ignore[no-untyped-def]
    """Return the constraints in the modes that are unknowns."""
    return constraints(t, y[:49], y[49:])


@compiled(_nrt=True)
def switched_jac_g(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return their derivative with respect to all unknowns; that to modes is never asked for."""
    out = np.zeros((40, 49 + N))
    out[:, :49] = constraints_slope(y[:49], y[49:])
    return out


def excess(t: float, y: Array, tube: int) -> float:  # noqa: ARG001
    """Return by how much the Reynolds number of a tube exceeds the critical one."""
    return float(REYNOLDS * abs(y[tube]) / CRITICAL - 1.0)


def forms(dae: Dae, t_span: tuple[float, float], y0: Array) -> dict[str, GivenForm]:
    """Return the system as stated (index 2) and with differentiated balances (index 1)."""
    factors, flat, stated = range(18), (1,) * 49, (1,) * 38 + (2,) * 11
    made = (
        given_form(dae, "index1", 1, flat, [[*factors, *range(29, 40)]], (1.0,), jac_f, t_span, y0),
        given_form(dae, "index2", 2, stated, [[*factors, *range(18, 29)]], (1.0,), jac_f, t_span, y0),
    )
    return {form.form: form for form in made}


def problem(t_end: float = 61200.0) -> Problem:
    """Return the system at rest, filled; t is in seconds, 17 hours long."""
    y0 = np.array([0.0] * N + [START] * N + [109800.0] * 13)
    mass = [INERTIA] * N + [0.0] * N + [CAPACITY] * 2 + [0.0] * 11
    names = (
        *(f"phi{i}" for i in range(1, N + 1)),
        *(f"lam{i}" for i in range(1, N + 1)),
        *(f"p{node}" for node in NODES),
    )
    modes = tuple(f"mode{i}" for i in range(1, N + 1))
    dae = Dae(E=np.diag(mass), f=f, g=g, n=49, m=40, jac_g=jac_g, g_t=g_t, names=names)
    E = np.diag([*mass, *[1.0] * N])
    switched = Dae(
        E=E, f=switched_f, g=switched_g, n=49 + N, m=40, jac_g=switched_jac_g, g_t=g_t, names=names + modes
    )
    return Problem(
        name="water_tube",
        title="Water tube system",
        t_span=(0.0, t_end),
        y0=y0,
        source=SOURCE,
        given_dae=dae,
        given_forms=forms(dae, (0.0, t_end), y0),
        reference=stored("water_tube", t_end),
        groups={
            "flows": tuple(range(N)),
            "friction": tuple(range(N, 2 * N)),
            "pressures": tuple(range(36, 49)),
        },
        tags=frozenset(TAGS),
        switches=Switches(switched, tuple(partial(excess, tube=i) for i in range(N))),
    )
