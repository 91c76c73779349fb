"""Equations as written, with derivatives of any order, by name: the way from a textbook's page to a Model."""
