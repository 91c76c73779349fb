"""Model: what is accepted, what is refused with which sentence, and what identifies it."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy import sparse

from herk.core import InputError
from herk.model.entries import t
from herk.model.model import Model

PENDULUM = {
    "states": ["x", "y", "v", "w", "lam"],
    "E": [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, "m", 0, 0], [0, 0, 0, "m", 0], [0, 0, 0, 0, 0]],
    "f": ["v", "w", "-2*x*lam", "-2*y*lam - m*g", "x**2 + y**2 - l**2"],
    "parameters": {"m": 1, "g": 9.81, "l": 2.5},
    "t_span": (0, 2),
    "y0": (2.5, 0, 0, 0, None),
}


def pendulum(**changes: object) -> Model:
    content = PENDULUM | changes
    return Model("pendulum", content.pop("states"), content.pop("E"), content.pop("f"), **content)


def test_texts_and_symbols_describe_the_same_model() -> None:
    x, y, v, w, lam, m, g, length = sp.symbols("x y v w lam m g l")
    f = [v, w, -2 * x * lam, -2 * y * lam - m * g, x**2 + y**2 - length**2]
    by_symbols = Model(
        "pendulum",
        [x, y, v, w, lam],
        sp.diag(1, 1, m, m, 0),
        f,
        parameters={m: 1, g: 9.81, length: 2.5},
        t_span=(0, 2),
        y0=(2.5, 0, 0, 0, None),
    )
    assert [str(row) for row in by_symbols.f] == [str(row) for row in pendulum().f]
    assert by_symbols.states == (x, y, v, w, lam)
    assert by_symbols.f[4] == x**2 + y**2 - length**2


def test_equal_names_mean_the_same_symbol_whatever_their_assumptions() -> None:
    x = sp.Symbol("x", positive=True)
    model = Model("m", ["x"], [[1]], [x * sp.Symbol("t")], t_span=(0, 1), y0=[1])
    assert model.f[0].free_symbols == {model.states[0], t}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"f": ["v", "w", "-2*x*mu", "q", "x"]}, r"f\[2\] contains mu, which is not a state"),
        ({"f": ["v", "w", "a*b", "q", "x"]}, r"f\[2\] contains a, b, which are neither states"),
        ({"E": [[1, 0], [0, 1]]}, r"E is 2 x 2; for 5 states it must be 5 x 5"),
        ({"E": [[1, 0], [0]]}, r"E is ragged"),
        (
            {"E": [[1], [0, 1], [0], [0], [0]]},
            r"E is ragged, with rows of 1 and 2 entries; for 5 states it must be",
        ),
        ({"E": []}, r"E is empty; for 5 states it must be 5 x 5"),
        ({"E": 1}, r"E must be a matrix of 5 x 5, .*, not 1\."),
        ({"E": "eye(5)"}, r"E must be a matrix of 5 x 5, .*, not 'eye\(5\)'"),
        (
            {"E": ["10000", "01000", "00100", "00010", "00000"]},
            r"E must be a matrix of 5 x 5, .*, not '10000'",
        ),
        ({"E": 1j * np.eye(5)}, r"E\[0,0\] is 1j, which is complex"),
        ({"E": sp.I * sp.eye(5)}, r"E\[0,0\] is I, which is complex"),
        ({"f": [1, 2, 3 + 4j, 5, 6]}, r"f\[2\] is \(3\+4j\), which is complex"),
        ({"f": {"v", "w", "x", "y", "lam"}}, r"f must be a sequence of 5 formulas, not \{"),
        ({"f": [b"v", "w", "x", "y", "x"]}, r"f\[0\] is b'v', which is not a formula"),
        ({"f": [None, "w", "x", "y", "x"]}, r"f\[0\] is None, which is not a formula"),
        (
            {"y0": {1, 2, 3, 4, 5}},
            r"y0 must be a sequence of 5 numbers or None, in the order of the states, not \{1, 2, 3, 4, 5\}",
        ),
        (
            {"y0": dict.fromkeys("xyvwl", 0)},
            r"y0 must be a sequence of 5 numbers or None, in the order of the states",
        ),
        ({"y0": (1, 0, 0, 0, 1j)}, r"start value of lam must be a number \(None: computed\), not 1j"),
        ({"y0": (1, 0, 0, 0, 10**400)}, r"start value of lam must be a number"),
        ({"t_span": {0, 1}}, r"t_span must be two times"),
        ({"t_span": (0, 1, 2)}, r"t_span must be two times"),
        ({"f": ["v"]}, r"f has 1 entries; for 5 states it must have 5"),
        ({"f": "v"}, r"f must be a sequence"),
        ({"f": ["v", "w", "x +", "y", "x"]}, r"f\[2\] is 'x \+', which is not a formula"),
        ({"f": ["v", "w", "u(t)", "y", "x"]}, r"f\[2\] contains u\(t\)"),
        ({"f": ["v", "w", "Sin(x)", "y", "x"]}, r"f\[2\] contains Sin\(x\); did you mean sin\?"),
        ({"f": ["v", "w", "arctan(x)", "y", "x"]}, r"f\[2\] contains arctan\(x\); did you mean atan\?"),
        (
            {"f": ["v", "w", "v(t).diff(t)", "y", "x"]},
            r"f\[2\] is .* not a formula: the character '\.' has no meaning",
        ),
        ({"f": ["v", "w", sp.zoo, "y", "x"]}, r"f\[2\] .* not a finite scalar formula"),
        ({"f": ["v", "w", "x > 1", "y", "x"]}, r"f\[2\] .* not a finite scalar formula"),
        ({"y0": (1, 2)}, r"y0 has 2 entries; for 5 states it must have 5"),
        ({"y0": (1, 0, 0, 0, "none")}, r"start value of lam must be a number"),
        (
            {"y0": (1, 0, 0, float("nan"), None)},
            r"start value of w must be a finite number \(None: computed\)",
        ),
        ({"t_span": (1, 1)}, r"its length must not be zero"),
        ({"t_span": (0, float("inf"))}, r"end of t_span must be a finite number"),
        ({"t_span": 3}, r"t_span must be two times"),
        ({"parameters": {"m": 1, "g": None, "l": 1}}, r"A value is missing for g"),
        ({"parameters": {"m": 1, "l": 1}}, r"contains g, which is not a state, the time or a parameter"),
        ({"parameters": {"m": 1, "g": float("inf"), "l": 1}}, r"Parameter g must be a finite number"),
        ({"parameters": {"m": 1, "g": "much", "l": 1}}, r"Parameter g must be a number"),
        ({"parameters": {"m": 1, "g": 1, "l": 1, "x": 2}}, r"x occurs more than once"),
        ({"parameters": [1]}, r"parameters must be a mapping"),
        (
            {"states": ["x", "y", "v", "x", "lam"]},
            r"names of states must be different; x occurs more than once",
        ),
        ({"states": ["x", "y", "v", "w", "la m"]}, r"Each state must be a sympy symbol or a name"),
        ({"states": {"x", "y", "v", "w", "lam"}}, r"states must be a sequence of at least one"),
        ({"states": 5}, r"states must be a sequence of at least one"),
        (
            {"states": ["x", "y", "v", "w", "not"]},
            r"not has a meaning in formulas and cannot be the name of a state",
        ),
        ({"states": []}, r"states must be a sequence of at least one"),
        ({"states": "x"}, r"states must be a sequence of at least one"),
    ],
)
def test_bad_input_is_refused_with_a_sentence_that_names_the_place(
    changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        pendulum(**changes)
    assert str(caught.value).count(". ") == 0
    assert str(caught.value).endswith((".", "?"))


WRAP_CLOSE = [each.__name__ for each in object.__subclasses__()].index(
    "_wrap_close"
)  # a class of the module os
ATTACKS = {
    "import": "__import__('os').mkdir({0!r})",
    "attributes": (
        f"().__class__.__base__.__subclasses__()[{WRAP_CLOSE}].__init__.__globals__['mkdir']({{0!r}})"
    ),
    "classes": "sin.__class__.__mro__[-1].__subclasses__()",
    "symbols": "Symbol({0!r}).__class__",
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("place", ["E", "f"])
def test_text_entries_cannot_reach_python(name: str, place: str, tmp_path) -> None:
    text = ATTACKS[name].format(str(tmp_path / "planted"))
    content = {"E": [[1]], "f": ["x"], place: [[text]] if place == "E" else [text]}
    with pytest.raises(InputError, match="which is not a formula"):
        Model("m", ["x"], content["E"], content["f"], t_span=(0, 1), y0=[1])
    assert not list(tmp_path.iterdir())


def test_entries_of_many_number_types_are_accepted() -> None:
    model = Model(
        "m",
        ["x", "z"],
        np.eye(2),
        [Fraction(1, 3), np.float64(0.5)],
        t_span=(0, np.float64(1)),
        y0=np.array([1.0, 2.0]),
    )
    assert sp.ImmutableDenseMatrix([[1, 0], [0, 1]]) == model.E
    assert model.f[0] == sp.Rational(1, 3)
    assert model.y0 == (1.0, 2.0)


def test_sparse_matrices_are_accepted_as_E() -> None:
    model = Model("m", ["x", "z"], sparse.diags_array([1.0, 0.0]), ["1", "z - x"], t_span=(0, 1), y0=[0, 0])
    assert sp.diag(1, 0) == model.E


def test_numeric_replaces_every_parameter_without_rounding() -> None:
    value = 13.750371636040746
    equations = pendulum(parameters={"m": 2, "g": value, "l": 0.5}).numeric()
    assert not (equations.f.free_symbols | equations.E.free_symbols) - set(equations.states)
    assert equations.E[2, 2] == 2
    x, y = equations.states[:2]
    assert equations.f[4] == x**2 + y**2 - sp.Rational(1, 4)
    lam = equations.states[4]
    assert sp.Rational(-equations.f[3].subs({y: 0, lam: 0})) == 2 * sp.Rational(value)


def test_numeric_takes_the_constraints_as_g() -> None:
    model = pendulum()
    equations = model.numeric([model.f[4]])
    assert (equations.n, equations.m) == (5, 1)
    assert equations.jac_g.tolist() == [[2 * equations.states[0], 2 * equations.states[1], 0, 0, 0]]


def test_whole_parameters_stay_whole_as_exponents() -> None:
    model = Model("m", ["x"], [[1]], ["x**k"], parameters={"k": 3.0}, t_span=(0, 1), y0=[1])
    assert model.numeric().f[0] == model.states[0] ** 3


def test_key_depends_on_equations_and_values_but_not_on_start_and_span() -> None:
    model = pendulum()
    assert model.key == pendulum(y0=(0, -2.5, 1, 0, None), t_span=(0, 5)).key
    others = [
        pendulum(f=["v", "w", "-2*x*lam", "-y*lam - m*g", "x**2 + y**2 - l**2"]),
        model.with_parameters(g=9.82),
    ]
    assert len({model.key, *(other.key for other in others)}) == 3


def test_key_is_the_same_in_another_process_and_quick() -> None:
    build = "Model('pendulum', p.pop('states'), p.pop('E'), p.pop('f'), **p)"
    code = f"from herk.model.model import Model; p = {PENDULUM!r}; print({build}.key)"
    other = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "77"},
        cwd=".",
    )
    model = pendulum()
    began = time.perf_counter()
    key = model.key
    assert time.perf_counter() - began < 0.02
    assert other.stdout.strip() == key


def test_what_is_done_with_lists_afterwards_is_no_concern_of_the_model() -> None:
    known = pendulum()
    written = {name: copy.deepcopy(PENDULUM[name]) for name in ("states", "E", "f", "parameters")}
    model = pendulum(**written)
    written["f"][0], written["parameters"]["g"] = "w", 1.0
    later = pickle.loads(pickle.dumps(model.with_span(t_end=7).with_start([1, 2, 3, 4, None])))
    assert (model.n, model.names, model.key, later.key) == (
        5,
        ("x", "y", "v", "w", "lam"),
        known.key,
        known.key,
    )
    assert model == known
    assert later.f == known.f


def test_the_structure_is_the_same_for_all_values_of_the_parameters() -> None:
    model = pendulum()
    assert model.with_parameters(m=3.0).structure == model.structure
    assert model.with_parameters(m=3.0).key != model.key
    assert pendulum(f=["v", "w", "-2*x*lam", "-2*y*lam", "x"]).structure != model.structure


def test_wrong_texts_are_refused_every_time() -> None:
    for _ in range(2):
        with pytest.raises(InputError, match="contains mu"):
            pendulum(f=["v", "w", "mu", "w", "x"])
        with pytest.raises(InputError, match="parameters must be a mapping"):
            pendulum(parameters=[("m", 1), ("g", 9.81), ("l", 2.5)])


def test_models_are_values() -> None:
    model = pendulum()
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), pendulum()):
        assert twin == model
        assert hash(twin) == hash(model)
        assert twin.key == model.key
    with pytest.raises(AttributeError):
        model.name = "other"
    with pytest.raises(TypeError):
        model.parameters[sp.Symbol("m", real=True)] = 2.0


def test_changed_copies_leave_the_original_alone() -> None:
    model = pendulum()
    key = model.key
    heavier = model.with_parameters(m=3)
    assert {str(k): v for k, v in heavier.parameters.items()} == {"m": 3.0, "g": 9.81, "l": 2.5}
    assert heavier.key != key == model.key
    assert model.with_span(t_end=7).t_span == (0.0, 7.0)
    assert model.with_span(t_end=0, t0=2).t_span == (2.0, 0.0)
    assert model.with_span(5, 1).t_span == (1.0, 5.0)
    with pytest.raises(
        InputError, match=r"from 0.02 back to 0: the end comes first. Write with_span\(t0=0, "
    ):
        model.with_span(0, 0.02)
    with pytest.raises(InputError, match="two numbers"):
        model.with_span(1, 2, t0=3)
    assert model.with_start([1, 2, 3, 4, None]).y0 == (1.0, 2.0, 3.0, 4.0, None)


def test_an_unknown_parameter_is_answered_with_the_nearest_name() -> None:
    model = Model("m", ["x"], [[1]], ["rate*x"], parameters={"rate": 1}, t_span=(0, 1), y0=[1])
    with pytest.raises(InputError, match="Did you mean 'rate'"):
        model.with_parameters(rat=2)
    with pytest.raises(InputError, match="its length must not be zero"):
        model.with_span(t_end=0)
