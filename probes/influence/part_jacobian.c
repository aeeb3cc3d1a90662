/* Part jacobian: the distance of the inputs on which the features of a position depend
 * (jacobian.h), after training and at initialisation; the shift between the two is the effect of
 * training.
 *   jacobian        weights J(i,j): all profile statistics, shift.w1, shift.js; shift.peak: the
 *                   distance at which the weight grew most relative to initialisation;
 *                   jacobian.leak (jacobian.h)
 *   jacobian.p2     the same statistics with weights J(i,j)^2
 *   jacobian.px     for images: distances in pixels
 *   jacobian.init   initial weights: only the curves
 * The uniform baseline covers all inputs (for a causal model, position i and those before it),
 * whatever the model's reach, so that models of different reach have the same baseline.
 * The part does not measure the distance of a dependency if the model has one output per input. For
 * two-token XOR at distance 8, 16, 32, range.q95 is the reach of a convolution model (6, 12, 23 for
 * reach 6, 12, 24), and otherwise close to its value at initialisation. shift.peak finds the
 * distance in all 18 runs of copy at distance 8 to 64, also in stacks of narrow layers, but only in
 * 6 of 22 runs with one output (reports/measured/known-truth). */
#include "probes/shared/jacobian.h"
#include "probes/influence/part.h"

#include <math.h>
#include <string.h>

#include "analysis/profile.h"
#include "kernels/base/core/mem.h"

enum { EXAMPLES = 64, POSITIONS = 32, DRAWS = 8 };
enum { PLAIN, SQUARES, PIXELS, N_PROFILES };
static const char *const unit_names[N_PROFILES] = {"jacobian", "jacobian.p2", "jacobian.px"};

/* Profiles of one set of weights. Rows of several examples of a batch arrive interleaved; they are
 * kept until their example is complete. */
typedef struct {
    lra_profile *profile[N_PROFILES]; /* pixels: NULL if inputs are not images */
    int n_open;
    struct open_example {
        int64_t example, T, n;
        int64_t i[POSITIONS], allowed[POSITIONS];
        double *size, *square; /* (positions, T) J(i,j) and J(i,j)^2 */
    } * open;
    lra_jacobian_report report;
} profiles;

static void open_profiles(profiles *a, const lra_influence *p)
{
    int64_t T = p->subject.data->max_length, grid = p->result->grid;
    *a = (profiles){.n_open = 0};
    a->profile[PLAIN] = lra_profile_new(T, 0);
    a->profile[SQUARES] = lra_profile_new(T, 0);
    lra_profile_period(a->profile[PLAIN], grid);
    lra_profile_period(a->profile[SQUARES], grid);
    a->profile[PIXELS] = grid ? lra_profile_new(T, grid) : NULL;
}

static void close_profiles(profiles *a)
{
    for (int k = 0; k < N_PROFILES; k++) lra_profile_free(a->profile[k]);
    for (int k = 0; k < a->n_open; k++) lra_free(a->open[k].size);
    lra_free(a->open);
}

/* Adds all rows of a complete example to the profiles, and frees the rows. */
static void add_example(profiles *a, int at)
{
    struct open_example *x = &a->open[at];
    for (int k = 0; k < N_PROFILES; k++) {
        lra_profile *p = a->profile[k];
        if (!p) continue;
        lra_profile_begin(p, x->T);
        for (int64_t r = 0; r < x->n; r++) {
            const double *w = (k == SQUARES ? x->square : x->size) + r * x->T;
            lra_profile_row(p, x->i[r], 0, x->allowed[r], w);
        }
        lra_profile_end(p);
    }
    lra_free(x->size);
    *x = a->open[--a->n_open];
}

static void take_row(void *context, const lra_jacobian_row *row)
{
    profiles *a = context;
    int at = 0;
    while (at < a->n_open && a->open[at].example != row->example) at++;
    if (at == a->n_open) {
        a->open = lra_resize(a->open, (size_t)(a->n_open + 1) * sizeof *a->open);
        double *own = lra_alloc_array((size_t)(2 * POSITIONS * row->T), sizeof *own);
        a->open[a->n_open++] = (struct open_example){
            .example = row->example, .T = row->T, .size = own, .square = own + POSITIONS * row->T};
    }
    struct open_example *x = &a->open[at];
    memcpy(x->square + x->n * x->T, row->square, (size_t)x->T * sizeof(double));
    for (int64_t j = 0; j < x->T; j++) x->size[x->n * x->T + j] = lra_jacobian_size(row, j);
    x->allowed[x->n] = row->allowed;
    x->i[x->n++] = row->i;
    if (row->last) add_example(a, at);
}

