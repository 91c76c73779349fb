"""How long a user waits: processor seconds to import herk, to a first result with nothing compiled.

And in a second process.

Usage: python tools/start_up.py; the last lines are `import S`, `cold S` and `second S`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

IMPORT = "import time; start = time.process_time(); import herk; print(time.process_time() - start)"
SOLVE = (
    "import time, herk, testset; assert herk.solve_dae(testset.get('pendulum')).success;"
    " print(time.process_time())"
)


def seconds(program: str, cache: str) -> float:
    """Return what a process of a user prints; like any other, it keeps the bytecode of what it imports."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"HERK_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        print(f"import {min(seconds(IMPORT, cache) for _ in range(5)):.3f}")
        print(f"cold {seconds(SOLVE, cache):.2f}")
        print(f"second {min(seconds(SOLVE, cache) for _ in range(5)):.2f}")


if __name__ == "__main__":
    main()
