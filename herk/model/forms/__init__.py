"""Forms of a model: what each solver wants, as formulas and as numbers."""
