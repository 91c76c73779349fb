"""Study `thesis`: Chapter 4 of the thesis reproduced, every printed value beside ours.

With a verdict and the reason.
"""

from herk.reproductions.published import Erratum, Modern, Row, Verdict
from herk.reproductions.thesis.printed import TABLE1, Printed
from herk.reproductions.thesis.study import Study, run
from herk.reproductions.thesis.table1 import Cell, run_cell

__all__ = ["TABLE1", "Cell", "Erratum", "Modern", "Printed", "Row", "Study", "Verdict", "run", "run_cell"]
