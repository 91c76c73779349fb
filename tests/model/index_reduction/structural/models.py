"""Models of any size with a known structure: chains, nets of rods, ladders, pipes."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from herk.model.model import Model


def chain(count: int, seed: int | None = None) -> Model:
    """Masses joined by rods, hung up at the origin, horizontal at the start; with a seed masses differ."""
    dice = random.Random(seed)
    masses = [round(dice.uniform(0.1, 2.0), 3) if seed is not None else "m" for _ in range(count)]
    joints = [("0", "0"), *((f"x{i}", f"y{i}") for i in range(count))]
    f = [f"{name}{i}" for i in range(count) for name in "uw"]
    for i in range(count):
        for c in range(2):
            above = f"-2*T{i}*({joints[i + 1][c]} - {joints[i][c]})"
            below = f" + 2*T{i + 1}*({joints[i + 2][c]} - {joints[i + 1][c]})" if i + 1 < count else ""
            f.append(above + below + (f" - {masses[i]}*g" if c else ""))
    f += [f"({b[0]} - {a[0]})**2 + ({b[1]} - {a[1]})**2 - l**2" for a, b in pairwise(joints)]
    states = [s for joint in joints[1:] for s in joint] + f[: 2 * count] + [f"T{i}" for i in range(count)]
    E: dict[tuple[int, int], Any] = {(i, i): 1 for i in range(2 * count)}
    E |= {(i, i): masses[(i - 2 * count) // 2] for i in range(2 * count, 4 * count)}
    y0 = [float(v) for i in range(count) for v in (i + 1, 0)] + [0.0] * (2 * count) + [None] * count
    parameters = {"g": 9.81, "l": 1.0} | ({"m": 0.5} if seed is None else {})
    return Model("chain", states, E, f, parameters=parameters, t_span=(0, 1), y0=y0)


def net(width: int, height: int) -> Model:
    """Point masses on a grid in space, each joined to its right and lower neighbour by a rod."""
    masses = [(i, j) for i in range(height) for j in range(width)]
    rods = [((i, j), (i, j + 1)) for i, j in masses if j + 1 < width]
    rods += [((i, j), (i + 1, j)) for i, j in masses if i + 1 < height]
    names = [f"{c}{i}_{j}" for i, j in masses for c in "xyz"]
    forces: dict[str, list[str]] = {name: [] for name in names}
    lengths = []
    for k, ((i, j), (p, q)) in enumerate(rods):
        differences = [f"({c}{i}_{j} - {c}{p}_{q})" for c in "xyz"]
        lengths.append(" + ".join(f"{d}**2" for d in differences) + " - 1")
        for c, d in zip("xyz", differences, strict=True):
            forces[f"{c}{i}_{j}"].append(f"-2*T{k}*{d}")
            forces[f"{c}{p}_{q}"].append(f"2*T{k}*{d}")
    right = [" + ".join([*forces[name], "-9.81" if name[0] == "z" else "-x0_0" if name == "x0_0" else "0"])
             for name in names]  # fmt: skip
    states = [*names, *(f"v{name}" for name in names), *(f"T{k}" for k in range(len(rods)))]
    E = {(i, i): 1 for i in range(2 * len(names))}
    y0: list[float | None] = [float(v) for i, j in masses for v in (j, i, 0)]
    y0 += [0.0] * len(names) + [None] * len(rods)
    f = [*(f"v{name}" for name in names), *right, *lengths]
    return Model("net", states, E, f, t_span=(0, 1), y0=y0)


def ladder(count: int, seed: int = 0) -> Model:
    """Coils and capacitors in a row behind a voltage source with a capacitor beside it: index 2."""
    dice = random.Random(seed)
    u, i = [f"u{k}" for k in range(count + 1)], [f"i{k}" for k in range(1, count + 1)]
    f = [f"j - {i[0]}"] + [f"{i[k]} - {i[k + 1] if k + 1 < count else '0'}" for k in range(count)]
    f += [f"{u[k]} - {u[k + 1]} - R*{i[k]}" for k in range(count)] + [f"{u[0]} - sin(t)"]
    sizes = [round(dice.uniform(0.5, 2.0), 2) for _ in range(2 * count + 1)]
    E = {(k, k): size for k, size in enumerate(sizes)}
    y0: list[float | None] = [None, *[0.0] * count, *[0.0] * count, None]
    return Model("ladder", [*u, *i, "j"], E, f, parameters={"R": 0.1}, t_span=(0, 1), y0=y0)


def pipes(count: int, seed: int = 0) -> Model:
    """Pipes with inertia and friction that form a tree; what is taken out at the nodes is given: index 2."""
    dice = random.Random(seed)
    parents = [dice.randrange(k + 1) for k in range(count)]  # node k + 1 hangs below an earlier one
    q, p = [f"q{k}" for k in range(count)], [f"p{k + 1}" for k in range(count)]
    above = [p[parent - 1] if parent else "P" for parent in parents]
    f = [f"{above[k]} - {p[k]} - r*{q[k]}*sqrt({q[k]}**2 + 1/100)" for k in range(count)]
    for k in range(count):
        below = "".join(f" - {q[c]}" for c in range(count) if parents[c] == k + 1)
        f.append(f"{q[k]}{below} - (1 + {k % 3}*cos(t))/10")
    E = {(k, k): f"L{k % 2}" for k in range(count)}
    start: list[float | None] = [None] * (2 * count)
    values = {"P": 10.0, "r": 0.3, "L0": 1.0, "L1": 2.5}
    return Model("pipes", [*q, *p], E, f, parameters=values, t_span=(0, 1), y0=start)
