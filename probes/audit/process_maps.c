/* Attention and kernels of an external model (process_call.h). */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/audit/kernel_arrays.h"
#include "probes/audit/process_call.h"
#include "probes/shared/map_block.h"

/* ---- attention ------------------------------------------------------------------------------- */

static void add_attention(const lra_call *c, int64_t from, int64_t to, lra_wire *w,
                          lra_config *meta)
{
    (void)from, (void)to, (void)w;
    char *rows = lra_format("%lld:%lld", (long long)c->from, (long long)c->to);
    lra_config_set(meta, "rows", rows);
    lra_free(rows);
}

/* Shape of attention matrices, with one head while the number of heads is not known. */
static int shape_of_attention(const lra_call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    int rank = 0;
    dims[rank++] = n;
    if (c->q->towers > 1) dims[rank++] = c->q->towers;
    dims[rank++] = c->answer->value ? c->answer->dims[1] : c->heads ? c->heads : 1;
    dims[rank++] = c->to - c->from;
    dims[rank++] = c->width;
    return rank;
}

/* Sets the weights of the pairs that `attn_allowed` excludes to LRA_MASKED_WEIGHT. `attn_allowed`
 * is an array of the shape of `attn`; it may be missing. */
static int take_allowed(const lra_message *m, int rank, const int64_t *dims, float *weight,
                        lra_err *e)
{
    const lra_ndarray *a = lra_safetensors_find(&m->t, "attn_allowed");
    if (!a) return 0;
    bool fits = a->rank == rank && a->element == 1;
    for (int i = 0; i < rank && fits; i++) fits = a->dims[i] == dims[i];
    if (!fits) return lra_fail(e, "'attn_allowed' is not a BOOL array of the shape of 'attn'");
    const uint8_t *allowed = a->bytes;
    for (int64_t i = 0; i < a->n; i++)
        if (!allowed[i]) weight[i] = LRA_MASKED_WEIGHT;
    return 0;
}

/* Sets the weights of the pairs outside the declared window of the layer to LRA_MASKED_WEIGHT.
 * Fails if the model gives such a pair a weight. weight: (maps,Q,P) */
static int apply_window(const lra_call *c, int64_t maps, float *weight, lra_err *e)
{
    int64_t Q = c->to - c->from, P = c->width, first = P - c->q->T;
    for (int64_t x = 0; x < maps * Q; x++)
        for (int64_t j = first; j < P && c->from + x % Q >= first; j++) {
            int64_t back = c->from + x % Q - j;
            float *w = &weight[x * P + j];
            if (back <= c->window[0] && -back <= c->window[1]) continue;
            if (fabsf(*w) > (float)lra_map_tolerance)
                return lra_fail(e,
                                "layer '%s': the weight of position %lld for query %lld is %.4g, "
                                "outside of the window %lld:%lld of 'attn_window'",
                                c->layer, (long long)(j - first), (long long)(j - first + back),
                                (double)*w, (long long)c->window[0], (long long)c->window[1]);
            *w = LRA_MASKED_WEIGHT;
        }
    return 0;
}

/* Fails because `attn` has another shape than (rows[,2],H,Q,P). Nullable: a */
static int wrong_shape(const lra_ndarray *a, int two, int64_t Q, int64_t P, lra_err *e)
{
    lra_text found = {0};
    if (!a) return lra_fail(e, "'attn' is missing");
    for (int i = 0; i < a->rank; i++)
        lra_text_add(&found, "%s%lld", i ? "," : "", (long long)a->dims[i]);
    lra_fail(e,
             "'attn' has the shape (%s), expected (B,%sH,%lld,%lld): batch, heads, the requested "
             "rows, all positions",
             found.s ? found.s : "", two ? "2," : "", (long long)Q, (long long)P);
    lra_text_free(&found);
    return LRA_FAILED;
}

/* Stores attention matrices (rows[,2],H,to - from,P), P = prepended + T. H follows from the first
 * answer. */
