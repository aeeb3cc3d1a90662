/* Requests attention matrices in blocks of rows (map_block.h). */
#include "probes/shared/map_block.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

/* maximum number of weights in a block */
static const double most_numbers = 1 << 22;
const double lra_map_tolerance = 1e-2;

/* ---- layers ---------------------------------------------------------------------------------- */

static int64_t most_heads(const lra_map_layers *x)
{
    int64_t most = 1;
    for (int k = 0; k < x->n; k++) most = x->heads[k] > most ? x->heads[k] : most;
    return most;
}

int64_t lra_map_batch(const lra_subject *s, const lra_map_layers *layers, int64_t P)
{
    double rows = floor(most_numbers / ((double)(P * P) * (double)most_heads(layers)));
    return rows < 1 ? 1 : rows < (double)s->batch ? (int64_t)rows : s->batch;
}

int64_t lra_map_rows(const lra_map_layers *layers, int64_t n_sequences, int64_t P)
{
    double rows = floor(most_numbers / ((double)(n_sequences * P) * (double)most_heads(layers)));
    return rows < 1 ? 1 : rows < (double)P ? (int64_t)rows : P;
}

static int ask_heads(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    lra_map_layers *x = ((void **)context)[0];
    lra_responder *r = ((void **)context)[1];
    (void)b;
    for (int k = 0; k < x->n; k++) {
        lra_answer a;
        int rc = r->is->attention(r, q, x->layer[k], 0, 1, &a, e);
        if (rc != 0 && x->n_heads == 0) lra_fail_in(e, "layer '%s'", x->layer[k]);
        if (rc != 0) return rc;
        x->heads[k] = a.dims[1], x->n_heads += (int)a.dims[1];
        x->guessed = x->guessed || a.guessed;
        lra_free(a.value);
    }
    return 0;
}

int lra_map_layers_open(const lra_subject *s, lra_map_layers *out, lra_err *e)
{
    const lra_responder_facts *f = &s->model->facts;
    lra_subject one = *s;
    one.batch = 1;
    *out = (lra_map_layers){
        .n = f->n_attention_layers, .layer = f->attention_layer, .extra = f->prepended};
    out->heads = lra_alloc_array((size_t)out->n + 1, sizeof *out->heads);
    if (out->n == 0) return lra_fail(e, "%s: the model names no attention layers", s->title);
    void *context[] = {out, s->model};
    int rc = lra_subject_each(&one, 1, ask_heads, context, e);
    if (rc == 0 && out->n_heads == 0) rc = lra_fail(e, "%s: there is no test example", s->title);
    /* the size of the blocks depends on the numbers of heads */
    if (rc == 0 && out->guessed) rc = lra_fail_absent(e, "the numbers of heads have no answer yet");
    return rc;
}

void lra_map_layers_free(lra_map_layers *x)
{
    lra_free(x->heads);
    *x = (lra_map_layers){.n = 0};
}

char *lra_map_layer_name(const char *layer)
{
    char *name = lra_format("%.48s", layer);
    for (char *at = name; *at; at++) {
        int c = tolower((unsigned char)*at);
        *at = (char)((isalnum(c) && c < 128) || strchr("-_.:+", c) ? c : '-');
    }
    return name;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    const lra_map_block *b = v->block;
    const int64_t *d = b->answer.dims;
    const float *from = b->answer.value + ((s * d[1] + head) * d[2] + i - b->from) * d[3];
    for (int64_t j = 0; j < T; j++) {
        bool masked = from[j] == LRA_MASKED_WEIGHT || (b->causal && j > i);
        w[j] = masked ? (double)NAN : (double)from[j];
    }
}

static const lra_matrix_family answered = {
    .name = "answered", .what = "answers of the model", .row = row};

int lra_map_check_shape(const lra_answer *a, int64_t n, int64_t Q, int64_t P, lra_err *e)
{
    const int64_t *d = a->dims;
    if (d[0] == n && d[1] >= 1 && d[2] == Q && d[3] == P) return 0;
    return lra_fail(e,
                    "attention has the shape (%lld,%lld,%lld,%lld), expected (%lld,H,%lld,%lld): "
                    "sequences, heads, the requested rows, all positions",
                    (long long)d[0], (long long)d[1], (long long)d[2], (long long)d[3],
                    (long long)n, (long long)Q, (long long)P);
}

