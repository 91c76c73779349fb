"""IDA in C: what a program without Python takes for the same work, the yardstick of the wrappers.

Residual and exact Jacobian are written in C from the formulas of the form, compiled with the program that
calls IDA, and linked with SUNDIALS as installed on the machine. Options as in scikits_ida, index 1. Time is
that of the program, from making IDA's memory to the end of the span; steps are not handed out.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache

from baselines.desolve import c_text
from baselines.formulas import written
from baselines.ida import MAX_STEPS, TAGS
from baselines.other_process import END, OWN_CLOCK, OtherProcess, Outside, Program, missing, outside
from baselines.prepared import implicit
from herk.core import Problem

INSTALL = "apt-get install gcc libsundials-dev"
LIBRARIES = ("ida", "nvecserial", "sunmatrixdense", "sunlinsoldense")
BUILD = ("cc", "-O2", "-o", "rival", "rival.c", *(f"-lsundials_{name}" for name in LIBRARIES), "-lm")
ASKED = """#include <ida/ida.h>
#include <sundials/sundials_config.h>
SUNDIALS_VERSION_MAJOR.SUNDIALS_VERSION_MINOR.SUNDIALS_VERSION_PATCH
"""

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#if SUNDIALS_VERSION_MAJOR < 7
#define SUN_COMM_NULL NULL
#endif
enum {{ N = {n} }};
static int the_residual(double t, N_Vector z, N_Vector zp, N_Vector r, void *user)
{{ residual(&t, NV_DATA_S(z), NV_DATA_S(zp), 0, NV_DATA_S(r), 0, 0, 0); return 0; }}
static int the_jacobian(double t, double c, N_Vector z, N_Vector zp, N_Vector r, SUNMatrix j, void *user,
                        N_Vector a, N_Vector b, N_Vector d)
{{ residual_jacobian(&t, NV_DATA_S(z), NV_DATA_S(zp), SM_DATA_D(j), &c, 0, 0); return 0; }}
static double now(void)
{{ struct timespec at; clock_gettime(CLOCK_MONOTONIC, &at); return at.tv_sec + 1e-9 * at.tv_nsec; }}
static N_Vector read_vector(char **text, SUNContext context)
{{
    N_Vector v = N_VNew_Serial(N, context);
    for (int i = 0; i < N; i++) NV_Ith_S(v, i) = strtod(*text, text);
    return v;
}}
int main(void)
{{
    char *line = 0; size_t room = 0;
    puts("\\n{end}"); fflush(stdout);
    while (getline(&line, &room, stdin) > 0) {{
        char *text = line;
        SUNContext context; SUNContext_Create(SUN_COMM_NULL, &context);
        double rtol = strtod(text, &text);
        N_Vector atol = read_vector(&text, context), z = read_vector(&text, context);
        N_Vector zp = read_vector(&text, context);
        int count = (int)strtod(text, &text), flag = 0, reached = 1;
        double *times = malloc(count * sizeof(double)), *points = malloc(count * N * sizeof(double));
        for (int k = 0; k < count; k++) times[k] = strtod(text, &text);
        for (int i = 0; i < N; i++) points[i] = NV_Ith_S(z, i);
        double begun = now(), t;
        void *ida = IDACreate(context);
        IDAInit(ida, the_residual, times[0], z, zp);
        IDASVtolerances(ida, rtol, atol);
        SUNMatrix matrix = SUNDenseMatrix(N, N, context);
        SUNLinearSolver linear = SUNLinSol_Dense(z, matrix, context);
        IDASetLinearSolver(ida, linear, matrix);
        IDASetJacFn(ida, the_jacobian);
        IDASetMaxNumSteps(ida, {most});
        IDASetStopTime(ida, times[count - 1]);
        for (; reached < count; reached++) {{
            flag = IDASolve(ida, times[reached], &t, z, zp, IDA_NORMAL);
            if (flag < 0) break;
            for (int i = 0; i < N; i++) points[reached * N + i] = NV_Ith_S(z, i);
        }}
        double seconds = now() - begun;
        long steps, evaluations, jacobians;
        IDAGetNumSteps(ida, &steps); IDAGetNumResEvals(ida, &evaluations); IDAGetNumJacEvals(ida, &jacobians);
        printf("\\nseconds %.9g\\ncounts %ld %ld %ld\\n", seconds, steps, evaluations, jacobians);
        if (flag < 0) printf("complaint IDA ended with %s\\n", IDAGetReturnFlagName(flag));
        for (int k = 0; k < reached; k++) {{
            printf("point %.17g", times[k]);
            for (int i = 0; i < N; i++) printf(" %.17g", points[k * N + i]);
            puts("");
        }}
        puts("{end}"); fflush(stdout);
        IDAFree(&ida); SUNLinSolFree(linear); SUNMatDestroy(matrix);
        N_VDestroy(atol); N_VDestroy(z); N_VDestroy(zp); SUNContext_Free(&context);
        free(times); free(points);
    }}
    return 0;
}}
"""


@cache
def installed() -> tuple[bool, str]:
    """Tell whether a C compiler and SUNDIALS are there; the version, or what is missing."""
    there, why = missing("cc", INSTALL)
    if not there:
        return False, why
    asked = subprocess.run(["cc", "-E", "-P", "-"], input=ASKED, capture_output=True, text=True, check=False)  # noqa: S607
    if asked.returncode:
        return False, f"there are no headers of SUNDIALS here; {INSTALL}"
    return True, "SUNDIALS " + "".join(asked.stdout.strip().splitlines()[-1].split())


@dataclass(frozen=True)
class IdaC(OtherProcess):
    """IDA in a program of its own, with the exact Jacobian."""

    def available(self) -> tuple[bool, str]:
        """Tell whether a C compiler and SUNDIALS are there."""
        there, words = installed()
        return there, "" if there else words

    @property
    def version(self) -> str:
        """Return the version of SUNDIALS."""
        there, words = installed()
        return words if there else ""

    def prepare(self, problem: Problem, form: str) -> Outside:
        """Return the form with its program, compiled."""
        base = implicit(problem, form)
        text = c_text(written(base.form)) + MAIN.format(n=base.form.n, most=MAX_STEPS, end=END)
        return outside(base, Program(("./rival",), {"rival.c": text}, (BUILD,)))


SOLVERS = (IdaC("ida_c_jac", "ida", ("index1",), 5, True, TAGS | {"ends_only", OWN_CLOCK}),)
