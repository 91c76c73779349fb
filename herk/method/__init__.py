"""The HERK integrator: tableaus, selection, Newton, step, control, start, dense output, events, solve."""
