// Makes the reference of the wheelset: Gauss collocation on its ODE of 11 unknowns, in long doubles.
//
// Contact points and multipliers are found by Newton's method at every evaluation. Friction changes its
// formula where tanh(a)^2 + tanh(b)^2 = 1. Every such time is found and the formula held fixed in between. A
// side that slips stops doing so for 1e-5 s or less whenever b passes zero while a is large. Steps end at
// zeros of a and b, too, so that none of these is missed. Start and parameters are decimals, as printed.
//
//   g++ -O2 -std=gnu++17 -DSTAGES=8 wheelset.cpp -lquadmath && ./a.out 1e-10 && ./a.out 1e-8
//
// The argument is the estimated error of a step. Prints the 17 unknowns at t = 10; a minute or two each.
// -DREAL=double shows what rounding does. Further arguments: longest step, end, a component of the start to
// be moved (-2: all of them) and by how much.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <array>
#include <quadmath.h>
#define F1(n)                                                  \
    inline double n##_(double x) { return std::n(x); }         \
    inline long double n##_(long double x) { return n##l(x); } \
    inline __float128 n##_(__float128 x) { return n##q(x); }
F1(sin);
F1(cos);
F1(tan);
F1(sqrt);
F1(tanh);
F1(cbrt);
F1(fabs);
template <class T>
struct Model {
#define K(n, v) const T n = T(v##Q)
    K(MASS, 16.08);
    K(GRAV, 9.81);
    K(V, 30.0);
    K(R0, 0.1);
    K(I1, 0.0605);
    K(I2, 0.366);
    K(MU, 0.12);
    K(XL, 0.19);
    K(CX, 6400.0);
    K(CZ, 6400.0);
    K(ELL, 1.3537956);
    K(GG, 0.7115218);
    K(SIGMA, 0.28);
    K(GM, 7.92e10);
    K(C11, 4.72772197);
    K(C22, 4.27526987);
    K(C23, 1.97203505);
    K(CONE, 0.0262);
    K(AR, 0.1506);
    K(RS, 0.06);
    K(PI, 3.1415926);
    K(SC, 1e4);
    const T SLOPE = tan_(CONE), SINE = sin_(CONE), COSINE = cos_(CONE), OMEGA = V / R0;
    bool mode[2] = {false, false};
    bool free_ = false;
    T val[2], Nn[2], va[2], vb[2];
    T alg[6] = {T(-7.4122380357667139e-6Q), T(-0.1521364296121248Q), T(7.5634406395172940e-6Q),
                T(0.1490635714733819Q),     T(-8.3593e-3Q),          T(-7.4144e-3Q)};
    struct Side {
        T psi, xi, r, s, s1, s2, si, ci, Q[5], a4, a5, b5, cross, psi1, xi1, across, along, sd, cd;
    };
    T ct, st, cp, sp;
    void trig(const T* y) {
        ct = cos_(y[3]);
        st = sin_(y[3]);
        cp = cos_(y[4]);
        sp = sin_(y[4]);
    }
    void rail(const T* y, T side, T psi, T xi, Side& k) {
        k.psi = psi;
        k.xi = xi;
        k.r = R0 + SLOPE * (AR - side * xi);
        k.ci = cos_(psi);
        k.si = sin_(psi);
        k.cross = ct * sp * k.ci - st * k.si;
        T X = y[0] + xi * ct * cp + k.r * k.cross;
        T u = side * X - AR - RS * SINE;
        T D = sqrt_(RS * RS - u * u);
        k.s = D - R0 - RS * COSINE;
        k.s1 = side * (-u) / D;
        k.s2 = -RS * RS / (D * D * D);
    }
    void cond(const T*, T side, const Side& k, T& a, T& b) {
        T r1 = -side * SLOPE;
        a = k.s1 * (r1 * sp + cp * k.ci) + r1 * ct * cp - ct * sp * k.ci + st * k.si;
        b = r1 * st * cp - st * sp * k.ci - ct * k.si;
    }
    void solve_contact(const T* y, T side, T& psi, T& xi, T eps, T h) {
        T last = 1;
        for (int it = 0; it < 30; it++) {
            Side k;
            T a, b, a1, b1, a2, b2;
            rail(y, side, psi, xi, k);
            cond(y, side, k, a, b);
            rail(y, side, psi + h, xi, k);
            cond(y, side, k, a1, b1);
            rail(y, side, psi, xi + h * T(0.1Q), k);
            cond(y, side, k, a2, b2);
            T j11 = (a1 - a) / h, j21 = (b1 - b) / h, j12 = (a2 - a) / (h * T(0.1Q)),
              j22 = (b2 - b) / (h * T(0.1Q));
            T det = j11 * j22 - j12 * j21;
            T d1 = (a * j22 - b * j12) / det, d2 = (j11 * b - j21 * a) / det;
            psi -= d1;
            xi -= d2;
            T s = fabs_(d1) + fabs_(d2);
            if (s < 4 * eps * T(0.15Q) || (it > 3 && s >= last * T(0.5Q) && s < 1e4 * (double)eps)) return;
            last = s;
        }
        fprintf(stderr, "contact fails\n");
    }
    void geometry(const T* y, T side, Side& k) {
        T r = k.r, xi = k.xi, ci = k.ci, si = k.si, s1 = k.s1, s2 = k.s2, r1 = -side * SLOPE;
        k.a4 = -r * (ct * si + ci * sp * st) - xi * cp * st;
        k.a5 = r * cp * ci * ct - xi * ct * sp;
        k.b5 = -r * ci * sp - xi * cp;
        k.Q[0] = s1;
        k.Q[1] = -1;
        k.Q[2] = 0;
        k.Q[3] = s1 * k.a4;
        k.Q[4] = k.b5 + s1 * k.a5;
        k.psi1 = -((r1 * ct * cp - ct * sp * ci + st * si) * y[8] + (-r1 * st * sp - st * cp * ci) * y[9]) /
                 (st * sp * si - ct * ci);
        k.across = -r * (ct * sp * si + st * ci);
        k.along = ct * cp + r1 * (ct * sp * ci - st * si);
        T kn = s2 * (y[5] + k.a4 * y[8] + k.a5 * y[9] + k.across * k.psi1) * (r1 * sp + cp * ci);
        kn += (-r1 * st * cp + st * sp * ci + ct * si) * y[8] +
              (s1 * (r1 * cp - sp * ci) - r1 * ct * sp - ct * cp * ci) * y[9];
        kn += (-s1 * cp * si + ct * sp * si + st * ci) * k.psi1;
        k.xi1 = -kn / (s2 * k.along * (r1 * sp + cp * ci));
        T up = (r1 * cp - sp * ci) * ct + si * st;
        T tg = up / (-side * (r1 * sp + ci * cp));
        k.cd = 1 / sqrt_(1 + tg * tg);
        k.sd = tg * k.cd;
    }
    T bend(const T* y, T side, const Side& k) {
        T p1 = k.psi1, x1 = k.xi1, t1 = y[8], f1 = y[9], r1 = -side * SLOPE * x1, r = k.r, xi = k.xi,
          ci = k.ci, si = k.si;
        T turn = -st * si * t1 + ct * ci * p1 - si * sp * st * p1 + ci * cp * st * f1 + ci * sp * ct * t1;
        T a4r =
            -r1 * (ct * si + ci * sp * st) - r * turn - x1 * cp * st + xi * sp * st * f1 - xi * cp * ct * t1;
        T a5r = r1 * cp * ci * ct - r * (sp * ci * ct * f1 + cp * si * ct * p1 + cp * ci * st * t1);
        a5r += -x1 * ct * sp + xi * st * sp * t1 - xi * ct * cp * f1;
        T b5r = -r1 * ci * sp + r * (si * sp * p1 - ci * cp * f1) - x1 * cp + xi * sp * f1;
        T speed = y[5] + k.a4 * t1 + k.a5 * f1;
        return k.s2 * (speed + k.across * p1 + k.along * x1) * speed + k.s1 * (a4r * t1 + a5r * f1) +
               b5r * f1;
    }
    void friction(const T* y, int i, T side, const Side& k, T N, T* o) {
        T S = sin_(y[3] / k.cd), Kc = cos_(y[3] / k.cd);
        T r = k.r, xi = k.xi, ci = k.ci, si = k.si, sd = k.sd, cd = k.cd;
        T q = 1 + k.s1 * k.s1;
        T curved = 1 / (2 * r * sqrt_(1 + SLOPE * SLOPE)) - k.s2 / (2 * q * sqrt_(q));
        T size = fabs_(N);
        T c = cbrt_(3 * size * (1 - SIGMA) * ELL / (2 * PI * curved * GM * sqrt_(GG)));
        T turn = OMEGA + y[10], t1 = y[8], f1 = y[9], lever = xi * sp - r * cp * ci;
        T w1 = -turn * r * (S * ci + Kc * sp * si) + y[5] - t1 * (r * (S * sp * ci + Kc * si) + xi * S * cp) -
               f1 * Kc * lever;
        T w2 = turn * r * cp * si + y[6] + f1 * (xi * cp + r * sp * ci);
        T w3 = -turn * r * (Kc * ci - S * sp * si) + V + y[7] -
               t1 * (xi * Kc * cp + r * (Kc * sp * ci - S * si)) + f1 * S * lever;
        T u1 = w1 - 2 * y[5], u2 = w2 - 2 * y[6], u3 = w3 - 2 * y[7] - 2 * V;
        T speed = sqrt_(u1 * u1 + u2 * u2 + u3 * u3) / 2;
        T along = (S * w1 + Kc * w3) / speed, acr = (Kc * cd * w1 + side * sd * w2 - S * cd * w3) / speed,
          spin = (-side * sd * turn + cd * t1) / speed;
        T P = MU * N;
        T a = tanh_(GM * c * c * C11 * along / P),
          b = tanh_(GM * c * c * C22 * acr / P + GM * c * c * c * C23 * spin / P);
        T tx = -P * a, ty = -P * b;
        val[i] = a * a + b * b - 1;
        va[i] = a;
        vb[i] = b;
        Nn[i] = N;
        bool sat = free_ ? val[i] > 0 : mode[i];
        if (sat) {
            T g = 1 / sqrt_(a * a + b * b);
            tx *= g;
            ty *= g;
        }
        o[0] = S * tx + Kc * cd * ty;
        o[1] = side * sd * ty;
        o[2] = Kc * tx - S * cd * ty;
    }
    // out: 6 accelerations; res: 2 residuals
    void forces(const T* y, const Side& L, const Side& R, T l1, T l2, T* acc, T* res, T bl, T br) {
        T W1 = SC * (L.Q[0] * l1 + R.Q[0] * l2), W2 = SC * (L.Q[1] * l1 + R.Q[1] * l2);
        T both = -(L.sd * R.cd + L.cd * R.sd);
        T NL = (R.cd * W1 - R.sd * W2) / both, NR = (-L.cd * W1 - L.sd * W2) / both;
        T ld[6] = {0, 0, 0, 0, 0, 0};
        for (int i = 0; i < 2; i++) {
            const Side& k = i ? R : L;
            T side = i ? -1 : 1;
            T F[3];
            friction(y, i, side, k, i ? NR : NL, F);
            T xi = k.xi, r = k.r, ci = k.ci, si = k.si;
            ld[0] += F[0];
            ld[1] += F[1];
            ld[2] += F[2];
            ld[3] += -(xi * st + r * si * ct * cp) * F[0] - r * si * sp * F[1] +
                     (-xi * ct + r * si * st * cp) * F[2];
            ld[4] += -(xi * ct * sp - r * ci * ct * cp) * F[0] + (xi * cp + r * ci * sp) * F[1] +
                     (xi * st * sp - r * ci * st * cp) * F[2];
            ld[5] += -r * (ci * st + si * ct * sp) * F[0] + r * si * cp * F[1] -
                     r * (ci * ct - si * st * sp) * F[2];
        }
        for (int j = 0; j < 5; j++) ld[j] += SC * (L.Q[j] * l1 + R.Q[j] * l2);
        T spring = -2 * XL * XL * CZ * y[3], turn = OMEGA + y[10], t1 = y[8], f1 = y[9];
        acc[0] = (ld[0] - 2 * CX * y[0]) / MASS;
        acc[1] = ld[1] / MASS - GRAV;
        acc[2] = (ld[2] - 2 * CZ * y[2]) / MASS;
        acc[3] =
            (I2 * t1 * f1 * sp - I1 * turn * f1 - (I1 - I2) * t1 * f1 * sp + ld[3] + cp * spring) / (I2 * cp);
        acc[4] = (I1 * turn * t1 * cp + (I1 - I2) * t1 * t1 * sp * cp + ld[4]) / I2;
        acc[5] = (-I1 * t1 * f1 * cp + ld[5] + sp * spring) / I1 - sp * acc[3];
        res[0] = bl;
        res[1] = br;
        for (int j = 0; j < 5; j++) {
            res[0] += L.Q[j] * acc[j];
            res[1] += R.Q[j] * acc[j];
        }
    }
    long nf = 0;
    void rate(const T* y, T* dy, T eps) {
        nf++;
        T h = sqrt_(eps);
        trig(y);
        solve_contact(y, 1, alg[2], alg[3], eps, h);
        solve_contact(y, -1, alg[0], alg[1], eps, h);
        Side L, R;
        rail(y, 1, alg[2], alg[3], L);
        rail(y, -1, alg[0], alg[1], R);
        geometry(y, 1, L);
        geometry(y, -1, R);
        T bl = bend(y, 1, L), br = bend(y, -1, R);
        T acc[6], r[2], ra[2], rb[2];
        T hl = h * T(0.01Q);
        T last = 1;
        for (int it = 0; it < 40; it++) {
            forces(y, L, R, alg[4], alg[5], acc, r, bl, br);
            T sv[2] = {val[0], val[1]}, sa[4] = {va[0], va[1], vb[0], vb[1]}, nn[2] = {Nn[0], Nn[1]};
            T tmp[6];
            forces(y, L, R, alg[4] + hl, alg[5], tmp, ra, bl, br);
            forces(y, L, R, alg[4], alg[5] + hl, tmp, rb, bl, br);
            va[0] = sa[0];
            va[1] = sa[1];
            vb[0] = sa[2];
            vb[1] = sa[3];
            val[0] = sv[0];
            val[1] = sv[1];
            Nn[0] = nn[0];
            Nn[1] = nn[1];
            T a = (ra[0] - r[0]) / hl, c = (ra[1] - r[1]) / hl, b = (rb[0] - r[0]) / hl,
              d = (rb[1] - r[1]) / hl, det = a * d - b * c;
            T d1 = (r[0] * d - r[1] * b) / det, d2 = (a * r[1] - c * r[0]) / det;
            T s = fabs_(d1) + fabs_(d2);
            if (it > 0 &&
                (s < 4 * eps * T(0.01Q) || (it > 3 && s >= last * T(0.5Q) && s < (double)eps * 1e4)))
                break;
            alg[4] -= d1;
            alg[5] -= d2;
            last = s;
            if (it == 39) fprintf(stderr, "lam fails %g %g\n", (double)s, (double)(last));
        }
        for (int j = 0; j < 5; j++) dy[j] = y[5 + j];
        for (int j = 0; j < 6; j++) dy[5 + j] = acc[j];
    }
};

