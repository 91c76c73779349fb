"""What the short words in inputs.txt mean."""

import numpy as np
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Particle,
    Point,
    ReferenceFrame,
    dynamicsymbols,
)

import herk
import testset

t, s = sp.symbols("t s")
x = sp.Function("x")
spring = herk.Model.from_equations(
    "spring", ["x'' = -x"], start={"x": 1, "x'": 0}, t_span=(0, 1)
)
pendulum = testset.get("pendulum").model
dae = herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1)


def residual(t, y, yp):
    return [yp[0] ** 2 + y[0] ** 2 - 1]


def model(*f, states=("x",), E=((1,),), **options):
    return herk.Model(
        "m", states, E, f, **{"t_span": (0, 1), "y0": [1] * len(states)} | options
    )


def written(*equations, **options):
    return herk.Model.from_equations("m", equations, **{"t_span": (0, 1)} | options)


def circuit(*lines):
    return herk.circuit.model("\n".join(lines))


def solve(system=spring, *arguments, **options):
    return herk.solve_dae(system, *arguments, **options)


def bounce(t, y):
    return y[0]


bounce.direction, bounce.reset = -1, lambda t, y: np.array([0.0, -0.5 * y[1]])


def kane(**options):
    u = dynamicsymbols("u")
    frame, point = ReferenceFrame("N"), Point("P")
    point.set_vel(frame, u * frame.x)
    kinematics = [x(t).diff(t) - u]
    if "q_dependent" in options:
        kinematics.append(dynamicsymbols("y").diff(t) - u)
    method = KanesMethod(frame, [x(t)], [u], kd_eqs=kinematics, **options)
    method.kanes_equations([Particle("p", point, sp.S.One)], [(point, frame.x)])
    return herk.Model.from_kane(method, t_span=(0, 1))


def event(**attributes):
    def found(t, y):
        return y[0] - 0.9

    found.__dict__.update(attributes)
    return found


def fit(free=("g",), data=None, model=pendulum, **options):
    return herk.fit(
        model,
        {"t": [0.5, 1.0], "x": [0.1, 0.2]} if data is None else data,
        free,
        **options,
    )
