"""Models from sympy.physics.mechanics, against minimal equations written by hand and integrated by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
    kinematic_equations,
)

import herk

t = dynamicsymbols._t
TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-11}


def reference(rate, t_end, y0):
    """Return the end of an ordinary differential equation, by SciPy to twelve digits."""
    return solve_ivp(rate, (0, t_end), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def end(model):
    """Return the end of our run by name."""
    sol = herk.solve_dae(model, **TIGHT)
    assert sol.success, sol.message
    return dict(zip(model.names, sol.y[:, -1], strict=True))


def cartesian_double_pendulum() -> LagrangesMethod:
    x1, y1, x2, y2 = q = dynamicsymbols("x1 y1 x2 y2")
    m, g, l = sp.symbols("m g l")  # noqa: E741 - the textbook's length
    kinetic = m * sum(each.diff(t) ** 2 for each in q) / 2
    rods = [x1**2 + y1**2 - l**2, (x2 - x1) ** 2 + (y2 - y1) ** 2 - l**2]
    return LagrangesMethod(kinetic - m * g * (y1 + y2), q, hol_coneqs=rods)


def double_pendulum_angles(_t, s, g=9.81):
    """Return the textbook's equations for equal masses and unit lengths, angles from the vertical."""
    a, b, u, v = s
    c, si = np.cos(a - b), np.sin(a - b)
    right = np.array([-(v**2) * si - 2 * g * np.sin(a), u**2 * si - g * np.sin(b)])
    return [u, v, *np.linalg.solve([[2, c], [c, 1]], right)]


def test_the_cartesian_double_pendulum_moves_as_in_angles() -> None:
    start = {"x1": 1, "y1": 0, "x2": 2, "y2": 0} | {f"{q}'": 0 for q in ("x1", "y1", "x2", "y2")}
    model = herk.Model.from_lagrange(
        cartesian_double_pendulum(), parameters={"m": 3, "g": 9.81, "l": 1}, start=start, t_span=(0, 1.5)
    )
    assert model.names[-2:] == ("lam1", "lam2")
    a, b, *_ = reference(double_pendulum_angles, 1.5, [np.pi / 2, np.pi / 2, 0, 0])
    found = end(model)
    wanted = [np.sin(a), -np.cos(a), np.sin(a) + np.sin(b), -np.cos(a) - np.cos(b)]
    assert np.allclose([found[q] for q in ("x1", "y1", "x2", "y2")], wanted, atol=1e-8, rtol=0)


def closed_chain(links: int) -> LagrangesMethod:
    """Return bars of length and mass one in a row, both ends held; angles from the horizontal."""
    q = dynamicsymbols(f"q1:{links + 1}")
    m, g, d = sp.symbols("m g d")
    kinetic, potential, x, y = 0, 0, sp.S(0), sp.S(0)
    for a in q:
        cx, cy = x + sp.cos(a) / 2, y + sp.sin(a) / 2
        kinetic += m * (cx.diff(t) ** 2 + cy.diff(t) ** 2) / 2 + m * a.diff(t) ** 2 / 24
        potential += m * g * cy
        x, y = x + sp.cos(a), y + sp.sin(a)
    return LagrangesMethod(kinetic - potential, q, hol_coneqs=[x - d, y])


def chain_model(links: int, angles, d: float, t_end: float) -> herk.Model:
    start = {f"q{i + 1}": a for i, a in enumerate(angles)} | {f"q{i + 1}'": 0 for i in range(links)}
    return herk.Model.from_lagrange(
        closed_chain(links), parameters={"m": 1, "g": 9.81, "d": d}, start=start, t_span=(0, t_end)
    )


def parallelogram(_t, s, g=9.81):
    """Return three unit bars whose ends are one apart, as parallelogram: a'' (2/3 + 1) = -g 2 cos(a), one freedom.

    Both cranks turn about fixed ends (1/3 each), the coupler moves along without turning (1).
    """
    return [s[1], -2 * g * np.cos(s[0]) / (2 / 3 + 1)]


