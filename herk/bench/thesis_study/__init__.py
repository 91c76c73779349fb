"""Study `thesis`: Chapter 4 of the thesis reproduced, every printed value beside ours.

With a verdict and the reason.
"""

from herk.bench.published import Erratum, Modern, Row, Verdict
from herk.bench.thesis_study.printed import TABLE1, Printed
from herk.bench.thesis_study.study import Study, run
from herk.bench.thesis_study.table1 import Cell, run_cell

__all__ = ["TABLE1", "Cell", "Erratum", "Modern", "Printed", "Row", "Study", "Verdict", "run", "run_cell"]
