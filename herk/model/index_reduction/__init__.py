"""Index reduction: hidden constraints found by structure first, Procedure 2.4 behind it."""
