"""The fuzzer that stays: random models of ten families, each with a truth that owes nothing to our code."""
