"""Steppers: what a method adds to the loop, one room each."""