static int take_attention(lra_call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
{
    int64_t n = to - from, Q = c->to - c->from, P = c->width, towers = c->q->towers;
    int two = towers > 1;
    const lra_ndarray *a = lra_safetensors_find(&m->t, "attn");
    int64_t H = a && a->rank == 4 + two ? a->dims[1 + two] : -1;
    if (c->answer->value) H = c->answer->dims[1];
    int64_t dims[5] = {n, towers, H, Q, P};
    if (!two) dims[1] = H, dims[2] = Q, dims[3] = P;
    bool fits = a && H >= 1 && a->rank == 4 + two;
    for (int i = 0; i < 4 + two && fits; i++) fits = a->dims[i] == dims[i];
    if (!fits) return wrong_shape(a, two, Q, P, e);
    if (!c->answer->value) {
        *c->answer = (lra_answer){.rank = 4, .dims = {c->q->B * towers, H, Q, P}};
        c->answer->value = lra_try_array(c->q->B * towers * H * Q * P, sizeof(float), "attention",
                                         e);
        if (!c->answer->value) return LRA_FAILED;
    }
    float *rows = lra_try_array(n * towers * H * Q * P, sizeof *rows, "attention", e);
    int rc = rows ? lra_message_floats(m, "attn", 4 + two, dims, rows, e) : LRA_FAILED;
    if (rc == 0) rc = take_allowed(m, 4 + two, dims, rows, e);
    if (rc == 0 && c->window && !lra_safetensors_find(&m->t, "attn_allowed"))
        rc = apply_window(c, n * towers * H, rows, e);
    if (rc == 0)
        lra_wire_scatter(c->answer->value, c->q, c->row + from, n, H * Q * P, sizeof *rows, rows);
    lra_free(rows);
    return rc;
}

static void clear_answer(lra_answer *a)
{
    lra_free(a->value);
    *a = (lra_answer){.rank = 0};
}

/* Index of a layer of `attn_layers`; -1: there is none of this name. Nullable: layer */
static int layer_at(const lra_external *m, const char *layer)
{
    const lra_responder_facts *f = &m->base.facts;
    for (int k = 0; k < f->n_attention_layers && layer; k++)
        if (strcmp(f->attention_layer[k], layer) == 0) return k;
    return -1;
}

int lra_external_attention(lra_responder *r, const lra_request *q, const char *layer, int64_t from,
                           int64_t to, lra_answer *out, lra_err *e)
{
    lra_external *m = lra_external_of(r);
    const int k = layer_at(m, layer);
    *out = (lra_answer){.rank = 0};
    int rc = lra_call_check(m, "attn", LRA_ANSWERS_ATTENTION, q, e);
    if (rc != 0) return rc;
    lra_call c = {.op = "attn",
                  .layer = layer,
                  .q = q,
                  .add = add_attention,
                  .take = take_attention,
                  .shape = shape_of_attention,
                  .name = "attn",
                  .width = r->facts.prepended + q->T,
                  .from = from,
                  .to = to,
                  .heads = k < 0 ? 0 : m->heads[k],
                  .window = k < 0 || !r->facts.window || r->facts.window[2 * k] < 0
                                ? NULL
                                : r->facts.window + 2 * k,
                  .answer = out};
    lra_call_rows(&c);
    rc = lra_call_send(m, &c, e);
    if (rc != 0) clear_answer(out);
    if (rc == 0 && c.guessed && c.heads == 0)
        out->guessed = true;
    else if (rc == 0 && k >= 0)
        m->heads[k] = out->dims[1];
    lra_free(c.row);
    return rc;
}

/* ---- kernels --------------------------------------------------------------------------------- */

int lra_external_kernels(lra_responder *r, const char *layer, int64_t lags, lra_kernels_answer *out,
                         lra_err *e)
{
    lra_external *m = lra_external_of(r);
    lra_message answer = {.id = -1};
    *out = (lra_kernels_answer){.channels = 0};
    int rc = lra_call_check(m, "kernels", LRA_ANSWERS_KERNELS, NULL, e);
    if (rc != 0) return rc;
    lra_config *meta = lra_config_new();
    if (layer) lra_config_set(meta, "layer", layer);
    if (m->reset >= 0) lra_config_set_int(meta, "reset", m->reset);
    lra_config_set_int(meta, "lags", lags);
    rc = lra_call_single(m, "kernels", meta, false, &answer, e);
    lra_config_free(meta);
    if (rc == 0) rc = lra_kernels_of_message(&answer.t, lags, out, e);
    if (rc != 0) lra_kernels_answer_free(out);
    lra_message_free(&answer);
    return rc;
}
