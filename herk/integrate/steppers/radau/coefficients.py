"""The numbers of the three-stage Radau IIA method.

Nodes, inverse matrix, its real and complex eigenvalues, the change of basis.

A^-1 T = T diag(REAL, [[ALPHA, -BETA], [BETA, ALPHA]]); the real eigenvector has length one, the complex one
ends with one, which fixes in which norm the Newton increments are measured. Tests check every number against
the definition of the method.
"""

from __future__ import annotations

_ROOT6 = 2.449489742783178

C1, C2, C3 = (4.0 - _ROOT6) / 10.0, (4.0 + _ROOT6) / 10.0, 1.0

# A^-1 by rows
I11, I12, I13 = 3.224744871391589, 1.1678400846904056, -0.25319726474218085
I21, I22, I23 = -3.5678400846904057, 0.775255128608411, 1.0531972647421808
I31, I32, I33 = 5.531972647421808, -7.531972647421808, 5.0

REAL, ALPHA, BETA = 3.6378342527444957, 2.6810828736277523, 3.0504301992474105

# T by rows, then T^-1 by rows
T11, T12, T13 = 0.09123239487089295, -0.1412552950209542, -0.030029194105147424
T21, T22, T23 = 0.241717932707107, 0.20412935229379994, 0.3829421127572619
T31, T32, T33 = 0.966048182615093, 1.0, 0.0
B11, B12, B13 = 4.325579890063155, 0.33919925181580984, 0.5417705399358749
B21, B22, B23 = -4.178718591551905, -0.32768282076106237, 0.47662355450055044
B31, B32, B33 = -0.5028726349457868, 2.571926949855605, -0.5960392048282249

# Error estimate of order 3 (Hairer & Wanner II, IV.8.18): REAL (y^ - y1) = h f0 + D1 Z1 + D2 Z2 + D3 Z3
# before it is filtered
D1, D2, D3 = -(13.0 + 7.0 * _ROOT6) / 3.0, (-13.0 + 7.0 * _ROOT6) / 3.0, -1.0 / 3.0
