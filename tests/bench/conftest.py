"""A file as a user writes it, with a problem and solvers that need no compilation.

So that tests of the bench are quick.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.bench.user_files import FILES, HEAD

TOY = '''
"""Decay with a copy, x' = -x, 0 = x - y, and Euler's method on it."""

import os
import time

import numpy as np

from herk.core import Dae, Invariant, Problem, Reason, Reference, Solution


def exact(t):
    return np.array([np.exp(-t), np.exp(-t)])


def f(t, y):
    return np.array([-y[0], y[0] - y[1]])


def g(t, y):
    return np.array([y[0] - y[1]])


def problem(t_end=1.0, slow=0.0):
    dae = Dae(E=np.diag([1.0, 0.0]), f=f, g=g, n=2, m=1, names=("x", "y"))
    reference = Reference(t_end, exact(t_end), 15.0, "formula", exact)
    difference = Invariant("difference", lambda t, y: float(y[0] - y[1]))
    return Problem("toy", "Decay", (0.0, t_end), exact(0.0), "own", given_dae=dae, reference=reference, invariants=(difference,),
                   groups={"first": (0,), "second": (1,)}, tags=frozenset({"toy"}))


class Euler:
    """Explicit Euler; steps from rtol. The constraint is missed by 1e-3 t."""

    family, forms, order, adaptive, tags = "toy", ("overdetermined",), 1, True, frozenset()

    def __init__(self, name="toy_euler"):
        self.name = name

    def available(self):
        return True, ""

    def supports(self, problem, form):
        return form in self.forms, "only overdetermined"

    def prepare(self, problem, form):
        return problem

    def solve(self, prepared, settings):
        time.sleep(0.005)
        t0, t1 = prepared.t_span
        count = round((t1 - t0) / settings.step) if settings.step else round(settings.rtol**-0.5)
        t = np.linspace(t0, t1, count + 1)
        x = (1 - (t1 - t0) / count) ** np.arange(count + 1)
        y = np.array([x, x + 1e-3 * t])
        if settings.t_eval is not None:
            y, t = np.array([np.interp(settings.t_eval, t, row) for row in y]), np.asarray(settings.t_eval)
        return Solution(t=t, y=y, reason=Reason.FINISHED, message="done", nstep=count, nfev=count)


class Picky(Euler):
    """Dies, hangs or refuses at some settings."""

    def solve(self, prepared, settings):
        if settings.rtol == 1e-2:
            os._exit(7)
        if settings.rtol < 1e-3:
            time.sleep(100)
        return super().solve(prepared, settings)


class Missing(Euler):
    def available(self):
        return False, "pip install nothing"


SOLVERS = [Euler(), Euler("toy_twin"), Picky("toy_picky"), Missing("toy_missing")]
'''

STUDY = """
title = "Toys"
rtol = [1e-1, 1e-2, 1e-3]
series_rtol = [1e-2]
trajectories = ["toy_euler"]
time_limit = 5.0
grid = 10

[[case]]
problem = ["toy"]
solver = ["toy_euler", "toy_twin"]
"""


@pytest.fixture
def toy(tmp_path) -> Path:
    """Return the path of the user's file."""
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    return path


@pytest.fixture
def toys(tmp_path) -> Path:
    """Return the path of a study of the user."""
    path = tmp_path / "toys.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def user_file(tmp_path: Path):
    """Return a function that writes one of the files and returns its path."""

    def write(name: str) -> Path:
        path = tmp_path / f"{name}.py"
        path.write_text(HEAD + FILES[name])
        return path

    return write


@pytest.fixture
def own_tmp(monkeypatch):
    """Give what a test starts a folder for temporary files: a bench that is killed cannot remove its own.

    The name is short, as those of sockets have to be.
    """
    with tempfile.TemporaryDirectory(prefix="herk_test_", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)
