"""`python -m herk.bench`."""

from __future__ import annotations

import sys

from herk.bench.cli import main

if __name__ == "__main__":
    sys.exit(main())
