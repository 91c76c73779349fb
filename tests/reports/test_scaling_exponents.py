"""Exponents of all four costs over the number of unknowns."""

from __future__ import annotations

import pandas as pd
import pytest

from reports.sections import scaling


def test_every_cost_has_the_exponent_with_which_it_grows() -> None:
    sizes = pd.Series([10.0, 100.0, 1000.0])
    costs = {"step": 1.5, "time": 2.0, "ready": 1.0, "memory": 0.25}
    rows = pd.DataFrame({"unknowns": sizes} | {name: 3.0 * sizes**power for name, power in costs.items()})
    single = rows.iloc[:1]
    table = scaling.exponents({("chain", "herk"): rows, ("cloth", "herk"): single})
    assert table.frame["problem"].tolist() == ["chain"]
    found = table.frame.loc[0, ["a step", "a solve", "getting ready", "memory"]].tolist()
    assert found == pytest.approx(list(costs.values()))
