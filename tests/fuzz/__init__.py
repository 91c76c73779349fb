"""The fuzzer that stays: random models of eight families, each with a truth that owes nothing to our code."""
