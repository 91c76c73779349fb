"""How many threads a linear-algebra library may start: for matrices of our sizes one is fastest by far."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

SMALL = 24  # unknowns up to which the libraries start no threads of their own
AS_IT_IS: AbstractContextManager[Any] = nullcontext()


def one_thread(n: int) -> AbstractContextManager[Any]:
    """Let BLAS work in one thread, for systems large enough that it would start others."""
    return AS_IT_IS if n <= SMALL else _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401 - its library is another one than numpy's, and must be there to be seen
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
