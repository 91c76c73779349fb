"""Formulas to machine code: functions of (t, y, p), stages per selection, values on patterns, thunks."""
