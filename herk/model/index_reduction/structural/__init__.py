"""Large models by their structure: formulas of one shape, hidden constraints, patterns of Jacobians."""
