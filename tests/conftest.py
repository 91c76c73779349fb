"""What all tests share: how often Python looks for unreachable objects."""

from __future__ import annotations

import gc

# Formulas are millions of small objects, nearly all of which reference counts alone set free: looked through after
# every 700 new ones, as Python does by default, they cost a twelfth of the time of the tests of index reduction.
gc.set_threshold(50_000, 20, 50)
