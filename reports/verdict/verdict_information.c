/* Composes verdicts on the information in data (verdict_information.h). */
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

/* "0.1234 bits (0.1200 to 0.1300)". The caller frees it. */
static char *bits_text(const lra_measurement *f)
{
    if (isnan(f->lo)) return lra_format("%.4f bits (too few examples for an interval)", f->value);
    return lra_format("%.4f bits (%.4f to %.4f)", f->value, f->lo, f->hi);
}

static void say_distance(const lra_probe_unit *u, lra_verdict *to)
{
    const lra_measurement *d0 = lra_probe_measurement(u, "info.d0"),
                          *one = find(u, "info.excess", 1),
                          *dependence = find(u, "info.dependence", 1);
    char *bits = bits_text(one);
    static const char null[] = "beyond what their positions explain (null value: the second "
                               "token from another example at the same position)";
    if (d0 && d0->value > 0)
        lra_verdict_add(to,
                        "tokens have mutual information up to distance %.0f%s, %s: %s "
                        "at distance 1.",
                        d0->value, d0->flags & LRA_CENSORED ? ", the longest measured one" : "",
                        null, bits);
    else if (dependence && dependence->lo > 0) {
        char *own = bits_text(dependence);
        lra_verdict_add(to,
                        "adjacent tokens depend on each other %s: the divergence of their pairs "
                        "from the null is %s; the difference of the mutual informations, %s, "
                        "is not significant.",
                        null, own, bits);
        lra_free(own);
    } else if (dependence && !isnan(dependence->lo)) {
        char *own = bits_text(dependence);
        lra_verdict_add(to,
                        "that adjacent tokens depend on each other %s is not shown: the "
                        "divergence of their pairs from the null is %s.",
                        null, own);
        lra_free(own);
    } else
        lra_verdict_add(
            to,
            "the mutual information of adjacent tokens is not shown to exceed that "
            "of their positions (null value: the second token from another example at the same "
            "position): the difference is %s. It can be 0 or less although tokens depend "
            "on each other beyond their positions.",
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
        lra_verdict_add(
            to,
            "At longer distances such a difference is above 0, with a maximum at distance "
            "%.0f: %s.",
            again->value, bits);
        lra_free(bits);
    } else if (kind && !isnan(kind->value))
        lra_verdict_add(to, "It follows neither an exponential nor a power law of distance.");
}

void lra_verdict_of_information(const lra_probe_unit *u, lra_verdict *to)
{
    if (!find(u, "info.excess", 1)) return;
    say_distance(u, to);
    say_decay(u, to);
    lra_verdict_add(to, "This describes the inputs, not the label: the label can depend on larger "
                        "groups of tokens, and need not depend on the pairs measured here.");
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
                    "the best of %d bags of n-grams, width %d, has an accuracy of %.2f %% (%.2f "
                    "to %.2f), the majority label of training (the null value) %.2f %%%s.",
                    n, width, 100 * best->value, 100 * best->lo, 100 * best->hi, 100 * chance,
                    best->lo > chance ? "" : ": that it is better is not shown");
}
