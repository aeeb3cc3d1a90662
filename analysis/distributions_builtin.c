/* Own implementation of the distributions. */
#include "analysis/distributions_builtin.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define PI 3.14159265358979323846

/* The fraction of I(a, b; x), which converges fast for x < (a + 1)/(a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST = 10000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    if (fabs(d) < tiny) d = tiny;
    d = 1 / d;
    double f = d;
    for (int m = 1; m <= MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int k = 0; k < 2; k++) {
            double term = k ? odd : even;
            d = 1 + term * d, c = 1 + term / c;
            if (fabs(d) < tiny) d = tiny;
            if (fabs(c) < tiny) c = tiny;
            d = 1 / d;
            f *= c * d;
        }
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return f;
}

/* I(a, b; x); y = 1 - x, passed separately to avoid cancellation for x near 1. */
static double beta(double a, double b, double x, double y)
{
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double lra_own_normal_quantile(double p)
{
    if (!(p > 0) || !(p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    if (p == 0.5) return 0;
    bool upper = p > 0.5;
    double tail = upper ? 1 - p : p, t = sqrt(-2 * log(tail));
    /* Hastings 1955, 26.2.23: within 4.5e-4 */
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 4; i++) { /* P(X > x) = tail */
        double density = exp(-x * x / 2) / sqrt(2 * PI);
        double step = (erfc(x / sqrt(2)) / 2 - tail) / density;
        x += step / (1 - x * step / 2);
    }
    return upper ? x : -x;
}

/* P(X > x), x >= 0 */
static double t_tail(double df, double x)
{
    double square = x * x, sum = df + square;
    return beta(df / 2, 0.5, df / sum, square / sum) / 2;
}

double lra_own_t_quantile(double df, double p)
{
    if (!(p > 0) || !(p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    if (p == 0.5) return 0;
    double tail = p > 0.5 ? 1 - p : p, low = 0, high = 1;
    while (t_tail(df, high) > tail && high < 1e150) low = high, high *= 2;
    double log_front = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * PI) / 2;
    double x = (low + high) / 2;
    for (int i = 0; i < 200 && high - low > 2 * DBL_EPSILON * high; i++) {
        double above = t_tail(df, x) - tail;
        if (above > 0)
            low = x;
        else
            high = x;
        double next = x + above / exp(log_front - (df + 1) / 2 * log1p(x * x / df));
        bool inside = next > low && next < high;
        double step = fabs((inside ? next : (low + high) / 2) - x);
        x = inside ? next : (low + high) / 2;
        if (inside && step <= 2 * DBL_EPSILON * x) break;
    }
    return p > 0.5 ? x : -x;
}

double lra_own_binomial_cdf(unsigned k, double p, unsigned n)
{
    if (k >= n) return 1;
    return beta((double)(n - k), (double)k + 1, 1 - p, p);
}
