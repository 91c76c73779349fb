"""Write the references of the test set that need a high-precision run: polar forms, integrated in 40 digits by Gauss collocation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
from mpmath import cos, mp, mpf, sin

FOLDER = Path(__file__).parents[1] / "testset" / "references"
Rate = Callable[[Any, Any], list[Any]]


def gauss(rate: Rate, t_end: Any, y: list[Any], steps: int, stages: int) -> list[Any]:
    """Integrate y' = rate(t, y) with Gauss collocation of order 2 * stages, fixed steps, stages by fixed-point iteration."""
    nodes, A, b = collocation(stages)
    h, size = t_end / steps, len(y)
    k = [rate(mpf(0), y)] * stages
    for step in range(steps):
        t = step * h
        while True:
            points = [[y[j] + h * sum(A[i][s] * k[s][j] for s in range(stages)) for j in range(size)] for i in range(stages)]
            new = [rate(t + c * h, point) for c, point in zip(nodes, points, strict=True)]
            change = max(abs(new[s][j] - k[s][j]) for s in range(stages) for j in range(size))
            k = new
            if change < mpf(10) ** (8 - mp.dps):
                break
        y = [y[j] + h * sum(b[s] * k[s][j] for s in range(stages)) for j in range(size)]
    return y


def collocation(stages: int) -> tuple[list[Any], list[list[Any]], list[Any]]:
    """Return nodes, matrix and weights of the Gauss method."""
    roots = mpmath.polyroots(mpmath.taylor(lambda x: mpmath.legendre(stages, 2 * x - 1), 0, stages)[::-1], maxsteps=500, extraprec=400)
    nodes = sorted(mpmath.re(root) for root in roots)
    powers = mpmath.matrix([[c**k for c in nodes] for k in range(stages)])
    inverse = powers**-1
    rows = [[c ** (k + 1) / (k + 1) for k in range(stages)] for c in (*nodes, mpf(1))]
    weights = [[sum(row[k] * inverse[s, k] for k in range(stages)) for s in range(stages)] for row in rows]
    return nodes, weights[:-1], weights[-1]


def wind_pendulum() -> dict[str, Any]:
    """Return the end of x = l sin th, y = -l cos th, l th'' = -g sin th + alpha cos th - 2 l' th'."""
    m, g, l_end, pull, wind, calm, t_end = mpf(2), mpf("9.78"), mpf("0.5"), mpf("0.03"), mpf(1), mpf("0.04"), mpf(50)

    def length(t: Any) -> Any:
        return l_end + pull * (t_end - t)

    def rate(t: Any, y: Any) -> list[Any]:
        return [y[1], (-g * sin(y[0]) + (wind - calm * t) * cos(y[0]) + 2 * pull * y[1]) / length(t)]

    (theta, omega), digits = checked(rate, t_end, [mpf(0), mpf(0)], 800)
    end, s, c = length(t_end), sin(theta), cos(theta)
    x, y, v, w = end * s, -end * c, -pull * s + end * omega * c, pull * c + end * omega * s
    lam = m * (v**2 + w**2 + x * (wind - calm * t_end) - g * y - pull**2) / (2 * end**2)
    parameters = {"m": 2.0, "g": 9.78, "l0": 2.0, "pull": 0.03, "wind": 1.0, "calm": 0.04}
    return record(t_end, [x, y, v, w, lam], digits, parameters, "polar form of the pendulum of variable length in the wind")


def unit_circle() -> dict[str, Any]:
    """Return the end of y = (sin ph, cos ph), ph'' = tangential part of the force in system (62)."""

    def force(phi: Any, omega: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
        y1, y2, v1, v2 = sin(phi), cos(phi), omega * cos(phi), -omega * sin(phi)
        return y1, y2, v1, v2, -y1 - 2 * y1 * v1 * v2, -v1 + 2 * y1 * v2**2

    def rate(_: Any, y: Any) -> list[Any]:
        y1, y2, _, _, f1, f2 = force(*y)
        return [y[1], y2 * f1 - y1 * f2]

    t_end = mpf("0.1")
    state, digits = checked(rate, t_end, [mpf(0), mpf(1)], 4)
    y1, y2, v1, v2, f1, f2 = force(*state)
    return record(t_end, [y1, y2, v1, v2, (y1 * f1 + y2 * f2 + v1**2 + v2**2) / 2], digits, {}, "polar form phi'' = tau . F of system (62)")


def checked(rate: Rate, t_end: Any, y: list[Any], steps: int) -> tuple[list[Any], int]:
    """Integrate with orders 20 and 24; return the better result and the number of digits the two agree to."""
    coarse, fine = gauss(rate, t_end, y, steps, 10), gauss(rate, t_end, y, steps + steps // 4, 12)
    difference = max(abs(a - b) / abs(b) for a, b in zip(coarse, fine, strict=True))
    return fine, int(-mpmath.log10(difference))


def record(t: Any, y: list[Any], digits: int, parameters: dict[str, float], source: str) -> dict[str, Any]:
    """Return what is stored."""
    how = f"Gauss collocation of orders 20 and 24, different steps, {mp.dps} digits; they agree to {digits} (tools/make_references.py)"
    return {
        "t": float(t), "y": [mpmath.nstr(value, 25) for value in y], "digits": min(digits, 24), "parameters": parameters,
        "source": source, "how": how,
    }  # fmt: skip


if __name__ == "__main__":
    mp.dps = 40
    for make in (wind_pendulum, unit_circle):
        text = json.dumps(make(), indent=1) + "\n"
        (FOLDER / f"{make.__name__}.json").write_text(text, encoding="utf-8")
        print(make.__name__, text)
