"""Compiling: functions compiled once per machine, functions by address, arrays on the stack, the cache folder and its one fingerprint."""
