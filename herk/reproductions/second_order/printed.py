"""What the paper prints: tables, start values, coefficients, and what it says about its figures."""

from __future__ import annotations

# Table 1: step in 1e-3 and error of lambda, BDF of order 1.
TABLE1 = (
    (1.000, 2.0080), (1.000, 0.0080), (0.200, 8.0303), (0.040, 8.0348), (0.008, 8.0357),
    (0.008, 0.0001), (0.016, 1.0047), (0.032, 1.0048), (0.064, 1.0052), (0.064, 0.0006),
)  # fmt: skip

# Table 2: time and error of lambda with h = 0.005 and h = 0.01, order 1 and then 2; four digits, filled up
# with zeros.
TABLE2 = (
    (1.0050, 2.0400, None), (1.0100, 4.0190, 2.0810), (1.0150, 1.0120, None), (1.0200, 0.0012, 4.0350),
    (1.0300, 0.0013, 1.0280), (1.0400, 0.0013, 0.0052), (1.0500, 0.0014, 0.0054),
)  # fmt: skip

# Section 3: start of the circuit (67), with the unknown of the model that it belongs to.
CIRCUIT_START = {"v_L": 0.0627, "v_C": 1.0, "v_R": -1.0627}
CIRCUIT_RATES = {"v_L'": -0.0222, "v_C'": -0.3542, "v_R'": 0.3765}

# Example 2.4: A~ and b~ as printed.
GAUSS_A2 = (("1/24", "(3 - 2*sqrt(3))/24"), ("(3 + 2*sqrt(3))/24", "1/24"))
GAUSS_B2 = ("(3 + sqrt(3))/12", "(3 - sqrt(3))/12")
RADAU_A2 = (("1/9", "-1/18"), ("1/2", "0"))
RADAU_B2 = ("1/2", "0")