/* Checks weight j of row i; `where`: "layer .., head .., row ..". */
static int check_weight(const lra_map_block *b, bool any, const char *where, int64_t i, int64_t j,
                        double w, lra_err *e)
{
    if (!isfinite(w))
        return lra_fail(e, "attention of %s, key %lld: the weight is %g, expected a finite number",
                        where, (long long)j, w);
    if (b->causal && j > i && fabs(w) > lra_map_tolerance)
        return lra_fail(e,
                        "attention of %s, key %lld: the weight of a later token is %.4g, but the "
                        "model is declared causal (row = query, column = key)",
                        where, (long long)j, w);
    if (!any && w < -lra_map_tolerance)
        return lra_fail(e,
                        "attention of %s, key %lld: the weight is %.4g, expected no negative "
                        "number; for signed weights use --renormalise (Python: renormalise=True)",
                        where, (long long)j, w);
    return 0;
}

/* Checks row i of a sequence with n positions: w (n). A row of zeros is undefined, and counted as
 * such. */
static int check_row(const lra_map_block *b, bool any, const char *layer, int64_t head, int64_t i,
                     int64_t n, const float *w, lra_err *e)
{
    double sum = 0;
    int rc = 0;
    bool good = true;
    for (int64_t j = 0; j < n; j++) {
        if (w[j] == LRA_MASKED_WEIGHT) continue;
        good = good && w[j] >= 0 && isfinite(w[j]) && !(b->causal && j > i && w[j] > 0);
        sum += (double)w[j];
    }
    if (good && (any || sum == 0 || fabs(sum - 1) <= lra_map_tolerance)) return 0;
    char *where = lra_format("layer '%s', head %lld, row %lld", layer, (long long)head,
                             (long long)i);
    for (int64_t j = 0; j < n && rc == 0; j++)
        if (w[j] != LRA_MASKED_WEIGHT) rc = check_weight(b, any, where, i, j, (double)w[j], e);
    if (rc == 0 && !any && sum != 0 && fabs(sum - 1) > lra_map_tolerance)
        rc = lra_fail(e,
                      "attention of %s: the weights of the example's %lld positions sum to %.4g, "
                      "expected 1; for weights without this property use --renormalise (Python: "
                      "renormalise=True)",
                      where, (long long)n, sum);
    lra_free(where);
    return rc;
}

/* Checks the rows of sequence s, which has n positions. */
static int check_rows(const lra_map_block *b, const char *layer, bool any, int64_t s, int64_t n,
                      lra_err *e)
{
    const int64_t *d = b->answer.dims;
    int rc = 0;
    for (int64_t h = 0; h < d[1]; h++)
        for (int64_t i = b->from; i < b->to && i < n && rc == 0; i++)
            rc = check_row(b, any, layer, h, i, n,
                           b->answer.value + ((s * d[1] + h) * d[2] + i - b->from) * d[3], e);
    return rc;
}

int lra_map_block_get(const lra_subject *s, const lra_map_layers *layers, const lra_request *q,
                      int layer, int64_t from, int64_t to, lra_map_block *out, lra_err *e)
{
    lra_responder *r = s->model;
    *out = (lra_map_block){.from = from, .to = to, .causal = r->facts.causal};
    int rc = r->is->attention(r, q, layers->layer[layer], from, to, &out->answer, e);
    if (rc == 0)
        rc = lra_map_check_shape(&out->answer, lra_request_sequences(q), to - from,
                                 q->T + layers->extra, e);
    if (rc != 0) {
        lra_fail_in(e, "layer '%s'", layers->layer[layer]);
        return rc;
    }
    if (out->answer.dims[1] != layers->heads[layer])
        return lra_fail(e, "layer '%s' has %lld heads, expected %lld as for the first example",
                        layers->layer[layer], (long long)out->answer.dims[1],
                        (long long)layers->heads[layer]);
    for (int64_t k = 0; k < lra_request_sequences(q) && rc == 0; k++)
        if (q->length[k] > 0)
            rc = check_rows(out, layers->layer[layer], r->facts.row_sums != LRA_ROWS_ONE, k,
                            q->length[k] + layers->extra, e);
    out->of = (lra_matrix){
        .family = &answered, .heads = out->answer.dims[1], .T = out->answer.dims[3]};
    out->values = (lra_matrix_values){
        .of = &out->of, .block = out, .raw = r->facts.row_sums == LRA_ROWS_RAW};
    return rc;
}

void lra_map_block_free(lra_map_block *b)
{
    lra_free(b->answer.value);
    *b = (lra_map_block){.from = 0};
}
