"""Integration: solve_dae, the stepping loop and what surrounds it; methods are steppers."""
