"""Derivatives of solutions with respect to parameters and start values, by differentiating every step."""
