"""The fuzzer that stays: random models of seven families, each with a truth that owes nothing to our code."""
