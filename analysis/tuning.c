/* Chooses the best value of a setting, and the window of values that work (tuning.h). */
#include "analysis/tuning.h"

#include <math.h>

static const double LEVEL = 0.95;

int lra_tuning_best(int n, const double *value, const double *score, double base)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (isnan(score[i])) continue;
        bool higher = best < 0 || score[i] > score[best];
        bool nearer = best >= 0 && score[i] == score[best] &&
                      fabs(log(value[i] / base)) < fabs(log(value[best] / base)) * (1 - 1e-9);
        if (higher || nearer) best = i;
    }
    return best;
}

/* The run of neighbouring values in the set that is widest in octaves; first > last: none. */
static void widest_run(int n, const double *value, const bool *set, int *first, int *last)
{
    double widest = -1;
    *first = 0, *last = -1;
    for (int from = 0; from < n; from++) {
        int to = from;
        while (to < n && set[to]) to++;
        if (to == from) continue;
        double width = log2(value[to - 1] / value[from]);
        if (width > widest) widest = width, *first = from, *last = to - 1;
        from = to;
    }
}

static lra_octaves width_of(int n, const double *value, int first, int last)
{
    if (first > last) return (lra_octaves){0, false};
    return (lra_octaves){log2(value[last] / value[first]), first == 0 || last == n - 1};
}

static int count_pairs(int n, const double *score)
{
    int with_score = 0;
    for (int i = 0; i < n; i++) with_score += !isnan(score[i]);
    return with_score > 1 ? with_score * (with_score - 1) / 2 : 1;
}

/* Sets surely[i] and possibly[i]; returns false if the pairs have no intervals. */
static bool find_sets(int n, const double *score, const lra_sample *rows, const int *series,
                      double margin, bool *surely, bool *possibly)
{
    double level = 1 - (1 - LEVEL) / count_pairs(n, score);
    for (int i = 0; i < n; i++) {
        surely[i] = possibly[i] = !isnan(score[i]);
        for (int k = 0; k < n && possibly[i]; k++) {
            if (k == i || isnan(score[k])) continue;
            lra_estimate d = lra_sample_difference(rows, series[k], series[i], level);
            if (isnan(d.lo)) return false;
            surely[i] = surely[i] && d.hi <= margin;
            possibly[i] = possibly[i] && d.lo <= margin;
        }
        surely[i] = surely[i] && possibly[i];
    }
    return true;
}

lra_tuning_window lra_tuning_window_of(int n, const double *value, const double *score,
                                       const lra_sample *rows, const int *series, double margin)
{
    const double rounding = 1e-12;
    bool works[LRA_MAX_TRIALS], surely[LRA_MAX_TRIALS], possibly[LRA_MAX_TRIALS];
    lra_tuning_window w = {0, -1, {NAN, false}, {NAN, false}, {NAN, false}};
    int best = lra_tuning_best(n, value, score, value[0]), first, last;
    if (best < 0) return w;
    for (int i = 0; i < n; i++) works[i] = score[best] - score[i] <= margin + rounding;
    widest_run(n, value, works, &w.first, &w.last);
    w.width = width_of(n, value, w.first, w.last);
    if (!rows || rows->n == 0 || !find_sets(n, score, rows, series, margin, surely, possibly))
        return w;
    widest_run(n, value, surely, &first, &last);
    w.lo = width_of(n, value, first, last);
    widest_run(n, value, possibly, &first, &last);
    w.hi = width_of(n, value, first, last);
    return w;
}