/* ---- the part -------------------------------------------------------------------------------- */

static double passes(const lra_influence *p, int64_t examples)
{
    int64_t T = p->subject.data->max_length, rows = T < POSITIONS ? T : POSITIONS;
    return lra_influence_weights(p) *
           (double)(lra_influence_rows(p, examples) * rows * (1 + DRAWS));
}

static int run(lra_influence *p, int64_t examples, lra_subject_weights weights, profiles *to,
               lra_err *e)
{
    const lra_jacobian_spec s = {.examples = examples,
                                 .positions = POSITIONS,
                                 .draws = DRAWS,
                                 .weights = weights,
                                 .seed = p->subject.seed};
    return lra_jacobian_measure(&p->subject, &s, &p->steps, take_row, to, &to->report, e);
}

static void add_unit(lra_influence *p, int k, const profiles *best, const profiles *initial)
{
    lra_measurement own[LRA_PROFILE_MEASUREMENTS + 4], init[LRA_PROFILE_MEASUREMENTS];
    const lra_profile_options o = {.suffix = k == PIXELS ? ".px" : NULL,
                                   .reach = k == PIXELS || p->result->reach < 0 ? 0
                                                                                : p->result->reach,
                                   .key = p->subject.seed};
    lra_probe_unit *u = lra_probe_unit_new(p->out, unit_names[k]);
    lra_influence_add_curves(u, best->profile[k]);
    int n = lra_profile_measurements(best->profile[k], &o, own);
    bool has_initial = lra_influence_has_initial(p);
    if (has_initial) {
        int n_init = lra_profile_measurements(initial->profile[k], &o, init);
        lra_measurements_null(n, own, n_init, init, LRA_NULL_INIT);
        n += lra_profile_shift(initial->profile[k], best->profile[k], &o, own + n);
    }
    if (k == PLAIN) {
        lra_measurement f = lra_measurement_of("jacobian.leak", best->report.leak);
        f.examples = best->report.examples, f.null[LRA_NULL_UNIFORM] = 0;
        own[n++] = f;
    }
    if (k == PLAIN && has_initial)
        own[n++] = lra_profile_peak(initial->profile[PLAIN], best->profile[PLAIN], true, &o);
    /* approximate, because draws of v, and positions of long examples, are sampled */
    for (int i = 0; i < n; i++)
        if (strcmp(own[i].id, "jacobian.leak") != 0 || best->report.examples < p->result->n)
            own[i].flags |= LRA_APPROX;
    lra_probe_unit_measurements(u, n, own);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    profiles best, initial;
    open_profiles(&best, p);
    open_profiles(&initial, p);
    int rc = run(p, examples, LRA_TRAINED_WEIGHTS, &best, e);
    if (rc == 0 && lra_influence_has_initial(p))
        rc = run(p, examples, LRA_RESET_WEIGHTS, &initial, e);
    for (int k = 0; k < N_PROFILES && rc == 0; k++)
        if (best.profile[k]) add_unit(p, k, &best, &initial);
    if (rc == 0 && lra_influence_has_initial(p))
        lra_influence_add_curves(lra_probe_unit_new(p->out, "jacobian.init"),
                                 initial.profile[PLAIN]);
    close_profiles(&best);
    close_profiles(&initial);
    return rc;
}

static const lra_part_setting settings[] = {LRA_UNIFORM_SETTING("jacobian"), {.name = NULL}};

const lra_influence_part lra_part_jacobian = {
    .name = "jacobian",
    .summary = "distance of the inputs that the features of a position depend on",
    .examples = EXAMPLES,
    .least = 1,
    .units = (const char *const[]){"jacobian.p2", "jacobian.px", "jacobian.init", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM) | LRA_NULL_BIT(LRA_NULL_INIT),
    .settings = settings,
    .needs = LRA_ANSWERS_VJP,
    .passes = passes,
    .measure = measure};
