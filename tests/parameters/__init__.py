"""Tests of what is done with parameters: sweeps, sensitivities, fits."""
