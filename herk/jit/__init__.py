"""Compiling: functions compiled once per machine, functions by address, arrays on the stack.

The cache folder and its one fingerprint.
"""
