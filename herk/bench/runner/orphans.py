"""No process outlives the bench: it dies with its parent, and with it what it has started and its files."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_MOST_FILES = 2**16


def die_with_parent(by: signal.Signals = signal.SIGKILL) -> None:
    """Let this process get a signal when its parent ends, however that ends; only Linux can."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, by)


def take_children_along(folder: str) -> None:
    """Lead a group of processes, and leave a watchman who ends all of it when this process has ended.

    The watchman also removes the folder for temporary files, which a process that was killed leaves behind.

    Files and solvers of users may start processes of their own, and nobody else would know of them. One that
    leaves the group on purpose, as daemons do, is let go.
    """
    if not hasattr(os, "fork"):
        return
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    leader = os.getpid()
    if os.getpgrp() != leader or os.fork():
        return
    try:
        _watch(leader)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(0)


def _watch(leader: int) -> None:
    """Wait for the end of the leader in a group of our own, nothing open: pipes must close with him."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    os.setpgid(0, 0)
    os.closerange(0, min(os.sysconf("SC_OPEN_MAX"), _MOST_FILES))
    die_with_parent(signal.SIGTERM)
    if os.getppid() == leader:  # else he has ended already
        signal.sigwait({signal.SIGTERM})
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)