def test_the_four_bar_parallelogram_moves_as_one_crank() -> None:
    model = chain_model(3, [1.0, 0.0, -1.0 - np.pi + 2 * np.pi], 1.0, 0.4)
    with pytest.raises(herk.InputError, match="inconsistent"):
        herk.solve_dae(model)
    model = chain_model(3, [1.0, 0.0, 1.0 + np.pi], 1.0, 0.4)
    assert "ddq1" in model.names
    assert "accelerations" in model.notes[0]
    found = end(model)
    a, u = reference(parallelogram, 0.4, [1.0, 0.0])
    got = [found["q1"], found["q2"], found["q3"] - np.pi, found["dq1"]]
    assert np.allclose(got, [a, 0, a, u], atol=1e-8, rtol=0)


def energy(model: herk.Model, y, links: int) -> float:
    """Return kinetic and potential energy of the closed chain, from points and not from the Lagrangian."""
    q, u = y[:links], y[links : 2 * links]
    x, vx, vy, total, height = 0.0, 0.0, 0.0, 0.0, 0.0
    for a, w in zip(q, u, strict=True):
        mx, my = vx - 0.5 * w * np.sin(a), vy + 0.5 * w * np.cos(a)
        total += 0.5 * (mx**2 + my**2) + w**2 / 24 + 9.81 * (height + 0.5 * np.sin(a))
        x, height, vx, vy = x + np.cos(a), height + np.sin(a), vx - w * np.sin(a), vy + w * np.cos(a)
    return total


@pytest.mark.slow
def test_a_closed_chain_of_five_bars_keeps_its_energy_and_stays_closed() -> None:
    angles = np.array([1.2, 0.5, 0.1, -0.9, 0.0])
    angles[-1] = -np.arcsin(np.sin(angles[:-1]).sum())
    model = chain_model(5, angles, float(np.cos(angles).sum()), 0.5)
    assert herk.regularize(model).index == 3
    sol = herk.solve_dae(model, **TIGHT)
    energies = [energy(model, y, 5) for y in sol.y.T]
    assert np.ptp(energies) < 1e-8
    assert np.ptp(sol.y[0]) > 0.3  # it moves at all
    assert np.max(np.abs(np.sin(sol.y[:5]).sum(axis=0))) < 1e-12


def quaternion_top() -> LagrangesMethod:
    """Return the heavy symmetric top by a quaternion: four coordinates, of length one by a constraint."""
    e = dynamicsymbols("e0:4")
    A, C, mgl = sp.symbols("A C mgl")
    e0, e1, e2, e3 = e
    d = [each.diff(t) for each in e]
    w1 = 2 * (-e1 * d[0] + e0 * d[1] + e3 * d[2] - e2 * d[3])
    w2 = 2 * (-e2 * d[0] - e3 * d[1] + e0 * d[2] + e1 * d[3])
    w3 = 2 * (-e3 * d[0] + e2 * d[1] - e1 * d[2] + e0 * d[3])
    height = e0**2 - e1**2 - e2**2 + e3**2
    lagrangian = (A * (w1**2 + w2**2) + C * w3**2) / 2 - mgl * height
    return LagrangesMethod(lagrangian, e, hol_coneqs=[sum(each**2 for each in e) - 1])


VALUES = {"A": 2.0, "C": 1.5, "mgl": 3.0}
NUTATION, SPIN = 0.6, 6.0


def euler_top(_t, s):
    """Return Lagrange's top in Euler's angles (precession, nutation and its rate, spin); p_phi, p_psi fixed."""
    A, C, mgl = VALUES.values()
    _, theta, rate = s
    p_psi = C * SPIN
    p_phi = p_psi * np.cos(NUTATION)
    turn = (p_phi - p_psi * np.cos(theta)) / (A * np.sin(theta) ** 2)
    torque = A * turn**2 * np.sin(theta) * np.cos(theta) - p_psi * turn * np.sin(theta) + mgl * np.sin(theta)
    return [turn, rate, torque / A]


