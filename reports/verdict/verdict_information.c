/* Verdicts on the information in data. */
#include "reports/verdict/verdict_information.h"

#include <math.h>
#include <stdio.h>

#include "analysis/decay.h"
#include "analysis/pair_information.h"
#include "kernels/base/core/mem.h"

static const lra_measurement *find(const lra_probe_unit *u, const char *prefix, int k)
{
    char id[LRA_MEASUREMENT_ID];
    snprintf(id, sizeof id, "%s.%d", prefix, k);
    return lra_probe_measurement(u, id);
}

/* "0.1234 bits (0.1200 to 0.1300)"; caller frees. */
static char *bits_text(const lra_measurement *f)
{
    if (isnan(f->lo)) return lra_format("%.4f bits (too few examples for an interval)", f->value);
    return lra_format("%.4f bits (%.4f to %.4f)", f->value, f->lo, f->hi);
}

static void say_distance(const lra_probe_unit *u, lra_verdict *to)
{
    const lra_measurement *d0 = lra_probe_measurement(u, "info.d0"),
                          *one = find(u, "info.excess", 1);
    char *bits = bits_text(one);
    static const char null[] = "beyond what their places explain (the null: the second token of "
                               "another example at the same place)";
    if (d0 && d0->value > 0)
        lra_verdict_add(
            to,
            "a token holds information about the tokens up to %.0f steps away%s, %s: %s "
            "at distance 1.",
            d0->value, d0->flags & LRA_CENSORED ? ", the farthest that was measured" : "", null,
            bits);
    else
        lra_verdict_add(
            to,
            "the information between neighbouring tokens is not shown to be above that "
            "of their places (the null: the second token of another example at the same "
            "place): %s more. Such a difference can be 0 or less although tokens depend "
            "on each other beyond their places.",
            bits);
    lra_free(bits);
}

static void say_decay(const lra_probe_unit *u, lra_verdict *to)
{
    const lra_measurement *kind = lra_probe_measurement(u, "info.kind"),
                          *tau = lra_probe_measurement(u, "info.tau"),
                          *alpha = lra_probe_measurement(u, "info.alpha"),
                          *again = lra_probe_measurement(u, "info.again");
    const lra_measurement *most = again && !isnan(again->value)
                                      ? find(u, "info.excess", (int)again->value)
                                      : NULL;
    if (kind && tau && kind->value == LRA_DECAY_EXP)
        lra_verdict_add(to, "It decays exponentially, by 1/e in %.3g tokens (%.3g to %.3g).",
                        tau->value, tau->lo, tau->hi);
    else if (kind && alpha && kind->value == LRA_DECAY_POWER)
        lra_verdict_add(to, "It decays as a power of distance, exponent %.3g (%.3g to %.3g).",
                        alpha->value, alpha->lo, alpha->hi);
    else if (most) {
        char *bits = bits_text(most);
        lra_verdict_add(to, "Farther away it is above 0, most at distance %.0f: %s.", again->value,
                        bits);
        lra_free(bits);
    } else if (kind && !isnan(kind->value))
        lra_verdict_add(to, "It follows neither an exponential nor a power law of distance.");
}

void lra_verdict_of_information(const lra_probe_unit *u, lra_verdict *to)
{
    if (!find(u, "info.excess", 1)) return;
    say_distance(u, to);
    say_decay(u, to);
    lra_verdict_add(to,
                    "Pairs of tokens are not the label: a task can need what no pair shows, and "
                    "ignore what pairs share.");
}

void lra_verdict_of_ngrams(const lra_probe_unit *u, lra_verdict *to)
{
    const lra_measurement *best = NULL;
    int width = 0, n = 0;
    for (int i = 0; i < LRA_NGRAM_WIDTHS; i++) {
        const lra_measurement *f = find(u, "ngram.accuracy", lra_ngram_widths[i]);
        if (!f) continue;
        n++;
        if (!best || f->value > best->value) best = f, width = lra_ngram_widths[i];
    }
    if (!best) return;
    double chance = best->null[LRA_NULL_UNIFORM];
    lra_verdict_add(to,
                    "the best of %d bags of n-grams, width %d, answers %.2f %% (%.2f to %.2f), the "
                    "majority label of training (the null) %.2f %%%s.",
                    n, width, 100 * best->value, 100 * best->lo, 100 * best->hi, 100 * chance,
                    best->lo > chance ? "" : ": that it knows more is not shown");
}
