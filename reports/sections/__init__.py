"""The sections of the report, one module each: `section(contents)` returns it as data."""