def axis(e):
    """Return the direction of the axis of a body whose attitude is a quaternion."""
    e0, e1, e2, e3 = e
    return [2 * (e1 * e3 + e0 * e2), 2 * (e2 * e3 - e0 * e1), e0**2 - e1**2 - e2**2 + e3**2]


def top_start():
    """Return the quaternion of a turn about x by the nutation, and its rate for the spin about the axis."""
    e = [np.cos(NUTATION / 2), np.sin(NUTATION / 2), 0.0, 0.0]
    rate = [0.0, 0.0, -SPIN * e[1] / 2, SPIN * e[0] / 2]
    return {f"e{i}": e[i] for i in range(4)} | {f"e{i}'": rate[i] for i in range(4)}


def top_axis(t_end):
    phi, theta, _ = reference(euler_top, t_end, [0.0, NUTATION, 0.0])
    return [np.sin(theta) * np.sin(phi), -np.sin(theta) * np.cos(phi), np.cos(theta)]


def test_the_quaternion_top_points_where_eulers_angles_say() -> None:
    model = herk.Model.from_lagrange(quaternion_top(), parameters=VALUES, start=top_start(), t_span=(0, 2.0))
    found = end(model)
    assert np.allclose(axis([found[f"e{i}"] for i in range(4)]), top_axis(2.0), atol=1e-8, rtol=0)


def kane_top() -> KanesMethod:
    """Return the same top by Kane's method: quaternion and angular velocities in the body."""
    e, u = dynamicsymbols("e0:4"), dynamicsymbols("u1:4")
    A, C, mgl = sp.symbols("A C mgl")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "Quaternion", e)
    B.set_ang_vel(N, u[0] * B.x + u[1] * B.y + u[2] * B.z)
    O, P = Point("O"), Point("P")  # noqa: E741
    O.set_vel(N, 0)
    P.set_pos(O, B.z)
    P.v2pt_theory(O, N, B)
    body = RigidBody("top", O, B, sp.S.One, (inertia(B, A, A, C), O))
    kane = KanesMethod(N, e, u, kd_eqs=kinematic_equations(u, e, "Quaternion"))
    kane.kanes_equations([body], [(P, -mgl * N.z)])
    return kane


def test_kanes_top_points_there_as_well() -> None:
    start = {k: v for k, v in top_start().items() if "'" not in k} | {"u1": 0, "u2": 0, "u3": SPIN}
    model = herk.Model.from_kane(kane_top(), parameters=VALUES, start=start, t_span=(0, 2.0))
    found = end(model)
    assert np.allclose(axis([found[f"e{i}"] for i in range(4)]), top_axis(2.0), atol=1e-8, rtol=0)


def rolling_disc() -> KanesMethod:
    """Return a disc that rolls on a plane: five coordinates, two non-holonomic constraints."""
    x, y, yaw, lean, spin = q = dynamicsymbols("x y yaw lean spin")
    u = dynamicsymbols("u1:6")
    m, g, r = sp.symbols("m g r")
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [yaw, N.z])
    L = Y.orientnew("L", "Axis", [lean, Y.x])
    R = L.orientnew("R", "Axis", [spin, L.y])
    w = R.ang_vel_in(N)
    R.set_ang_vel(N, u[0] * L.x + u[1] * L.y + u[2] * L.z)
    kinematics = [w.dot(each) - u[i] for i, each in enumerate((L.x, L.y, L.z))]
    kinematics += [x.diff(t) - u[3], y.diff(t) - u[4]]
    O, D = Point("O"), Point("D")  # noqa: E741
    O.set_vel(N, 0)
    centre = x * N.x + y * N.y + r * L.z  # x and y are the point of contact
    D.set_pos(O, centre)
    speed = sp.solve(kinematics, [each.diff(t) for each in q])
    D.set_vel(N, centre.dt(N).subs(speed).simplify())
    slip = D.vel(N) + R.ang_vel_in(N).cross(-r * L.z)
    inertia_of_disc = inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    body = RigidBody("disc", D, R, m, (inertia_of_disc, D))
    kane = KanesMethod(
        N, q, list(u[:3]), kd_eqs=kinematics, u_dependent=list(u[3:]),
        velocity_constraints=[slip.dot(N.x), slip.dot(N.y)],
    )  # fmt: skip
    kane.kanes_equations([body], [(D, -m * g * N.z)])
    return kane


