"""What is done with a model beyond solving it once: sweeps, fits to data, derivatives of results."""
