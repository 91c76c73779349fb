"""Half-explicit Runge-Kutta: tableaus, stages, Newton, selections and kernels."""
