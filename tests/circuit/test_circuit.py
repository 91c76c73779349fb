"""Netlists in SPICE's words become models that agree with exact and independent solutions."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import herk
from herk.circuit.mna import THERMAL

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-13}


def run(netlist: str, t_end: float, **options):
    model = herk.circuit.model(netlist, t_span=(0, t_end))
    sol = herk.solve_dae(model, **TIGHT | options)
    assert sol.success, sol.message
    return model, {name: sol.y[i, -1] for i, name in enumerate(model.names)}


def test_a_capacitor_is_charged_through_a_resistor() -> None:
    model, end = run("V1 in 0 5\nR1 in out 1k\nC1 out 0 1uF", 5e-3)
    assert model.names == ("u_C1", "v_in", "v_out", "i_C1", "i_V1")
    assert herk.regularize(model).index == 1
    assert end["v_out"] == pytest.approx(5 * (1 - np.exp(-5)), abs=1e-9)
    assert end["i_V1"] == pytest.approx(-5e-3 * np.exp(-5), abs=1e-11)


def test_values_of_elements_are_parameters_by_name() -> None:
    model = herk.circuit.model("V1 in 0 5\nR1 in out 1k\nC1 out 0 1u", t_span=(0, 5e-3))
    other = herk.solve_dae(model, parameters={"R1": 2e3, "V1": 3.0}, **TIGHT)
    assert other.y[0, -1] == pytest.approx(3 * (1 - np.exp(-2.5)), abs=1e-9)


def test_a_series_resonance_swings_as_its_formula_says() -> None:
    _, end = run("C1 a 0 1m IC=2\nL1 a b 10m\nR1 b 0 1", 0.02)
    damping, square = 1 / (2 * 10e-3), 1 / (1e-3 * 10e-3)
    omega = np.sqrt(square - damping**2)
    t = 0.02
    exact = 2 * np.exp(-damping * t) * (np.cos(omega * t) + damping / omega * np.sin(omega * t))
    assert end["v_a"] == pytest.approx(exact, abs=1e-9)


def test_a_loop_of_capacitor_and_source_has_index_2_and_is_named() -> None:
    """The source gives i = C v' + v/R, with v = sin(2 pi 50 t)."""
    model, end = run("V1 in 0 SIN(0 1 50)\nC1 in 0 1u\nR1 in 0 1k", 0.013)
    assert herk.regularize(model).index == 2
    assert model.notes[0].startswith("V1 and C1 form a loop of capacitors and voltage sources")
    w = 2 * np.pi * 50
    exact = -(1e-6 * w * np.cos(w * 0.013) + np.sin(w * 0.013) / 1e3)
    assert end["i_V1"] == pytest.approx(exact, abs=1e-12)


def test_a_cutset_of_inductor_and_current_source_has_index_2_and_is_named() -> None:
    """The inductor carries i = sin(2 pi 50 t), so that the source sees v = L i' + R i."""
    model, end = run("I1 0 a SIN(0 1 50)\nL1 a b 1m\nR1 b 0 10", 0.013)
    assert herk.regularize(model).index == 2
    assert model.notes[0].startswith("I1 and L1 form a cutset of inductors and current sources")
    w = 2 * np.pi * 50
    exact = 1e-3 * w * np.cos(w * 0.013) + 10 * np.sin(w * 0.013)
    assert end["v_a"] == pytest.approx(exact, abs=1e-8)


def test_three_inductors_in_a_star_form_a_cutset() -> None:
    netlist = "V1 a 0 1\nV2 b 0 2\nL1 a s 1m\nL2 b s 2m\nL3 s c 3m\nR1 c 0 1"
    model, end = run(netlist, 0.02)
    assert "L1, L2 and L3 form a cutset" in model.notes[0]
    assert herk.regularize(model).index == 2
    assert abs(end["i_L1"] + end["i_L2"] - end["i_L3"]) < 1e-12


RECTIFIER = "V1 in 0 SIN(0 10 50)\nD1 in out IS=1e-12 N=1.5\nR1 out 0 1k\nC1 out 0 10u"


