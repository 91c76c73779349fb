"""Implicit Runge-Kutta methods of the literature: Radau5 with variable steps, families with fixed steps, projection."""

from __future__ import annotations

from typing import Any

SOLVERS: tuple[Any, ...] = ()
