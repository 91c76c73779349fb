"""Study `fitting`: of no document, but told in the same rows, claims and figures."""

from herk.reproductions.fitting.study import Study, run

__all__ = ["Study", "run"]
