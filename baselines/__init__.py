"""Rival solvers behind one protocol, one module each."""
