"""Showing results: curves, tables, summaries, animations. Pure functions of arrays; heavy imports on use."""
