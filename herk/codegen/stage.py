"""Text of what a stage needs.

`complete` solves g = 0 block by block, `rate` derives y' from E y' = f, `residual` is the largest |g|.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from herk.codegen.block_form import constraint_blocks, required, without_cancelled
from herk.codegen.code import prepared
from herk.codegen.equations import Equations
from herk.codegen.shapes import column
from herk.codegen.stage_algebraic import complete, residual
from herk.codegen.stage_rate import block_rate, stacked_rate
from herk.codegen.stage_writer import Writer
from herk.core import StageSource


def stage_source(equations: Equations, algebraic: Iterable[int], scalar: bool) -> StageSource:
    """Return the code of a stage for these algebraic components.

    Scalar: components in local variables instead of an array.

    `floor[i]` belongs to component i of y, `floor[n + i]` is its size. A block a*y**2 + c = 0 needs no
    iteration, only the sign of its start value.
    """
    equations, names = prepared(equations)
    rows = [without_cancelled(row, set(equations.states)) for row in equations.g]
    equations = replace(equations, g=column(rows))
    chosen = tuple(sorted(algebraic))
    blocks = constraint_blocks(equations, chosen)
    differential = tuple(j for j in range(equations.n) if j not in chosen)
    fixed = required(equations.E)
    unknown = sorted(j for block in blocks if not block.linear for j in block.columns)
    ahead = [j for j in unknown if fixed is None or j not in fixed]
    writer = Writer(equations, names, chosen, (*ahead, *(j for j in unknown if j not in ahead)), scalar)
    solving = complete(writer, blocks)
    wanted = (*differential, *ahead)
    rate = stacked_rate(writer, wanted) if fixed is None else block_rate(writer, wanted)
    text = "\n".join([*solving, "", "", *rate, "", "", *residual(writer), ""])
    return StageSource(
        text,
        chosen,
        differential,
        writer.guessed,
        len(ahead),
        len(writer.pivots),
        writer.work,
        scalar,
        fixed or (),
    )
