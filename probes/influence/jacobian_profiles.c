/* Collects Jacobians to profiles (jacobian_profiles.h). */
#include "probes/influence/jacobian_profiles.h"

#include <string.h>

#include "kernels/base/core/mem.h"

enum {
    POSITIONS = LRA_JACOBIAN_POSITIONS,
    PLAIN = LRA_JACOBIAN_PLAIN,
    SQUARES = LRA_JACOBIAN_SQUARES,
    PIXELS = LRA_JACOBIAN_PIXELS,
    N_PROFILES = LRA_JACOBIAN_PROFILES
};

void lra_jacobian_profiles_open(lra_jacobian_profiles *a, const lra_influence *p, bool all)
{
    int64_t T = p->subject.data->max_length, grid = p->result->grid;
    *a = (lra_jacobian_profiles){.n_open = 0};
    a->profile[PLAIN] = lra_profile_new(T, 0);
    lra_profile_period(a->profile[PLAIN], grid);
    if (!all) return;
    a->profile[SQUARES] = lra_profile_new(T, 0);
    lra_profile_period(a->profile[SQUARES], grid);
    a->profile[PIXELS] = grid ? lra_profile_new(T, grid) : NULL;
}

void lra_jacobian_profiles_close(lra_jacobian_profiles *a)
{
    for (int k = 0; k < N_PROFILES; k++) lra_profile_free(a->profile[k]);
    for (int k = 0; k < a->n_open; k++) lra_free(a->open[k].size);
    lra_free(a->open);
    *a = (lra_jacobian_profiles){.n_open = 0};
}

/* Adds all rows of a complete example to the profiles, and frees the rows. */
static void add_example(lra_jacobian_profiles *a, int at)
{
    struct lra_open_example *x = &a->open[at];
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
    lra_jacobian_profiles *a = context;
    int at = 0;
    while (at < a->n_open && a->open[at].example != row->example) at++;
    if (at == a->n_open) {
        a->open = lra_resize(a->open, (size_t)(a->n_open + 1) * sizeof *a->open);
        double *own = lra_alloc_array((size_t)(2 * POSITIONS * row->T), sizeof *own);
        a->open[a->n_open++] = (struct lra_open_example){
            .example = row->example, .T = row->T, .size = own, .square = own + POSITIONS * row->T};
    }
    struct lra_open_example *x = &a->open[at];
    memcpy(x->square + x->n * x->T, row->square, (size_t)x->T * sizeof(double));
    for (int64_t j = 0; j < x->T; j++) x->size[x->n * x->T + j] = lra_jacobian_size(row, j);
    x->allowed[x->n] = row->allowed;
    x->i[x->n++] = row->i;
    if (row->last) add_example(a, at);
}

int lra_jacobian_profiles_measure(lra_influence *p, int64_t examples, int64_t positions,
                                  const char *layer, lra_subject_weights weights,
                                  lra_jacobian_profiles *to, lra_err *e)
{
    const lra_jacobian_spec s = {.examples = examples,
                                 .positions = positions,
                                 .draws = LRA_JACOBIAN_DRAWS,
                                 .layer = layer,
                                 .weights = weights,
                                 .seed = p->subject.seed};
    return lra_jacobian_measure(&p->subject, &s, &p->steps, take_row, to, &to->report, e);
}

double lra_jacobian_profiles_passes(const lra_influence *p, int64_t examples, int64_t positions)
{
    int64_t T = p->subject.data->max_length, rows = T < positions ? T : positions;
    return (double)(lra_influence_rows(p, examples) * rows * (1 + LRA_JACOBIAN_DRAWS));
}
