/* Part length: evaluates the model on inputs of other lengths than in training (length.h): 1/4,
 * 1/2, 1 and 2 times the length of the run's rows, or the list of --lengths.
 *   length   arrays x (points): lengths in tokens; gain, value (points, 3): share of the gain on
 *            the run's own test rows that is kept, and the metric, each with lower and upper end.
 *            length.gain.xR: the gain at R times the length
 * A length that cannot be measured is skipped with a note; the part fails if no length can be
 * measured. Chance is the chance level of the run's own rows. Examples differ between lengths, so
 * the intervals of two lengths are independent.
 * Tested (tests/datasets/length_test.c): the outputs equal those of a run that was trained on rows
 * of that length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "probes/influence/length.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 500, LONGEST = 1 << 20 };
static const double multiples[] = {0.25, 0.5, 1, 2};

static int64_t own_length(const lra_influence *p)
{
    return lra_config_int(p->subject.data->config, lra_length_key(p->subject.data));
}

const lra_option lra_part_length_options[] = {
    {.name = "lengths",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "part 'length': input lengths, ascending, separated by commas"},
    {.name = NULL}};

/* Number i of the list in --lengths; 0 after the last one. */
static int64_t listed(const lra_influence *p, int i)
{
    const char *at = p->options ? lra_option_text(p->options, "lengths") : NULL;
    for (; at && i > 0; i--) {
        at = strchr(at, ',');
        at += at != NULL;
    }
    return at ? strtoll(at, NULL, 10) : 0;
}

static int check(const lra_influence *p, lra_err *e)
{
    const char *list = p->options ? lra_option_text(p->options, "lengths") : NULL;
    int64_t last = 0;
    int n = 0;
    for (const char *at = list; at && *at; at += *at == ',', n++) {
        char *end;
        long long x = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ',') || x <= last || x > LONGEST)
            return lra_fail_usage(
                e,
                "--lengths is '%s'; expected ascending numbers from 1 to %d, separated by commas",
                list, (int)LONGEST);
        at = end, last = x;
    }
    return n <= LRA_GAIN_POINTS ? 0
                                : lra_fail_usage(e, "--lengths has %d numbers, expected at most %d",
                                                 n, (int)LRA_GAIN_POINTS);
}

/* True if --lengths is given: the file does not record the lengths that were requested, so the part
 * is measured again. */
static bool outdated(const lra_influence *p, const lra_probe_result *old)
{
    (void)old;
    return listed(p, 0) > 0;
}

/* Length number i in tokens; 0 after the last one. */
static int64_t length_at(const lra_influence *p, int i)
{
    if (listed(p, 0)) return listed(p, i);
    int n = (int)(sizeof multiples / sizeof *multiples);
    return i < n ? (int64_t)(multiples[i] * (double)own_length(p)) : 0;
}

static const char *undefined(const lra_influence *p)
{
    if (lra_own_answers_undefined(&p->subject)) return lra_own_answers_undefined(&p->subject);
    if (p->subject.data->task->goal == LRA_GOAL_NEXT)
        return "a stream has no rows of another length";
    return lra_length_key(p->subject.data) ? NULL : "the task makes no rows of other lengths";
}

static double passes(const lra_influence *p, int64_t examples)
{
    double n = (double)lra_influence_rows(p, examples), sum = n;
    for (int i = 0; length_at(p, i) > 0; i++)
        sum += n + (length_at(p, i) > own_length(p) ? 2.0 * LRA_LENGTH_CHECKED : 0);
    return sum;
}

static void add_unit(lra_influence *p, const lra_gain *g, int64_t n)
{
    lra_probe_unit *u = lra_probe_unit_new(p->out, "length");
    lra_influence_add_gain(p, u, NULL, NULL, g, n);
    for (int k = 0; k < g->n; k++) {
        char id[LRA_MEASUREMENT_ID];
        snprintf(id, sizeof id, "length.gain.x%.4g", g->x[k] / (double)own_length(p));
        lra_measurement f = lra_measurement_of(id, g->gain[k].value);
        f.lo = g->gain[k].lo, f.hi = g->gain[k].hi, f.examples = n;
        f.null[LRA_NULL_UNIFORM] = 1; /* null value: the length changes nothing */
        lra_probe_unit_measurements(u, 1, &f);
    }
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_own_outputs own;
    double x[LRA_GAIN_POINTS];
    int points = 0;
    int rc = lra_own_outputs_evaluate(&p->subject, 0, lra_influence_rows(p, examples), &p->steps,
                                      &own, e);
    lra_sums *row = lra_alloc_array((size_t)(own.n * LRA_GAIN_POINTS) + 1, sizeof *row);
    for (int i = 0; length_at(p, i) > 0 && rc == 0; i++) {
        int64_t length = length_at(p, i);
        rc = lra_length_evaluate(&p->subject, length, own.n, &p->steps, row + points * own.n, e);
        if (rc == 0) x[points++] = (double)length;
        if (rc != 0 && (points > 0 || length_at(p, i + 1) > 0)) {
            lra_note("%s: a length is left out: %s", p->subject.title, e->msg);
            rc = 0;
        }
    }
    if (rc == 0 && points == 0) rc = lra_fail(e, "none of the lengths can be measured");
    if (rc == 0) {
        lra_gain g;
        lra_influence_gain(p, own.n, own.index, points, x, row, own.row, &g);
        add_unit(p, &g, own.n);
    }
    lra_free(row);
    lra_own_outputs_free(&own);
    return rc;
}

const lra_influence_part lra_part_length = {
    .name = "length",
    .summary = "gain on inputs of other lengths than in training",
    .examples = EXAMPLES,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .undefined = undefined,
    .check = check,
    .outdated = outdated,
    .passes = passes,
    .measure = measure};
