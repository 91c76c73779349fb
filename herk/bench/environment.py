"""Where a run took place: versions of the libraries, machine and commit, as flat fields."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

LIBRARIES = ("numpy", "scipy", "numba", "sympy")
ROOT = Path(__file__).parents[2]


@cache
def fields() -> dict[str, str | int]:
    """Return versions, commit, processor, cores and system of this process."""
    versions = {name: version(name) for name in LIBRARIES}
    place = {
        "commit": commit(),
        "machine": processor(),
        "cores": os.cpu_count() or 1,
        "os": f"{platform.system()} {platform.release()}",
    }
    return {"herk": version("herk"), "python": platform.python_version(), **versions, **place}


def version(package: str) -> str:
    """Return the version of an installed package, empty if it is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def commit() -> str:
    """Return the commit, with a plus sign if tracked files changed; empty for an installed package."""
    if not (ROOT / ".git").exists():
        return ""
    head = _git("rev-parse", "--short=12", "HEAD")
    return f"{head}+" if head and _git("status", "--porcelain", "--untracked-files=no") else head


def processor() -> str:
    """Return the model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _git(*command: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(ROOT), *command],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
