"""Linear DAEs of index 1 to 4 with chosen solutions, made from Weierstrass' form, in random units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp

from tests.fuzz.member import Member, Truth, pick, rng_of, with_settings
from tests.fuzz.units import in_units, permuted

t = sp.Symbol("t", real=True)
SPAN = 2.0


def make(seed: int) -> Member:
    """Return the linear DAE of this seed."""
    rng = rng_of("linear", seed)
    index = int(rng.integers(1, 5))
    d = int(rng.integers(0, 3)) if index > 1 else int(rng.integers(1, 4))
    N = _nilpotent(rng, index)
    n = d + N.rows
    moving = bool(rng.random() < 0.4)
    z = sp.Matrix([_signal(rng) for _ in range(n)])
    K = sp.diag(sp.eye(d), N)  # K z' = A z + b
    A = sp.diag(_stable(rng, d), sp.eye(N.rows))
    b = K * z.diff(t) - A * z
    Q, S, inverse = (
        _transformation(rng, n, moving and rng.random() < 0.5)[0],
        *_transformation(rng, n, moving),
    )
    y = inverse * z  # z = S y
    E, F = Q * K * S, Q * (A * S - K * S.diff(t))
    names = [f"y{i}" for i in range(n)]
    f = F * sp.Matrix(sp.symbols(names)) + Q * b
    truth = _truth(y)
    grid = truth(np.linspace(0, SPAN, 101))
    member = Member(
        "linear",
        f"index {index}, {'moving' if moving else 'constant'} matrices",
        seed,
        tuple(names),
        tuple(tuple(_text(E[i, j]) for j in range(n)) for i in range(n)),
        tuple(_text(row) for row in f),
        (0.0, SPAN),
        tuple(float(v) for v in grid[:, 0]),
        tuple(float(v) or 1.0 for v in np.abs(grid).max(axis=1)),
        truth,
    )
    member = _with_hidden_zero(member, rng) if rng.random() < 0.2 else member
    member = in_units(member, rng) if rng.random() < 0.6 else member
    return with_settings(permuted(member, rng), rng)


def _with_hidden_zero(member: Member, rng: np.random.Generator) -> Member:
    """Return the member with a zero of E written as sin(t)**2 + cos(t)**2 - 1."""
    zeros = [(i, j) for i, row in enumerate(member.E) for j, entry in enumerate(row) if entry == "0"]
    if not zeros:
        return member
    row, column = pick(rng, zeros)
    E = [list(entries) for entries in member.E]
    E[row][column] = "sin(t)**2 + cos(t)**2 - 1"
    return replace(member, E=tuple(map(tuple, E)), kind=f"{member.kind}, hidden zero")


def _text(entry: sp.Expr) -> str:
    return str(sp.nsimplify(entry)) if entry.is_number else str(entry)


def _nilpotent(rng: np.random.Generator, index: int) -> sp.Matrix:
    """Return a nilpotent matrix of this index: one block of full size and, sometimes, a smaller one."""
    blocks = [index] + ([int(rng.integers(1, index + 1))] if index < 4 and rng.random() < 0.5 else [])
    return sp.diag(*[sp.Matrix(k, k, lambda i, j: int(j == i + 1)) for k in blocks])


def _stable(rng: np.random.Generator, d: int) -> sp.Matrix:
    """Return a small matrix without fast growth, so that errors made early do not swamp the judgement."""
    M = sp.zeros(d, d)
    for i in range(d):
        for j in range(d):
            M[i, j] = -sp.Rational(int(rng.integers(0, 5)), 2) if i == j else int(rng.integers(-1, 2))
    return M


def _signal(rng: np.random.Generator) -> sp.Expr:
    """Return a polynomial, oscillation or exponential of size about one, never zero throughout."""
    c, a = (sp.Rational(int(k), 4) for k in rng.integers(1, 9, 2))
    sign = pick(rng, (1, -1))
    kind = int(rng.integers(4))
    forms = (c + a * t - t**2 / 2, c * sp.sin(2 * a * t + c), c * sp.cos(3 * a * t), c * sp.exp(-a * t) + a)
    return sign * forms[kind]


def _transformation(rng: np.random.Generator, n: int, moving: bool) -> tuple[sp.Matrix, sp.Matrix]:
    """Return a matrix and its inverse, both exact: shears, the first of which may move or turn."""
    M, inverse = sp.eye(n), sp.eye(n)
    for k in range(n if n > 1 else 0):
        i, j = rng.choice(n, 2, replace=False)
        if moving and k == 0 and rng.random() < 0.3:
            step, back = _rotation(rng, n, int(i), int(j))
        else:
            step, back = sp.eye(n), sp.eye(n)
            step[int(i), int(j)] = (
                _moving_factor(rng) if moving and k == 0 else sp.Integer(pick(rng, (-1, 1)))
            )
            back[int(i), int(j)] = -step[int(i), int(j)]
        M, inverse = step * M, inverse * back
    return M, inverse


def _rotation(rng: np.random.Generator, n: int, i: int, j: int) -> tuple[sp.Matrix, sp.Matrix]:
    """Return a rotation in a plane and its inverse; that sin**2 + cos**2 is 1 has to be seen."""
    angle, turn = sp.Rational(int(rng.integers(1, 5)), 2) * t, sp.eye(n)
    turn[i, i] = turn[j, j] = sp.cos(angle)
    turn[i, j], turn[j, i] = -sp.sin(angle), sp.sin(angle)
    return turn, turn.T


def _moving_factor(rng: np.random.Generator) -> sp.Expr:
    w = sp.Rational(int(rng.integers(1, 5)), 2)
    return pick(rng, (sp.sin(w * t), sp.cos(w * t) / 2, t / 2, sp.exp(-w * t)))


def _truth(y: sp.Matrix) -> Truth:
    rows = [sp.lambdify(t, row, "numpy") for row in y]

    def truth(times: np.ndarray) -> np.ndarray:
        times = np.asarray(times, dtype=float)
        return np.array([np.broadcast_to(row(times), times.shape) for row in rows], dtype=float)

    return truth
