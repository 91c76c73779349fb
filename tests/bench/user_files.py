"""Models of users: each file is written where a user would write it, and read by path."""

from __future__ import annotations

HEAD = "import numpy as np\nimport herk\n"
PENDULUM = "['x', 'y', 'v', 'w', 'lam'], np.diag([1, 1, 1, 1, 0])"

FILES = {
    # Robertson's reactions with conservation of mass as a constraint: index 1, the textbook example of
    # stiffness.
    "stiff": """
model = herk.Model("robertson", ["a", "b", "c"], np.diag([1, 1, 0]),
    ["-0.04*a + 1e4*b*c", "0.04*a - 1e4*b*c - 3e7*b**2", "a + b + c - 1"], t_span=(0.0, 100.0), y0=(1.0, 0.0, 0.0))
""",
    # Two rods, released horizontally: index 3 with four hidden constraints, not stiff.
    "double_pendulum": """
model = herk.Model("double_pendulum", ["x1", "y1", "x2", "y2", "u1", "v1", "u2", "v2", "a", "b"], np.diag([1] * 8 + [0, 0]),
    ["u1", "v1", "u2", "v2", "-2*x1*a - 2*(x1 - x2)*b", "-2*y1*a - 2*(y1 - y2)*b - 9.81", "-2*(x2 - x1)*b", "-2*(y2 - y1)*b - 9.81",
     "x1**2 + y1**2 - 1", "(x2 - x1)**2 + (y2 - y1)**2 - 1"], t_span=(0.0, 2.0), y0=(1, 0, 2, 0, 0, 0, 0, 0, None, None))
""",
    # A force that changes sign at t = 0.7: the multiplier jumps there.
    "switched": f"""
model = herk.Model("switched", {PENDULUM},
    ["v", "w", "-2*x*lam + Piecewise((5.0, t < 0.7), (-5.0, True))", "-2*y*lam - 9.81", "x**2 + y**2 - 1"],
    t_span=(0.0, 2.0), y0=(1, 0, 0, 0, None))
""",
    # The same constraint twice, with two multipliers: only their sum is determined.
    "redundant": """
model = herk.Model("redundant", ["x", "y", "v", "w", "l", "m"], np.diag([1, 1, 1, 1, 0, 0]),
    ["v", "w", "-2*x*l - 2*x*m", "-2*y*l - 2*y*m - 9.81", "x**2 + y**2 - 1", "2*x**2 + 2*y**2 - 2"],
    t_span=(0.0, 4.0), y0=(1, 0, 0, 0, None, None))
""",
    "contradicting": """
model = herk.Model("contradicting", ["x", "y", "v", "w", "l", "m"], np.diag([1, 1, 1, 1, 0, 0]),
    ["v", "w", "-2*x*l - 2*x*m", "-2*y*l - 2*y*m - 9.81", "x**2 + y**2 - 1", "x**2 + y**2 - 2"],
    t_span=(0.0, 4.0), y0=(1, 0, 0, 0, None, None))
""",
    "inconsistent": f"""
model = herk.Model("inconsistent", {PENDULUM}, ["v", "w", "-2*x*lam", "-2*y*lam - 9.81", "x**2 + y**2 - 1"],
    t_span=(0.0, 2.0), y0=(1.1, 0, 0, 0, 0))
""",
    # Callables only, with a jump nobody tells about.
    "callables": """
def f(t, y):
    push = 5.0 if t < 0.7 else -5.0
    return np.array([y[2], y[3], -2*y[0]*y[4] + push, -2*y[1]*y[4] - 9.81, 0.0])

def g(t, y):
    x, z, v, w, lam = y
    push = 5.0 if t < 0.7 else -5.0
    return np.array([x*x + z*z - 1, x*v + z*w, v*v + w*w - 2*lam*(x*x + z*z) + push*x - 9.81*z])

dae = herk.Dae(E=np.diag([1.0, 1, 1, 1, 0]), f=f, g=g, n=5, m=3)
t_span, y0 = (0.0, 1.2), [1.0, 0.0, 0.0, 0.0, None]
""",
    "nothing": "answer = 42\n",
    "broken": "def deep():\n    return 1 / 0\n\ndeep()\n",
    "leaving": "import os\nos._exit(3)\n",
    "several": """
a = herk.Model("a", ["x"], [[1]], ["-x"], t_span=(0, 1), y0=(1,))
b = herk.Model("b", ["x"], [[1]], ["x"], t_span=(0, 1), y0=(1,))
""",
}  # fmt: skip