def disc_rates(_t, s, g=9.81, r=0.5):
    """Return the known equations of the rolling disc (yaw, lean, u1, u2, u3); mass cancels."""
    _, lean, u1, u2, u3 = s
    return [
        u3 / np.cos(lean),
        u1,
        (4 * g * np.sin(lean) + 6 * r * u2 * u3 - r * u3**2 * np.tan(lean)) / (5 * r),
        -2 * u1 * u3 / 3,
        (-2 * u2 + u3 * np.tan(lean)) * u1,
    ]


def test_lagranges_equations_as_equations_give_the_same_motion() -> None:
    """The four-bar parallelogram once more, from the equations themselves instead of the method."""
    lagrange = closed_chain(3)
    equations = [*lagrange.form_lagranges_equations(), *lagrange._hol_coneqs]
    start = {"q1": 1.0, "q2": 0.0, "q3": 1.0 + np.pi, "q1'": 0, "q2'": 0, "q3'": 0}
    model = herk.Model.from_equations(
        "bars", equations, parameters={"m": 1, "g": 9.81, "d": 1.0}, start=start, t_span=(0, 0.4)
    )
    assert "inverse of a matrix" in model.notes[-1]
    assert herk.regularize(model).index == 3
    found = end(model)
    a, u = reference(parallelogram, 0.4, [1.0, 0.0])
    assert np.allclose([found["q1"], found["q2"], found["dq1"]], [a, 0, u], atol=1e-8, rtol=0)


@pytest.mark.slow
def test_the_rolling_disc_follows_its_minimal_equations() -> None:
    start = {"x": 0, "y": 0, "yaw": 0, "lean": 0.3, "spin": 0, "u1": 0.1, "u2": 4.0, "u3": -0.7}
    model = herk.Model.from_kane(
        rolling_disc(), parameters={"m": 2, "g": 9.81, "r": 0.5}, start=start, t_span=(0, 1)
    )
    assert herk.regularize(model).index == 2
    found = end(model)
    wanted = reference(disc_rates, 1.0, [0.0, 0.3, 0.1, 4.0, -0.7])
    assert np.allclose([found[k] for k in ("yaw", "lean", "u1", "u2", "u3")], wanted, atol=1e-8, rtol=0)


def test_a_force_given_as_function_of_time_is_inserted() -> None:
    """m x'' = F with F = sin(t) and m = 2 gives x = (t - sin(t))/2 from rest."""
    x, F = dynamicsymbols("x F")
    m = sp.Symbol("m")
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, x.diff(t) * N.x)
    lagrange = LagrangesMethod(
        m * x.diff(t) ** 2 / 2, [x], forcelist=[(P, F * N.x)], frame=N, bodies=[Particle("p", P, m)]
    )
    options = {"parameters": {"m": 2}, "start": {"x": 0, "x'": 0}, "t_span": (0, 3)}
    found = end(herk.Model.from_lagrange(lagrange, specified={F: "sin(t)"}, **options))
    assert abs(found["x"] - (3 - np.sin(3)) / 2) < 1e-9
    with pytest.raises(herk.InputError, match=r"contain F\(t\), which no equation determines.*specified"):
        herk.Model.from_lagrange(lagrange, **options)