#ifndef STAGES
#define STAGES 8
#endif
const int S = STAGES;
static __float128 GC[S], GB[S], GE[S], GA[S][S];
// Weights of the interpolating quadrature from 0 to x on some of the nodes.
static void weights(__float128 x, const __float128* c, int n, __float128* w) {
    for (int j = 0; j < n; j++) {
        __float128 p[S + 1] = {1}, den = 1;
        int deg = 0;
        for (int k = 0; k < n; k++) {
            if (k == j) continue;
            deg++;
            for (int i = deg; i > 0; i--) p[i] = p[i - 1] - c[k] * p[i];
            p[0] *= -c[k];
            den *= c[j] - c[k];
        }
        __float128 s = 0, z = x;
        for (int i = 0; i <= deg; i++) {
            s += p[i] * z / (i + 1);
            z *= x;
        }
        w[j] = s / den;
    }
}
static void gauss() {
    for (int i = 0; i < S; i++) {
        __float128 x = cosq(M_PIq * (S - i - 0.25Q) / (S + 0.5Q));
        for (int it = 0; it < 50; it++) {
            __float128 a = 1, b = x;
            for (int k = 2; k <= S; k++) {
                __float128 n = ((2 * k - 1) * x * b - (k - 1) * a) / k;
                a = b;
                b = n;
            }
            x -= b * (x * x - 1) / (S * (x * b - a));
        }
        GC[i] = (1 + x) / 2;
    }
    weights(1, GC, S, GB);
    for (int i = 0; i < S; i++) weights(GC[i], GC, S, GA[i]);
    // the estimate leaves out one node in the middle
    __float128 c[S], w[S];
    int n = 0;
    for (int i = 0; i < S; i++)
        if (i != S / 2) c[n++] = GC[i];
    weights(1, c, n, w);
    n = 0;
    for (int i = 0; i < S; i++) GE[i] = GB[i] - (i == S / 2 ? 0 : w[n++]);
}
#ifndef REAL
#define REAL long double
#endif
typedef REAL T;
template <class X>
X epsof();
template <>
double epsof<double>() {
    return 2.3e-16;
}
template <>
long double epsof<long double>() {
    return 1.1e-19L;
}
template <>
__float128 epsof<__float128>() {
    return 2e-34Q;
}
const int N = 11;
T EPS = epsof<T>();
T A[S][S], B[S], C[S], E[S];
Model<T> M;
T size[N] = {T(1e-2Q), T(1e-4Q), T(1e-3Q), T(1e-2Q), T(1e-2Q), T(.1Q),
             T(1e-2Q), T(1e-2Q), T(.3Q),   T(.1Q),   T(.3Q)};
