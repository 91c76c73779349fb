"""The only way a solver is run: in a process of its own, timed, its result measured by the bench."""