def planar_pendulum_by_kane() -> KanesMethod:
    """Return a point on a circle in Cartesian coordinates, its speeds dependent."""
    x, y, u, v = dynamicsymbols("x y u v")
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")  # noqa: E741
    O.set_vel(N, 0)
    P.set_pos(O, x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    kane = KanesMethod(
        N, [x], [u], kd_eqs=[x.diff(t) - u, y.diff(t) - v], q_dependent=[y], u_dependent=[v],
        configuration_constraints=[x**2 + y**2 - 1], velocity_constraints=[x * u + y * v],
    )  # fmt: skip
    kane.kanes_equations([Particle("p", P, sp.S(2))], [(P, -2 * sp.Symbol("g") * N.y)])
    return kane


def test_kanes_configuration_constraint_replaces_the_velocity_constraint_it_implies() -> None:
    model = herk.Model.from_kane(
        planar_pendulum_by_kane(), parameters={"g": 9.81}, t_span=(0, 1),
        start={"x": 1, "y": 0, "u": 0, "v": 0},
    )  # fmt: skip
    assert model.names == ("x", "y", "u", "v", "lam1")
    assert herk.regularize(model).index == 3
    found = end(model)
    angle, _ = reference(lambda _t, s: [s[1], -9.81 * np.cos(s[0])], 1.0, [0.0, 0.0])
    assert np.allclose([found["x"], found["y"]], [np.cos(angle), np.sin(angle)], atol=1e-8, rtol=0)


def skate(*, swapped: bool) -> KanesMethod:
    """Return a knife edge on a plane pulled along x: held on the plane (holonomic), no sideways slip (not so)."""
    x, y, z, angle, u, v, w, turn = dynamicsymbols("x y z angle u v w turn")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "Axis", [angle, N.z])
    B.set_ang_vel(N, turn * N.z)
    P = Point("P")
    P.set_vel(N, u * N.x + v * N.y + w * N.z)
    held = [w, u * sp.sin(angle) - v * sp.cos(angle)]
    kane = KanesMethod(
        N, [x, y, angle], [u, turn], q_dependent=[z], configuration_constraints=[z - 1],
        kd_eqs=[x.diff(t) - u, y.diff(t) - v, angle.diff(t) - turn, z.diff(t) - w],
        u_dependent=[v, w], velocity_constraints=held[::-1] if swapped else held,
    )  # fmt: skip
    body = RigidBody("skate", P, B, sp.S(2), (inertia(B, 1, 1, 3), P))
    kane.kanes_equations([body], [(P, 2 * sp.Symbol("g") * N.x - 5 * N.z)])
    return kane


@pytest.mark.parametrize("swapped", [False, True])
def test_holonomic_and_nonholonomic_constraints_go_together(swapped) -> None:
    """The skate from rest, turning at rate 2: x = g/(2 w^2) sin(w t)^2, and the plane carries 5."""
    start = {"x": 0, "y": 0, "z": 1, "angle": 0, "u": 0, "v": 0, "w": 0, "turn": 2}
    model = herk.Model.from_kane(skate(swapped=swapped), parameters={"g": 3.0}, start=start, t_span=(0, 1.3))
    assert herk.regularize(model).index == 3
    found = end(model)
    x = 3 / 8 * np.sin(2.6) ** 2
    y = 3 / 8 * (2.6 - np.sin(5.2) / 2)
    assert np.allclose([found["x"], found["y"], found["z"]], [x, y, 1], atol=1e-8, rtol=0)
    assert abs(found["lam1"] - 5) < 1e-8  # of the plane, which comes first


def test_wrong_objects_are_named() -> None:
    with pytest.raises(herk.InputError, match="takes sympy's LagrangesMethod, not int"):
        herk.Model.from_lagrange(1, t_span=(0, 1))
    with pytest.raises(herk.InputError, match="takes sympy's KanesMethod, not str"):
        herk.Model.from_kane("x", t_span=(0, 1))
    q, u = dynamicsymbols("q u")
    empty = KanesMethod(ReferenceFrame("N"), [q], [u], kd_eqs=[q.diff(t) - u])
    with pytest.raises(herk.InputError, match="no bodies yet"):
        herk.Model.from_kane(empty, t_span=(0, 1))
    with pytest.raises(
        herk.InputError, match=r"names= contains z; the coordinates and speeds are x1, .*, x1'"
    ):
        herk.Model.from_lagrange(cartesian_double_pendulum(), t_span=(0, 1), names={"z": "w"})
