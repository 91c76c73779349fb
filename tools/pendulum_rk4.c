/* The pendulum (n = 5, m = 3) by the half-explicit classical Runge-Kutta method: what a specialist would write by hand in C.

   The algorithm is the one of the generated kernel and its loop: two selections of algebraic components, {x, v, lam} and {y, w, lam}; stages
   completed block by block (position by a root, velocity and multiplier by formula); Runge-Kutta sums over the differential components and the
   predicted position; g checked and every point stored; a new selection by Procedure 3.11 when a pivot falls below 0.7 of its best value.

   Usage: pendulum_rk4 STEP COUNT...   prints one line per count: seconds of processor time, residual, selections, t and the end state. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define N 5
#define M 3
#define GRAVITY 13.75037163604074565
#define DETERIORATED 0.7
#define THRESHOLD 0.1
#define RANK_TOLERANCE 1e-12

enum { X, Y, V, W, LAM };

typedef struct {
    double t, y[N], k[3], pivot[M], best[M], residual;
    int slot; /* 0: x, v, lam are algebraic; 1: y, w, lam */
    long evaluations, selections;
} Run;

typedef struct { double a, d, va, vd, lam; } Point; /* algebraic and differential position and velocity */

/* Algebraic components from g = 0, the others given; ga, gd: the gravity that acts on the algebraic and the differential position. */
static inline int complete(Point *p, double pivot[M], double ga, double gd) {
    double q = 1.0 - p->d * p->d;
    if (!(q > 0.0 && q <= 1e300)) return -1;
    p->a = copysign(sqrt(q), p->a);
    if (p->a == 0.0) return -1;
    double inverse = 1.0 / p->a; /* before the velocity is known: products are left to wait for */
    p->va = -p->vd * p->d * inverse;
    double square = p->d * p->d + p->a * p->a;
    if (square == 0.0) return -1;
    inverse = 1.0 / square;
    p->lam = (0.5 * (p->vd * p->vd + p->va * p->va) - 0.5 * (ga * p->a + gd * p->d)) * inverse;
    if (!(fabs(p->va) + fabs(p->lam) <= 1e300)) return -1;
    pivot[0] = fabs(2.0 * p->a);
    pivot[1] = fabs(p->a);
    pivot[2] = square;
    return 0;
}

static inline void rate(const Point *p, double k[3], double gd) {
    k[0] = p->vd;
    k[1] = -2.0 * p->d * p->lam - gd;
    k[2] = p->va;
}

static inline int stage(Point *p, const Point *from, double h, const double k[3], double out[3], double pivot[M], double ga, double gd) {
    p->d = from->d + h * k[0];
    p->vd = from->vd + h * k[1];
    p->a = from->a + h * k[2];
    if (complete(p, pivot, ga, gd)) return -1;
    rate(p, out, gd);
    return 0;
}

/* One step from run->y and its derivatives run->k; the new ones replace them. */
static inline __attribute__((always_inline)) int step(Run *run, double h, int a, int d, double ga, double gd) {
    const Point from = {run->y[a], run->y[d], run->y[a + 2], run->y[d + 2], run->y[LAM]};
    double k1[3], k2[3], k3[3], k4[3], sum[3], *k0 = run->k;
    Point p = from;
    if (stage(&p, &from, 0.5 * h, k0, k1, run->pivot, ga, gd)) return -1;
    if (stage(&p, &from, 0.5 * h, k1, k2, run->pivot, ga, gd)) return -1;
    if (stage(&p, &from, h, k2, k3, run->pivot, ga, gd)) return -1;
    for (int j = 0; j < 3; j++) sum[j] = (1.0 / 6.0) * k0[j] + (1.0 / 3.0) * k1[j] + (1.0 / 3.0) * k2[j] + (1.0 / 6.0) * k3[j];
    if (stage(&p, &from, h, sum, k4, run->pivot, ga, gd)) return -1;
    run->evaluations += 4;
    if (!(0.0 * p.a + 0.0 * p.d + 0.0 * p.va + 0.0 * p.vd + 0.0 * p.lam + 0.0 * k4[0] + 0.0 * k4[1] == 0.0)) return -1;
    run->y[a] = p.a, run->y[d] = p.d, run->y[a + 2] = p.va, run->y[d + 2] = p.vd, run->y[LAM] = p.lam;
    memcpy(run->k, k4, sizeof k4);
    return 0;
}

static inline void check(Run *run) {
    const double *y = run->y;
    double g[M] = {y[X] * y[X] + y[Y] * y[Y] - 1.0, 2.0 * (y[X] * y[V] + y[Y] * y[W]),
                   2.0 * (y[V] * y[V] + y[W] * y[W]) - 4.0 * y[LAM] * (y[X] * y[X] + y[Y] * y[Y]) - 2.0 * GRAVITY * y[Y]};
    for (int i = 0; i < M; i++) run->residual = fmax(run->residual, fabs(g[i]));
}

static inline int deteriorated(Run *run) {
    int worse = 0;
    for (int i = 0; i < M; i++) {
        worse |= !(run->pivot[i] >= DETERIORATED * run->best[i]);
        run->best[i] = fmax(run->best[i], run->pivot[i]);
    }
    return worse;
}

