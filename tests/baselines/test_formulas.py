"""Formulas handed to rivals in other languages mean what the form says."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest
import sympy as sp

import baselines
import testset
from baselines import desolve, diffsol, octave, rumoca
from baselines.formulas import plain, statements, written
from baselines.prepared import implicit

X, Y = sp.symbols("x y", real=True)
PROBLEMS = (
    ("pendulum", "index1"),
    ("akzo", "index1"),
    ("transistor_amplifier", "index1"),
    ("pendulum", "ggl"),
)


@pytest.mark.parametrize(
    "formula",
    [
        X**2 - Y / 3,
        sp.sqrt(X) / Y**3,
        X ** sp.Rational(5, 3),
        sp.exp(-X) * sp.cos(sp.pi * Y),
        1 / sp.sqrt(X + Y),
        X**7,
    ],
)
def test_plain_formula_has_the_value_of_the_formula(formula):
    names = {"pow": pow, "sqrt": math.sqrt, "exp": math.exp, "cos": math.cos, "x": 1.3, "y": 0.7}
    value = eval(plain(formula, {}), {}, names)
    assert value == pytest.approx(float(formula.subs({X: 1.3, Y: 0.7})), rel=1e-14)


def test_what_values_share_is_computed_once_under_a_name():
    shared = sp.sin(X * Y)
    lines, values = statements([shared + 1, shared**2], {X: "z(1)", Y: "z(2)"}, str)
    assert lines == ["common_0 = sin(z(1)*z(2));"]
    assert values == ["common_0 + 1", "common_0**2"]


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here; apt-get install gcc")
@pytest.mark.parametrize(("name", "form"), PROBLEMS)
def test_c_functions_for_r_agree_with_the_form_in_its_order_of_unknowns(name, form, tmp_path):
    made = implicit(testset.get(name), form)
    n = made.form.n
    order = np.argsort(made.form.variable_index, kind="stable").tolist()
    (tmp_path / "rival.c").write_text(desolve.c_text(written(made.form, order)))
    subprocess.run(desolve.BUILD, cwd=tmp_path, check=True)
    library, random = ctypes.CDLL(str(tmp_path / "rival.so")), np.random.default_rng(3)
    z, zp, t, cj = made.start[0] + 0.01 * random.random(n), random.random(n), 0.3, 1.7
    places = {"z": z[order].copy(), "zp": zp[order].copy(), "r": np.empty(n), "j": np.empty(n * n)}
    to = {key: value.ctypes.data_as(ctypes.c_void_p) for key, value in places.items()}
    time, factor = (ctypes.byref(ctypes.c_double(value)) for value in (t, cj))
    library.residual(time, to["z"], to["zp"], factor, to["r"], None, None, None)
    np.testing.assert_allclose(places["r"], made.form.residual(t, z, zp), rtol=1e-12, atol=1e-12)
    library.residual_jacobian(time, to["z"], to["zp"], to["j"], factor, None, None)
    expected = made.form.residual_jacobian(t, z, zp, cj)[:, order]
    np.testing.assert_allclose(places["j"].reshape(n, n).T, expected, rtol=1e-10, atol=1e-12)
    library.right(None, time, to["z"], to["r"], None, None)
    np.testing.assert_allclose(places["r"], -made.form.residual(t, z, 0 * zp), rtol=1e-12, atol=1e-12)
    library.right_jacobian(None, time, to["z"], None, None, to["j"], None, None, None)
    slopes = -made.form.residual_jacobian(t, z, 0 * zp, 0.0)[:, order]
    np.testing.assert_allclose(places["j"].reshape(n, n).T, slopes, rtol=1e-10, atol=1e-12)


def test_texts_are_written_without_the_programs_that_read_them():
    form = implicit(testset.get("pendulum"), "index3").form
    system, start = written(form), np.arange(5.0)
    assert "r = [" in octave.script(system, "dassl")
    assert "z4 = s4" in diffsol.source(system)
    text = rumoca.source(system, start)
    assert text.count("der(") == 4
    assert "z5(start = 4.0, fixed = false)" in text  # the multiplier, whose derivative does not occur


@pytest.mark.parametrize("name", ["octave_dassl", "desolve_radau", "diffsol_bdf", "rumoca_bdf"])
def test_problems_by_callables_are_refused_in_words(name):
    supported, why = baselines.get(name).supports(testset.get("fekete"), baselines.get(name).forms[0])
    assert not supported
    assert "formulas of a model" in why


def test_what_a_language_or_method_cannot_say_is_refused_in_words():
    pieces = testset.get("charge_pump")
    assert "formulas by pieces" in baselines.get("diffsol_bdf").supports(pieces, "index1")[1]
    turning = testset.get("time_varying", index=2)
    assert "constant matrix E" in baselines.get("diffsol_bdf").supports(turning, "index1")[1]
    assert "constant matrix E" in baselines.get("desolve_radau").supports(turning, "index1")[1]
    assert "as written" in baselines.get("rumoca_bdf").supports(testset.get("pendulum"), "index1")[1]