def test_the_rectifier_agrees_with_scipy_on_its_one_equation() -> None:
    def rate(t, u):
        current = 1e-12 * np.expm1((10 * np.sin(100 * np.pi * t) - u) / (1.5 * THERMAL))
        return (current - u / 1e3) / 10e-6

    _, end = run(RECTIFIER, 0.03, method="dopri5")
    reference = solve_ivp(rate, (0, 0.03), [0.0], method="Radau", rtol=1e-12, atol=1e-13).y[0, -1]
    assert end["v_out"] == pytest.approx(reference, abs=1e-8)


def test_a_model_line_says_what_a_diode_is() -> None:
    by_line = herk.circuit.model(
        RECTIFIER.replace("IS=1e-12 N=1.5", "fast") + "\n.model fast D(IS=1e-12 N=1.5)\n.tran 1u 30m"
    )
    assert by_line.t_span == (0.0, 0.03)
    assert by_line.key == herk.circuit.model(RECTIFIER, t_span=(0, 1)).key


SALLEN_KEY = """
* low-pass of second order, follower as amplifier
V1 in 0 SIN(0 1 2k)
R1 in a 10k
R2 a p 10k
C1 a out 20n      ; feedback
C2 p 0 10n
X1 p out out OPAMP
"""


def test_the_op_amp_filter_agrees_with_its_transfer_function() -> None:
    """R1 R2 C1 C2 v'' + C2 (R1 + R2) v' + v = v_in, from rest."""
    _, end = run(SALLEN_KEY, 1e-3)
    a, b, w = 1e8 * 20e-9 * 10e-9, 10e-9 * 2e4, 4e3 * np.pi

    def rate(t, s):
        return [s[1], (np.sin(w * t) - s[0] - b * s[1]) / a]

    reference = solve_ivp(rate, (0, 1e-3), [0, 0], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    assert end["v_out"] == pytest.approx(reference, abs=1e-8)


def test_a_differentiator_of_an_op_amp_has_index_2() -> None:
    model, end = run("V1 in 0 SIN(0 1 50)\nC1 in m 1u\nR1 m out 1k\nX1 0 m out OPAMP", 0.013)
    assert herk.regularize(model).index == 2
    assert all(name in model.notes[0].split(" form a loop")[0] for name in ("V1", "X1", "C1"))
    w = 100 * np.pi
    assert end["v_out"] == pytest.approx(-1e3 * 1e-6 * w * np.cos(w * 0.013), abs=1e-9)


def test_an_ideal_transformer_shows_the_load_divided_by_the_squared_ratio() -> None:
    """The source of 10 V sees 1 + 2**2 * 4 = 17 ohms."""
    _, end = run("V1 in 0 10\nR1 in p 1\nX1 p 0 s 0 TRANSFORMER N=2\nR2 s 0 4\nC1 s 0 1u", 1e-3)
    assert end["i_V1"] == pytest.approx(-10 / 17, abs=1e-9)
    assert end["v_s"] == pytest.approx(10 / 17 * 2 * 4, abs=1e-8)


def test_coupled_inductors_share_their_flux() -> None:
    """L1 = 1, L2 = 4 and k = 0.5 have M = 1; both sides closed by 1 ohm, an ordinary linear system."""
    _, end = run("V1 in 0 1\nR1 in a 1\nL1 a 0 1\nL2 b 0 4\nR2 b 0 1\nK1 L1 L2 0.5", 2.0)
    inverse = np.linalg.inv([[1, 1], [1, 4]])
    reference = solve_ivp(
        lambda _t, i: inverse @ [1 - i[0], -i[1]], (0, 2), [0, 0], method="DOP853", rtol=1e-12, atol=1e-13
    ).y[:, -1]
    assert np.allclose([end["i_L1"], end["i_L2"]], reference, atol=1e-9, rtol=0)


PULSE = (0.0, 5.0, 1e-3, 1e-4, 2e-4, 1e-3, 3e-3)


def test_pulses_are_followed_from_corner_to_corner() -> None:
    text = " ".join(map(str, PULSE))
    model, end = run(f"V1 in 0 PULSE({text})\nR1 in out 1k\nC1 out 0 1u", 8e-3)
    first = (1e-3, 1.1e-3, 2.1e-3, 2.3e-3)
    assert np.allclose(model.breakpoints[:4], first)
    assert len(model.with_span(0.1).breakpoints) == 4 * 33

    corners, levels = [0.0], [0.0]
    for k in range(4):
        corners += [corner + k * 3e-3 for corner in first]
        levels += [0.0, 5.0, 5.0, 0.0]
    v, ends = 0.0, [c for c in corners if c < 8e-3] + [8e-3]
    for a, b in pairwise(ends):  # RC = 1 ms, the source linear in between: exact
        va, vb = np.interp([a, b], corners, levels)
        slope = (vb - va) / (b - a)
        v = vb - slope * 1e-3 + (v - va + slope * 1e-3) * np.exp(-(b - a) / 1e-3)
    assert end["v_out"] == pytest.approx(v, abs=1e-9)


def test_the_current_into_a_capacitor_jumps_where_the_slope_of_its_source_does() -> None:
    model = herk.circuit.model("V1 a 0 PULSE(0 5 1m 1m 1m 1m)\nC1 a 0 1u\nR1 a 0 1k", t_span=(0, 5e-3))
    sol = herk.solve_dae(model, t_eval=[0.5e-3, 1.5e-3, 2.5e-3, 3.5e-3, 4.5e-3], **TIGHT)
    current = sol.y[model.names.index("i_C1")]
    assert np.allclose(current, np.array([0, 5e-3, 0, -5e-3, 0]), atol=1e-12)


def test_lines_may_be_continued_and_end() -> None:
    split = herk.circuit.model(
        "V1 in 0\n+ 5\nR1 in out 1k ; load\n* a remark\nC1 out 0\n+ 1u\n.tran 1u 5m\n.end\nnonsense"
    )
    whole = herk.circuit.model("V1 in 0 5\nR1 in out 1k\nC1 out 0 1u", t_span=(0, 5e-3))
    assert split == whole


@pytest.mark.parametrize(
    ("word", "value"),
    [("4.7k", 4.7e3), ("10uF", 1e-5), ("1meg", 1e6), ("1m", 1e-3), ("-2.5e-3", -2.5e-3), ("3", 3.0)],
)
def test_numbers_have_spices_suffixes(word, value) -> None:
    assert herk.circuit.read(f"V1 a 0 {word}").elements[0].value == pytest.approx(value, rel=1e-15)


def test_a_circuit_can_be_stored() -> None:
    model = herk.circuit.model(SALLEN_KEY, t_span=(0, 1))
    assert pickle.loads(pickle.dumps(model)) == model
    assert pickle.loads(pickle.dumps(model)).breakpoints == ()


@pytest.mark.parametrize(
    ("netlist", "words"),
    [
        ("", "has no elements"),
        (3, "an element on each line, not int"),
        ("Q1 a b c", "begin with one of R, C, L, V, I, D, K, X"),
        ("R1 a 0", "one value is expected behind the nodes; it reads R1 node node ohms"),
        ("R1 a", "too few words"),
        ("R1 a 0 1q2", "'1q2' is not a number"),
        ("R1 a 0 0", "the value of R1 must be above zero"),
        ("R1 a a 1", "both ends are at the node a"),
        ("R1 a-b 0 1", "node 'a-b' is not made of letters"),
        ("R1 a 0 1\nR1 a 0 2", "two elements called R1"),
        ("C1 a 0 1 IX=2", "IX means nothing here"),
        ("V1 a 0 SIN(1 2)", "SIN takes 3 to 5 numbers, not 2"),
        ("V1 a 0 PULSE(0 1 0 0 0 1)", "times above zero to rise and to fall"),
        ("V1 a 0 1 2", "a source is a number, SIN"),
        ("K1 L1 L2 0.5\nL1 a 0 1", "K1 couples L2, which is not an inductor"),
        ("L1 a 0 1\nL2 b 0 1\nK1 L1 L2 1.1", "no coupling is above 1"),
        ("D1 a 0 odd", "there is no line '.model odd"),
        (".model x R(1)", "only diodes have models"),
        (".op", "only .tran, .model and .end are known"),
        ("X1 a b OPAMP", "too few words"),
        ("X1 a b c MOSFET", "too few words; it reads X1"),
        ("R1 a b 1", "no ground"),
        ("R1 a 0 1\nR2 b c 1", "Nothing connects b, c with ground"),
        ("V1 a 0 1\nV2 a 0 2", "V1 and V2 form a loop of voltage sources alone"),
        ("I1 0 a 1\nI2 a 0 2", "I1 and I2 form a cutset of current sources alone"),
        ("R1 a 0 1\nV1 a 0 1", "no span"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_netlist_is_named(netlist, words) -> None:
    with pytest.raises(herk.InputError, match=words):
        herk.circuit.model(netlist)


BRIDGE = "V1 a b SIN(0 10 50)\nD1 a p\nD2 b p\nD3 0 a\nD4 0 b\nR1 p 0 1k\nC1 p 0 10u IC=0"


def rectified(t_end: float) -> float:
    """Return the voltage of the capacitor behind the bridge with 1 megohm from b to ground, by SciPy."""

    def through(v: float) -> float:
        return float(1e-14 * np.expm1(min(v / THERMAL, 700.0)))

    def slope(t, u):
        V, (u,) = 10 * np.sin(100 * np.pi * t), u

        def balance(b: float) -> float:
            return through(b + V - u) + through(b - u) - through(-b - V) - through(-b) + b / 1e6

        b = brentq(balance, -abs(V) - abs(u) - 1, abs(V) + abs(u) + 1, xtol=1e-15)
        return [(through(b + V - u) + through(b - u) - u / 1e3) / 10e-6]

    options = {"method": "Radau", "rtol": 1e-7, "atol": 1e-9, "max_step": 2e-4}
    return float(solve_ivp(slope, (0, t_end), [0.0], **options).y[0, -1])


def test_a_bridge_of_diodes_rectifies() -> None:
    model = herk.circuit.model(f"{BRIDGE}\nR9 b 0 1meg", t_span=(0, 0.012))
    sol = herk.solve_dae(model, rtol=1e-7, atol=1e-9, time_limit=20)
    assert sol.success, sol.message
    assert sol.y[0, -1] == pytest.approx(rectified(0.012), rel=1e-5)


def test_a_bridge_whose_source_floats_ends_with_a_reason_and_is_right_until_then() -> None:
    """While all diodes block, nothing that doubles can hold determines the voltages of a and b."""
    model = herk.circuit.model(BRIDGE, t_span=(0, 0.02))
    assert any("Nothing but diodes connects a, b with ground" in note for note in model.notes)
    sol = herk.solve_dae(model, time_limit=10)
    assert sol.success or sol.reason in (herk.Reason.NEWTON, herk.Reason.SINGULAR)
    assert sol.t[-1] > 0.007
    assert sol.y[0, -1] == pytest.approx(rectified(float(sol.t[-1])), rel=1e-3)


CHOKED = (
    "V1 c b SIN(0 10 50)\nL1 c a 1m\nD1 a p\nD2 b p\nD3 0 a\nD4 0 b\nR1 p 0 1k\nC1 p 0 100u IC=0\nR9 b 0 1meg"
)


def choked(t_end: float) -> float:
    """Return the voltage of the capacitor behind the bridge with a choke and 1 gigohm from a, by SciPy."""

    def ends(i: float, u: float, ohms: float) -> tuple[float, float, float]:
        """Return the voltage of an end of the bridge into which i flows, and how it changes with i and u."""

        def currents(v: float) -> tuple[float, float]:
            return tuple(1e-14 * np.exp(min(each / THERMAL, 700.0)) for each in (v - u, -v))  # type: ignore[return-value]

        def balance(v: float) -> float:
            up, down = currents(v)
            return up - down + v / ohms - i

        v = brentq(balance, -20.0, 40.0, xtol=1e-15, rtol=1e-15)
        up, down = currents(v)
        slope = (up + down) / THERMAL + 1 / ohms
        return v, 1 / slope, up / THERMAL / slope

    def slope(t, y):
        (u, i), V = y, 10 * np.sin(100 * np.pi * t)
        a, b = ends(i, u, 1e9)[0], ends(-i, u, 1e6)[0]
        through = sum(1e-14 * np.expm1((v - u) / THERMAL) for v in (a, b))
        return [(through - u / 1e3) / 100e-6, (V + b - a) / 1e-3]

    def jacobian(_, y):
        u, i = y
        (a, a_i, a_u), (b, b_i, b_u) = ends(i, u, 1e9), ends(-i, u, 1e6)
        g_a, g_b = (1e-14 / THERMAL * np.exp((v - u) / THERMAL) for v in (a, b))
        of_u = g_a * (a_u - 1) + g_b * (b_u - 1) - 1e-3
        return [[of_u / 100e-6, (g_a * a_i - g_b * b_i) / 100e-6], [(b_u - a_u) / 1e-3, (-b_i - a_i) / 1e-3]]

    options = {"method": "Radau", "rtol": 1e-8, "atol": [1e-10, 1e-16], "jac": jacobian}
    return float(solve_ivp(slope, (0, t_end), [0.0, 0.0], **options).y[0, -1])


def test_a_bridge_behind_a_choke_is_no_matter_of_millions_of_steps() -> None:
    """A current of 1e-19 A through four blocking diodes decays at 1e15 per second, and makes voltages."""
    model = herk.circuit.model(f"{CHOKED}\nR8 a 0 1g", t_span=(0, 0.03))
    sol = herk.solve_dae(model, rtol=1e-7, atol=1e-10, max_steps=20_000)
    assert sol.success, sol.message
    assert sol["u_C1"][-1] == pytest.approx(choked(0.03), rel=1e-5)


def test_what_only_a_choke_and_diodes_hold_is_said_and_ends_with_a_reason_in_words() -> None:
    model = herk.circuit.model(CHOKED, t_span=(0, 0.03))
    assert any("Nothing but diodes and inductors connects a with ground" in note for note in model.notes)
    sol = herk.solve_dae(model, max_steps=20_000)
    assert sol.success or sol.reason in (herk.Reason.NEWTON, herk.Reason.SINGULAR)
    assert sol.t[-1] > 0.005


@pytest.mark.parametrize("volts", [1, 10, 325])
def test_ranks_are_right_where_one_diode_conducts_and_the_next_one_blocks(volts: int) -> None:
    """Their conductances differ by more than 160 powers of ten: a balance of units is no use there."""
    bridge = "D1 a p\nD2 b p\nD3 0 a\nD4 0 b\nR1 p 0 1k"
    model = herk.circuit.model(f"V1 a b {volts}\n{bridge}", t_span=(0, 1e-3))
    assert herk.regularize(model).counts == [4]
    start = dict(zip(model.names, herk.consistent_start(model), strict=True))

    def missing(v: float) -> float:
        return float((volts - 2 * v) / 1e3 - 1e-14 * np.expm1(v / THERMAL))

    drop = brentq(missing, 0.0, 1.0, xtol=1e-16)
    assert start["v_p"] == pytest.approx(volts - 2 * drop, rel=1e-6, abs=1e-9)


def test_mils_are_thousandths_of_an_inch_and_letters_of_units_are_none() -> None:
    model = herk.circuit.model("R1 a 0 5mil\nI1 0 a 1A\nR2 a 0 2MegOhm", t_span=(0, 1))
    assert model.values == pytest.approx((5 * 25.4e-6, 1.0, 2e6))


def test_an_ideal_transformer_may_be_written_as_a_coupling_of_one() -> None:
    """Of 1 mH and 4 mH, coupled by 1, the second winding has twice the voltage: I = V/(10 + 1000/4) in all."""
    netlist = "V1 a 0 SIN(0 1 50)\nR1 a b 10\nL1 b 0 1m\nL2 c 0 4m\nK1 L1 L2 1\nR2 c 0 1k"
    _, end = run(netlist, 0.013, method="radau5")
    assert end["v_c"] == pytest.approx(2 * end["v_b"], rel=1e-9)
    assert end["i_L2"] == pytest.approx(-end["v_c"] / 1e3, rel=1e-9)
