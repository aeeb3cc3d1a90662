/* Checks the accuracy on labelled examples, and searches for a permutation of the outputs with a
 * higher accuracy. */
#include <math.h>
#include <string.h>

#include "analysis/distributions.h"
#include "kernels/base/core/mem.h"
#include "probes/audit/check_work.h"

enum { MOST_PERMUTED = 64, LEAST = 10 };
static const double level = 0.01;
/* Measurements that the check disables if the outputs are in another order than the labels: the
 * gains of all parts, but not their measurements without labels. */
static const char of_labels[] = "gains length";

/* Confusion matrices (C,C) of the first and of the second half of the labelled examples. */
typedef struct {
    int64_t C, n, right;
    double *count[2];
    int64_t total[2];
} confusion;

static int64_t largest(const float *logits, int64_t C)
{
    int64_t best = 0;
    for (int64_t c = 1; c < C; c++)
        if (logits[c] > logits[best]) best = c;
    return best;
}

static confusion count(const lra_check_work *w)
{
    confusion m = {.C = w->r->facts.classes};
    for (int half = 0; half < 2; half++)
        m.count[half] = lra_alloc_array((size_t)(m.C * m.C), sizeof(double));
    for (int64_t i = 0; i < w->s->examples->B; i++) {
        int32_t label = w->s->label[i];
        if (label < 0 || label >= m.C) continue;
        int64_t said = largest(w->logits + i * m.C, m.C);
        int half = (int)(m.n++ % 2);
        m.count[half][said * m.C + label]++;
        m.total[half]++;
        m.right += said == label;
    }
    return m;
}

static double majority(const confusion *m)
{
    double most = 0;
    for (int64_t c = 0; c < m->C; c++) {
        double n = 0;
        for (int64_t k = 0; k < m->C; k++)
            n += m->count[0][k * m->C + c] + m->count[1][k * m->C + c];
        most = fmax(most, n);
    }
    return most / (double)m->n;
}

/* Returns the probability of at least k successes in n trials with probability p. */
static double tail(double k, double p, double n)
{
    return k < 1 ? 1 : 1 - lra_binomial_cdf((unsigned)k - 1, p, (unsigned)n);
}

/* Assigns outputs to labels one to one, with the largest sum of weight (C,C): to (C). Shortest
 * augmenting paths with potentials (Hungarian method), O(C^3); indices count from 1. */
static void assign(int64_t C, const double *weight, int64_t *to)
{
    size_t n = (size_t)C + 1;
    double *u = lra_alloc_array(n, sizeof *u), *v = lra_alloc_array(n, sizeof *v);
    double *least = lra_alloc_array(n, sizeof *least);
    int64_t *row = lra_alloc_array(n, sizeof *row), *way = lra_alloc_array(n, sizeof *way);
    bool *used = lra_alloc_array(n, sizeof *used);
    for (int64_t i = 1; i <= C; i++) {
        int64_t j = 0;
        row[0] = i;
        for (int64_t k = 0; k <= C; k++) least[k] = (double)INFINITY, used[k] = false;
        do {
            int64_t at = row[j], next = 0;
            double step = (double)INFINITY;
            used[j] = true;
            for (int64_t k = 1; k <= C; k++) {
                if (used[k]) continue;
                double d = -weight[(at - 1) * C + k - 1] - u[at] - v[k];
                if (d < least[k]) least[k] = d, way[k] = j;
                if (least[k] < step) step = least[k], next = k;
            }
            for (int64_t k = 0; k <= C; k++) {
                if (used[k])
                    u[row[k]] += step, v[k] -= step;
                else
                    least[k] -= step;
            }
            j = next;
        } while (row[j] != 0);
        for (; j; j = way[j]) row[j] = row[way[j]];
    }
    for (int64_t k = 1; k <= C; k++) to[row[k] - 1] = k - 1;
    lra_free(u), lra_free(v), lra_free(least), lra_free(row), lra_free(way), lra_free(used);
}

static double right_of(const confusion *m, int half, const int64_t *to)
{
    double n = 0;
    for (int64_t c = 0; c < m->C; c++) n += m->count[half][c * m->C + (to ? to[c] : c)];
    return n;
}

/* Lists the outputs that are not assigned to their own label: "output 0 is label 2, ...". */
static char *order_text(const confusion *m, const int64_t *to)
{
    lra_text t = {0};
    int shown = 0;
    for (int64_t c = 0; c < m->C; c++)
        if (to[c] != c && shown++ < 8)
            lra_text_add(&t, "%soutput %lld is label %lld", t.n ? ", " : "", (long long)c,
                         (long long)to[c]);
    if (shown > 8) lra_text_add(&t, ", ...");
    return t.s ? t.s : lra_copy_text("");
}

/* Selects a permutation of the outputs on the first half of the examples. Returns it as text if its
 * accuracy on the second half (*share) is significantly above both chance and the accuracy without
 * it; else NULL. */
static char *find_permutation(const confusion *m, double chance, double *share)
{
    if (m->C > MOST_PERMUTED || m->total[1] < LEAST / 2) return NULL;
    int64_t *to = lra_alloc_array((size_t)m->C, sizeof *to);
    assign(m->C, m->count[0], to);
    double n = (double)m->total[1], k = right_of(m, 1, to), plain = right_of(m, 1, NULL);
    *share = k / n;
    bool better = tail(k, fmin(fmax(chance, plain / n), 1), n) < level && k > plain;
    char *text = better ? order_text(m, to) : NULL;
    lra_free(to);
    return text;
}

static void judge(lra_check_work *w, const confusion *m)
{
    double chance = majority(m), n = (double)m->n, p = (double)m->right / n, share = 0;
    bool above = tail((double)m->right, chance, n) < level;
    char *order = find_permutation(m, chance, &share);
    char *found = lra_format("accuracy %.3f on %lld examples, majority label %.3f", p,
                             (long long)m->n, chance);
    if (order) {
        char *all = lra_format("%s; %.3f if %s", found, share, order);
        lra_check_fail(w, LRA_CHECK_accuracy, all,
                       "the outputs are in another order than the labels",
                       "reorder the outputs, or the labels of the examples", of_labels);
        lra_free(found);
    } else if (above) {
        lra_check_pass(w, LRA_CHECK_accuracy, found);
    } else {
        lra_check_fail(
            w, LRA_CHECK_accuracy, found,
            "wrong vocabulary or tokenizer, untrained weights, or labels of another task",
            "evaluate the model on these examples in its own program first; without an accuracy "
            "above chance, gains are undefined",
            "");
    }
    lra_free(order);
}

void lra_check_accuracy(lra_check_work *w)
{
    const lra_responder_facts *f = &w->r->facts;
    if (!w->s->label || f->classes < 2) {
        lra_check_leave_out(w, LRA_CHECK_accuracy,
                            w->s->label ? "the model has one output"
                                        : "the examples have no class labels");
        return;
    }
    confusion m = count(w);
    if (m.n < LEAST)
        lra_check_leave_out(w, LRA_CHECK_accuracy, "fewer than 10 labelled examples");
    else if (majority(&m) == 1)
        lra_check_leave_out(w, LRA_CHECK_accuracy, "all examples have the same label");
    else
        judge(w, &m);
    lra_free(m.count[0]);
    lra_free(m.count[1]);
}
