"""The fuzzer that stays: random models of nine families, each with a truth that owes nothing to our code."""