/* Procedure 3.11: lam is required and comes first; then the cheapest column with an entry of at least THRESHOLD times the largest. */
static int eliminate(double g[M][N], int chosen[M]) {
    static const int cost[N] = {3, 3, 2, 2, 1};
    int taken[N] = {0};
    double largest = 0.0;
    for (int r = 0; r < M; r++)
        for (int c = 0; c < N; c++) largest = fmax(largest, fabs(g[r][c]));
    for (int i = 0; i < M; i++) {
        double top = 0.0, size = -1.0;
        int row = i, column = 0;
        for (int r = i; r < M; r++)
            for (int c = 0; c < N; c++)
                if (!taken[c] && (i > 0 || c == LAM)) top = fmax(top, fabs(g[r][c]));
        if (!(top > RANK_TOLERANCE * largest)) return -1;
        for (int c = 0; c < N; c++)
            for (int r = i; r < M; r++)
                if (!taken[c] && (i > 0 || c == LAM) && fabs(g[r][c]) >= THRESHOLD * top &&
                    (size < 0.0 || cost[c] < cost[column] || (cost[c] == cost[column] && fabs(g[r][c]) > size)))
                    row = r, column = c, size = fabs(g[r][c]);
        chosen[i] = column;
        taken[column] = 1;
        for (int c = 0; c < N; c++) {
            double kept = g[i][c];
            g[i][c] = g[row][c];
            g[row][c] = kept;
        }
        for (int r = i + 1; r < M; r++) {
            double multiplier = g[r][column] / g[i][column];
            for (int c = 0; c < N; c++) g[r][c] -= multiplier * g[i][c];
            g[r][column] = 0.0;
        }
    }
    return 0;
}

static int reselect(Run *run) {
    const double *y = run->y;
    double g[M][N] = {{2.0 * y[X], 2.0 * y[Y]},
                      {2.0 * y[V], 2.0 * y[W], 2.0 * y[X], 2.0 * y[Y]},
                      {-8.0 * y[LAM] * y[X], -8.0 * y[LAM] * y[Y] - 2.0 * GRAVITY, 4.0 * y[V], 4.0 * y[W],
                       -4.0 * (y[X] * y[X] + y[Y] * y[Y])}};
    int chosen[M], has[N] = {0};
    if (eliminate(g, chosen)) return -1;
    for (int i = 0; i < M; i++) has[chosen[i]] = 1;
    if (!has[LAM] || !((has[X] && has[V]) || (has[Y] && has[W]))) return -1; /* the pendulum has no other choice */
    int before = run->slot;
    run->slot = has[Y];
    int a = run->slot ? Y : X, d = run->slot ? X : Y;
    double ga = run->slot ? GRAVITY : 0.0, gd = GRAVITY - ga;
    Point p = {y[a], y[d], y[a + 2], y[d + 2], y[LAM]};
    if (complete(&p, run->best, ga, gd)) return -1;
    rate(&p, run->k, gd);
    run->selections += run->slot != before;
    return 0;
}

static int solve(Run *run, double h, long steps, double *t_out, double *y_out, long *slot_out) {
    memset(run, 0, sizeof *run);
    run->y[X] = -1.0;
    run->slot = -1;
    if (reselect(run)) return -1;
    for (long i = 0; i < steps; i++) {
        double target = (i + 1) * h;
        int failed = run->slot ? step(run, target - run->t, Y, X, GRAVITY, 0.0) : step(run, target - run->t, X, Y, 0.0, GRAVITY);
        if (failed && (reselect(run) || (run->slot ? step(run, target - run->t, Y, X, GRAVITY, 0.0) : step(run, target - run->t, X, Y, 0.0, GRAVITY))))
            return -1;
        run->t = target;
        check(run);
        t_out[i] = run->t;
        for (int j = 0; j < N; j++) y_out[i * N + j] = run->y[j];
        slot_out[i] = run->slot;
        if (deteriorated(run) && reselect(run)) return -1;
    }
    return 0;
}

/* Memory for points in large pages, as NumPy asks for it: first use of small pages would cost more than the steps. */
static void *room(size_t size) {
    size_t page = (size_t)1 << 21, whole = (size + page - 1) / page * page;
    void *start = aligned_alloc(page, whole);
    if (start) madvise(start, whole, MADV_HUGEPAGE);
    return start;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **words) {
    double h = atof(words[1]);
    for (int i = 2; i < count; i++) {
        long steps = atol(words[i]);
        Run run;
        double start = seconds();
        double *t = room(steps * sizeof *t), *y = room(steps * N * sizeof *y);
        long *slot = room(steps * sizeof *slot);
        if (!t || !y || !slot || solve(&run, h, steps, t, y, slot)) return 1;
        double used = seconds() - start;
        printf("%.9f %.3e %ld %.17g", used, run.residual, run.selections, t[steps - 1]);
        for (int j = 0; j < N; j++) printf(" %.17g", y[(steps - 1) * N + j]);
        printf("\n");
        free(t), free(y), free(slot);
    }
    return 0;
}