// one Gauss step; returns est, fills y1, switch values at stages
bool step(const T* y, T h, T* y1, T& est, T sv[S][6], T Kst[S][N], bool warm) {
    if (!warm) {
        T d[N];
        M.rate(y, d, EPS);
        for (int i = 0; i < S; i++) memcpy(Kst[i], d, sizeof d);
    }
    T last = 1e30, df = 0;
    for (int it = 0; it < 60; it++) {
        T Y[S][N];
        for (int i = 0; i < S; i++)
            for (int n = 0; n < N; n++) {
                T s = 0;
                for (int j = 0; j < S; j++) s += A[i][j] * Kst[j][n];
                Y[i][n] = y[n] + h * s;
            }
        df = 0;
        for (int i = 0; i < S; i++) {
            T d[N];
            M.rate(Y[i], d, EPS);
            sv[i][0] = M.val[0];
            sv[i][1] = M.val[1];
            sv[i][2] = M.va[0];
            sv[i][3] = M.va[1];
            sv[i][4] = M.vb[0];
            sv[i][5] = M.vb[1];
            for (int n = 0; n < N; n++) {
                T e = fabs_(h * (d[n] - Kst[i][n]) / size[n]);
                if (!(e <= 1e30)) return false;
                if (e > df) df = e;
                Kst[i][n] = d[n];
            }
        }
        if (df < EPS * T(8.) || (it > 2 && df > last * T(.7Q) && df < EPS * T(2e4))) break;
        if (it > 6 && df > last) return false;
        last = df;
        if (it == 59) return false;
    }
    est = 0;
    for (int n = 0; n < N; n++) {
        T s = 0, e = 0;
        for (int i = 0; i < S; i++) {
            s += B[i] * Kst[i][n];
            e += E[i] * Kst[i][n];
        }
        y1[n] = y[n] + h * s;
        e = fabs_(h * e / size[n]);
        if (e > est) est = e;
    }
    return true;
}
int main(int c, char** v) {
    gauss();
    T tol = atof(v[1]);
    T hmax = c > 2 ? atof(v[2]) : 0.01;
    T tend = c > 3 ? atof(v[3]) : 10;
    int comp = c > 4 ? atoi(v[4]) : -1;
    T pert = c > 5 ? atof(v[5]) : 0;
    for (int i = 0; i < S; i++) {
        B[i] = T(GB[i]);
        C[i] = T(GC[i]);
        E[i] = T(GE[i]);
        for (int j = 0; j < S; j++) A[i][j] = T(GA[i][j]);
    }
    T y[N] = {T(0.14941e-2Q), T(0.40089e-6Q), T(0.11241e-5Q), T(-0.28573e-3Q), T(0.26459e-3Q)};
    if (comp >= 0) y[comp] += pert;
    if (comp == -2)
        for (int n = 0; n < 5; n++) y[n] *= 1 + pert * ((n * 7) % 5 - 2);
    T d[N];
    M.free_ = true;
    M.rate(y, d, EPS);
    M.free_ = false;
    for (int i = 0; i < 2; i++) M.mode[i] = M.val[i] > 0;

    T t = 0, h = T(1e-5Q), hmin = 1;
    long ns = 0, nr = 0, ne = 0, nz = 0;
    T minN = 1e30, tiny = EPS * T(2e3);
    T sg[6];
    auto load = [&](T* q) {
        q[0] = M.val[0];
        q[1] = M.val[1];
        q[2] = M.va[0];
        q[3] = M.va[1];
        q[4] = M.vb[0];
        q[5] = M.vb[1];
    };
    {
        T q[6];
        M.rate(y, d, EPS);
        load(q);
        for (int i = 0; i < 6; i++) sg[i] = q[i] > 0 ? 1 : -1;
    }
    while (t < tend) {
        if (h > hmax) h = hmax;
        bool end = false;
        if (t + h * T(1.0001Q) >= tend) {
            h = tend - t;
            end = true;
        }
        T y1[N], est, sv[S][6], Kst[S][N], q1[6];
        T sal[6];
        memcpy(sal, M.alg, sizeof sal);
        bool ok = step(y, h, y1, est, sv, Kst, false);
        if (!ok || est > tol) {
            nr++;
            memcpy(M.alg, sal, sizeof sal);
            T g = ok ? T(.8Q) * T(pow((double)(tol / est), 1. / S)) : T(.3Q);
            h *= g < T(.2Q) ? T(.2Q) : g;
            if (h < 1e-13) {
                printf("underflow t=%.12g\n", (double)t);
                return 1;
            }
            continue;
        }
        M.rate(y1, d, EPS);
        load(q1);

        int w = -1;
        T wx = h;
        for (bool again = true; again;) {
            again = false;
            T H = wx;
            for (int i = 0; i < 6; i++) {
                if (i == w) continue;
                T first = -1;
                for (int k = 0; k < S; k++)
                    if (sg[i] * sv[k][i] < -tiny) {
                        first = C[k] * H;
                        break;
                    }
                if (first < 0 && sg[i] * q1[i] < -tiny) first = H;
                if (first < 0) continue;
                T lo = 0, hi = first;
                M.rate(y, d, EPS);
                T ql[6];
                load(ql);
                T yy[N], e2, s2[S][6];
                T flo = sg[i] * ql[i], fhi;
                if (flo <= 0) {
                    flo = tiny / 100;
                }
                auto ev = [&](T hh) {
                    step(y, hh, yy, e2, s2, Kst, false);
                    M.rate(yy, d, EPS);
                    T q[6];
                    load(q);
                    return sg[i] * q[i];
                };
                fhi = ev(hi);
                if (fhi > 0) continue;
                T x = hi;
                int it = 0;
                if (flo < tiny * 2) {
                    T z = hi;
                    int k = 0;
                    for (; k < 26; k++) {
                        z /= 2;
                        T v = ev(z);
                        if (v > tiny) {
                            lo = z;
                            flo = v;
                            break;
                        }
                        hi = z;
                        fhi = v;
                    }
                    if (k == 26) {
                        hi = lo + first * T(1e-8Q);
                        fprintf(stderr, "no window t=%.15g i=%d\n", (double)t, i);
                    }
                }
                for (; it < 100; it++) {
                    x = lo + (hi - lo) * flo / (flo - fhi);
                    if (!(x > lo && x < hi)) x = (lo + hi) / 2;
                    T v = ev(x);
                    if (fabs_(v) < EPS * T(20.) || hi - lo < EPS * T(1e-4Q)) break;
                    if (v > 0) {
                        lo = x;
                        flo = v;
                        fhi = fhi / 2;
                    } else {
                        hi = x;
                        fhi = v;
                        flo = flo / 2;
                    }
                }
                if (w < 0 || x < wx) {
                    w = i;
                    wx = x;
                    again = true;
                }
            }
            if (again) {
                T e2;
                step(y, wx, y1, e2, sv, Kst, false);
                M.rate(y1, d, EPS);
                load(q1);
            }
        }
        if (w >= 0) {
            T e2, s2[S][6];
            step(y, wx, y1, e2, s2, Kst, false);
            M.rate(y1, d, EPS);
            memcpy(y, y1, sizeof y1);
            t += wx;
            ns++;
            sg[w] = -sg[w];
            if (w < 2) {
                M.mode[w] = sg[w] > 0;
                ne++;
            } else {
                nz++;
            }
            continue;
        }
        memcpy(y, y1, sizeof y1);
        t = end ? tend : t + h;
        ns++;
        for (int i = 0; i < 2; i++)
            if (M.Nn[i] < minN) minN = M.Nn[i];
        if (h < hmin) hmin = h;
        T fac = T(.85Q) * T(pow((double)(tol / (est + T(1e-30Q))), 1. / S));
        if (fac > 2) fac = 2;
        if (fac < T(.3Q)) fac = T(.3Q);
        h *= fac;
    }
    printf("# events %ld zeros %ld\n", ne, nz);
    M.rate(y, d, EPS);
    fprintf(stderr, "steps %ld rej %ld events %ld nf %ld hmin %.3g minN %g\n", ns, nr, ne, M.nf, (double)hmin,
            (double)minN);
    char b[64];
    for (int n = 0; n < N; n++) {
        quadmath_snprintf(b, 64, "%.24Qe", (__float128)y[n]);
        printf("%s\n", b);
    }
    for (int n = 0; n < 6; n++) {
        quadmath_snprintf(b, 64, "%.24Qe", (__float128)M.alg[n]);
        printf("%s\n", b);
    }
}
