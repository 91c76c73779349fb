"""The bench: solvers run side by side, measured by one yardstick."""
