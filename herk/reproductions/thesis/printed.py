"""What the thesis prints in Chapter 4, and what its program gave where only a picture is printed."""

from __future__ import annotations

from typing import NamedTuple

EXPONENTS = range(5, 13)


class Printed(NamedTuple):
    """A cell of Table 1: error and steps (accepted + 1), None where the run failed."""

    system: str
    tf: float
    beta: float
    eps0: float
    error: float | None
    steps: int | None


_TABLE1 = """
4.5   20 0.7 3.33e-2    577 3.07e-3    918 2.51e-4   1451 2.24e-5   2319 2.20e-6   3611 1.62e-7   5745 1.85e-8   9093 1.15e-8   14346
4.6   20 0.7 4.83e-1    528 6.61e-2    821 6.20e-3   1295 6.12e-4   2046 7.15e-5   3231 8.48e-6   5106 1.21e-6   8075 1.20e-7   12772
4.5   20 0.9 1.90e-2    493 4.56e-3    743 7.48e-4   1147 8.00e-5   1813 7.37e-6   2852 6.32e-7   4490 5.29e-8   7097 1.18e-8   11178
4.6   20 0.9 2.34e-1    444 3.04e-2    676 3.45e-3   1041 5.24e-4   1618 1.20e-4   2530 2.10e-5   3982 3.40e-6   6287 5.52e-7    9947
4.5  200 0.7 9.88e+0   5738 3.50e-1   9069 3.04e-2  14485 3.09e-3  23179 3.53e-4  36087 3.63e-5  57456 4.30e-6  90824 6.04e-7  143440
4.6  200 0.7       -      -       -      - 1.71e+1  13091 5.01e-1  20457 5.16e-2  32294 6.37e-3  51042 9.33e-4  80734 1.50e-5  127702
4.5  200 0.9 4.94e+0   4902 5.98e-1   7403 8.97e-2  11457 1.06e-2  18087 1.13e-3  28499 1.24e-4  44868 1.39e-5  70962 1.64e-6  111758
4.6  200 0.9       -      - 1.97e+1   7279 5.90e+0  10447 3.80e-1  16177 8.75e-2  25282 1.58e-2  39799 2.61e-3  62855 4.05e-4   99452
4.5 2000 0.7 1.70e+1  56506 2.03e+1  90705 7.66e+0 144836 3.28e-1 231758 3.68e-2 360838 3.84e-3 574544 4.58e-4 908571 5.49e-5 1434361
4.6 2000 0.7       -      -       -      -       -      -       -      - 9.07e+0 327359 2.10e+1 511227 1.12e+0 807500 1.50e-1 1277112
4.5 2000 0.9 6.71e+0  47963 7.25e-1  74876 1.48e+1 114505 1.41e+0 180791 1.17e-1 284983 1.31e-2 448649 1.48e-3 709593 1.70e-4 1117553
4.6 2000 0.9       -      -       -      -       -      -       -      - 1.04e+1 259170 5.18e+0 399526 5.60e+0 628916 4.19e-1  994592
"""


def _cells(line: str) -> list[Printed]:
    system, tf, beta, *values = line.split()
    pairs = zip(values[::2], values[1::2], strict=True)
    return [
        Printed(
            system,
            float(tf),
            float(beta),
            10.0**-k,
            *(None, None) if error == "-" else (float(error), int(steps)),
        )
        for k, (error, steps) in zip(EXPONENTS, pairs, strict=True)
    ]


TABLE1 = tuple(cell for line in _TABLE1.strip().splitlines() for cell in _cells(line))

METHODS = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 6}  # letters of the thesis, numbers of the program
ORDERS_ACADEMIC = {"a": 0.9812, "b": 1.9838, "c": 2.9828, "d": 4.0043}  # Figure 3
ORDERS_SELECTOR = {"a": 1.1704, "b": 2.0123, "c": 3.1339, "d": 4.4095}  # Figure 4
ORDER_PENDULUM = 3.0266  # Figure 9

# Figures 5-8 are pictures; these end positions are those of the original program, run for this comparison.
# None: it stops.
END_POINTS: dict[tuple[str, int], tuple[float, float] | None] = {
    ("a", 10): None,
    ("a", 25): (-0.0529, 0.9986),
    ("a", 100): (0.9582, 0.2862),
    ("b", 10): (0.9946, 0.1036),
    ("b", 25): (0.9998, -0.0185),
    ("b", 100): (1.0, 0.0),
    ("c", 10): (-0.7006, 0.7135),
    ("c", 25): (1.0, 0.0050),
    ("c", 100): (1.0, 0.0),
    ("d", 10): (0.9913, -0.1315),
    ("d", 25): (1.0, -0.0010),
    ("d", 100): (1.0, 0.0),
}

# The state at t = 50 of Section 4.4 as the original program gives it (three digits mean something), and the
# pendulum's true state.
WIND_END = (0.084433, -0.492820, 0.226083, 0.038734, 19.151824)
WIND_TRUE = (0.0835386131, -0.4929719060, 0.2225785400, 0.0681456735, 19.1640466679)

CHAIN_ERROR = 2.3e-5  # Figure 14, eps0 = 1e-7
CHAIN_STEPS = {0: 5.0e4, 1: 1.32e5}  # Figure 15, eps0 = 1e-13, by Nopt
CHAIN_ERRORS = {0: 1.8e-10, 1: 4e-10}
AKZO_STEP = 3.5  # Figure 19: "step sizes as high as"
