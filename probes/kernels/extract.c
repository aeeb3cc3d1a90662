/* Extracts the convolution kernels of a run (extract.h). */
#include "probes/kernels/extract.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/args.h"
#include "kernels/ops/longconv/long_conv.h"
#include "probes/kernels/closed_form.h"
#include "probes/kernels/modes.h"
#include "probes/kernels/scan_kernels.h"
#include "probes/kernels/skip.h"

enum { MOST_NODES = 4096 };
/* maximum number of values in the kernels of one scan */
static const int64_t most_numbers = (int64_t)1 << 25;

/* ---- names ----------------------------------------------------------------------------------- */

char *lra_found_name(const lra_tensor *node)
{
    static const char encoder[] = "encoder/";
    const char *path = node->scope;
    if (strncmp(path, encoder, sizeof encoder - 1) == 0) path += sizeof encoder - 1;
    char *name = lra_copy_text(*path ? path : node->op->name);
    for (char *at = name; *at; at++)
        if (*at == '/') *at = '.';
    return name;
}

/* Unique name of a kernel: a number is appended if two towers, or two kernels of one scope, have
 * the same name. */
static char *unique_name(const lra_extract *f, const lra_tensor *node)
{
    char *name = lra_found_name(node);
    for (int again = 2;; again++) {
        int k = 0;
        while (k < f->n && strcmp(f->kernels[k].name, name) != 0) k++;
        if (k == f->n) return name;
        lra_free(name);
        char *first = lra_found_name(node);
        name = lra_format("%s-%d", first, again);
        lra_free(first);
    }
}

/* ---- one state ------------------------------------------------------------------------------- */

/* The weight tensor of a convolution node. */
static lra_tensor *weights_of(const lra_tensor *node)
{
    return node->src[1];
}

static void measure_long(const lra_tensor *node, lra_extracted_kernels *k)
{
    const long_conv_args *a = node->args;
    const lra_tensor *x = node->src[0];
    int64_t T = x->shape.d[1], L = lra_width(weights_of(node));
    k->channels = lra_width(x), k->components = 1;
    k->ahead = lags_of(T, L);
    k->behind = a->two_sided ? back_lags_of(T, L) : 0;
}

/* Copies w, (D,L) or (2,D,L); lag j of the second (anticausal) kernel becomes lag -(1+j). */
static void fill_long(const lra_tensor *node, const lra_extracted_kernels *k, const float *w,
                      double *out)
{
    int64_t lags = k->behind + k->ahead, L = lra_width(weights_of(node));
    for (int64_t c = 0; c < k->channels; c++, out += lags) {
        const float *forth = w + c * L, *back = forth + k->channels * L;
        for (int64_t j = 0; j < k->ahead; j++) out[k->behind + j] = (double)forth[j];
        for (int64_t j = 0; j < k->behind; j++) out[k->behind - 1 - j] = (double)back[j];
    }
}

/* Number of tokens that the model prepends, by which all lags are shifted towards the past. */
static int64_t moved(const lra_tensor *node, int64_t T)
{
    return node->src[0]->shape.d[1] - T;
}

static void measure_conv(const lra_tensor *node, int64_t T, lra_extracted_kernels *k)
{
    const conv_args *a = node->args;
    /* (K, D/G, H): taps, inputs of a group, outputs */
    const lra_shape *s = &weights_of(node)->shape;
    int64_t half = (s->d[0] - 1) / 2 * a->dilation, past = half + moved(node, T),
            future = half - moved(node, T);
    k->channels = s->d[2], k->components = s->d[1];
    k->ahead = past + 1 < T ? past + 1 : T;
    k->behind = future < T - 1 ? future : T - 1;
    if (k->behind < 0) k->behind = 0;
}

static void fill_conv(const lra_tensor *node, int64_t T, const lra_extracted_kernels *k,
                      const float *w, double *out)
{
    const conv_args *a = node->args;
    const lra_shape *s = &weights_of(node)->shape;
    int64_t lags = k->behind + k->ahead, inputs = s->d[1], H = s->d[2];
    for (int64_t tap = 0; tap < s->d[0]; tap++) {
        int64_t lag = ((s->d[0] - 1) / 2 - tap) * a->dilation + moved(node, T);
        /* this lag is longer than the sequence */
        if (lag < -k->behind || lag >= k->ahead) continue;
        for (int64_t i = 0; i < inputs; i++)
            for (int64_t c = 0; c < H; c++)
                out[(c * inputs + i) * lags + k->behind + lag] =
                    (double)w[(tap * inputs + i) * H + c];
    }
}

/* Stride of the output channels of a scan that are measured (0, stride, 2 stride, ..), so that
 * their kernels have at most most_numbers values. */
static int64_t scan_step(const lra_scan_map *m, int64_t lags)
{
    int64_t room = most_numbers / (m->inputs * lags);
    return room >= m->outputs ? 1 : (m->outputs + room) / (room + 1);
}

static int measure_scan(const lra_length_graph *v, lra_tensor *node, lra_extracted_kernels *k,
                        lra_err *e)
{
    lra_scan_map m;
    if (lra_scan_sizes(v, node, &m, e) != 0) return LRA_FAILED;
    k->ahead = v->T, k->behind = m.sides == 2 ? v->T - 1 : 0, k->components = m.inputs;
    k->step = scan_step(&m, k->ahead + k->behind);
    k->channels = (m.outputs + k->step - 1) / k->step;
    return 0;
}

static int read_scan(const lra_length_graph *v, lra_tensor *node, int state,
                     lra_extracted_kernels *k, lra_err *e)
{
    lra_scan_map m;
    int rc = lra_scan_read(v, node, &m, e);
    int64_t lags = k->behind + k->ahead;
    if (rc == 0) k->mod[state] = lra_try_array(k->channels * lags, sizeof **k->mod, k->name, e);
    if (rc == 0 && !k->mod[state]) rc = LRA_FAILED;
    if (rc == 0) {
        bool turns = lra_scan_kernels(&m, k->channels, k->step, k->behind, k->ahead, k->k[state],
                                      k->mod[state]);
        if (!turns) lra_free(k->mod[state]), k->mod[state] = NULL;
        k->cut[state] = lra_alloc_array((size_t)k->channels, sizeof(double));
        lra_scan_cuts(&m, k->channels, k->step, k->behind, k->ahead, k->k[state], k->cut[state]);
        lra_scan_modes(&m, &k->mode[state]);
    }
    lra_scan_map_free(&m);
    return rc;
}

/* ---- both states ----------------------------------------------------------------------------- */

typedef struct {
    lra_loaded_model model;
    lra_length_graph *view;
    bool skip; /* --kernel-skip is set */
    int n;
    lra_tensor *node[MOST_NODES];
} network;

static bool is_long(const lra_tensor *node)
{
    return node->op == &lra_op_long_conv;
}
static bool is_scan(const lra_tensor *node)
{
    return node->op == &lra_op_scan;
}

static void sort_nodes(network *n)
{
    for (int i = 1; i < n->n; i++)
        for (int k = i; k > 0 && n->node[k]->id < n->node[k - 1]->id; k--) {
            lra_tensor *swap = n->node[k];
            n->node[k] = n->node[k - 1], n->node[k - 1] = swap;
        }
}

static int ask_node(network *n, lra_tensor *node, lra_err *e)
{
    lra_tensor *skip = n->skip ? lra_skip_find(n->view->network.graph, node) : NULL;
    if (skip) lra_length_graph_output(n->view, skip);
    if (is_scan(node)) return lra_scan_add_outputs(n->view, node, e);
    lra_tensor *modes = lra_modes_node(weights_of(node));
    lra_length_graph_output(n->view, weights_of(node));
    if (modes) lra_modes_add_outputs(n->view, modes);
    return 0;
}

/* Builds the network at the length of the longest examples, loads the weights, and requests the
 * weights of its convolutions, in network order. */
static int open_network(network *n, const lra_train_spec *run, lra_device *device,
                        lra_weights_kind which, lra_err *e)
{
    static const lra_op *const op[] = {&lra_op_conv, &lra_op_long_conv};
    if (lra_load_model(&n->model, run, device, which, e) != 0) return LRA_FAILED;
    n->model.type = LRA_F32;
    n->view = lra_loaded_graph(&n->model, 1, n->model.buckets.length[n->model.buckets.n - 1]);
    n->n = 0;
    for (int k = 0; k < 2; k++) {
        int found = lra_graph_nodes(n->view->network.graph, op[k], MOST_NODES - n->n,
                                    n->node + n->n);
        if (found > MOST_NODES - n->n)
            return lra_fail(e, "more than %d convolutions, which is the maximum", MOST_NODES);
        n->n += found;
    }
    n->n += lra_scans_find(n->view->network.graph, MOST_NODES - n->n, n->node + n->n);
    sort_nodes(n);
    for (int i = 0; i < n->n; i++)
        if (ask_node(n, n->node[i], e) != 0) return LRA_FAILED;
    if (n->n == 0) return 0;
    if (lra_loaded_plan(&n->model, e) != 0) return LRA_FAILED;
    return lra_length_graph_run(&n->model, n->view, e);
}

static int read_conv(const network *n, lra_tensor *node, int state, lra_extracted_kernels *k,
                     lra_err *e)
{
    lra_tensor *w = weights_of(node), *modes = lra_modes_node(w);
    float *from = lra_try_array(lra_elements(w), sizeof *from, k->name, e);
    int rc = from ? lra_get(n->view->plan, w, from, e) : LRA_FAILED;
    if (rc == 0 && is_long(node)) fill_long(node, k, from, k->k[state]);
    if (rc == 0 && !is_long(node)) fill_conv(node, n->view->T, k, from, k->k[state]);
    if (rc == 0 && modes) rc = lra_modes_get(n->view, modes, &k->mode[state], e);
    if (rc == 0) rc = lra_closed_form_fill(k, state, e);
    lra_free(from);
    return rc;
}

/* Reads the kernels of node i in one state (initial or trained); the network has the weights of
 * that state. */
static int read_node(const network *n, int i, int state, lra_extracted_kernels *k, lra_err *e)
{
    int64_t size = k->channels * k->components * (k->behind + k->ahead);
    k->k[state] = lra_try_array(size, sizeof(double), k->name, e);
    if (!k->k[state]) return LRA_FAILED;
    int rc = is_scan(n->node[i]) ? read_scan(n->view, n->node[i], state, k, e)
                                 : read_conv(n, n->node[i], state, k, e);
    lra_tensor *skip = n->skip ? lra_skip_find(n->view->network.graph, n->node[i]) : NULL;
    if (rc == 0 && skip) rc = lra_skip_add(n->view, skip, k, state, e);
    return rc;
}

static int add_nodes(lra_extract *f, const network *n, lra_err *e)
{
    f->kernels = lra_alloc_array((size_t)n->n + 1, sizeof *f->kernels);
    for (int i = 0; i < n->n; i++) {
        lra_extracted_kernels *k = &f->kernels[i];
        k->name = unique_name(f, n->node[i]);
        k->op = n->node[i]->op->name;
        k->step = 1;
        f->n++;
        if (is_scan(n->node[i])) {
            if (measure_scan(n->view, n->node[i], k, e) != 0) return LRA_FAILED;
        } else if (is_long(n->node[i])) {
            measure_long(n->node[i], k);
        } else {
            measure_conv(n->node[i], n->view->T, k);
        }
    }
    return 0;
}

int lra_extract_states(lra_extract *f, const lra_train_spec *run, lra_device *device, bool skip,
                       int n_states, const lra_weights_kind *which, lra_err *e)
{
    network *n = lra_alloc(sizeof *n);
    int rc = 0;
    n->skip = skip;
    *f = (lra_extract){0};
    for (int state = 0; (state < n_states || state == 0) && rc == 0; state++) {
        rc = open_network(n, run, device, n_states ? which[state] : LRA_INITIAL_WEIGHTS, e);
        if (rc == 0 && state == 0) rc = add_nodes(f, n, e);
        for (int i = 0; i < f->n && rc == 0 && n_states; i++)
            rc = read_node(n, i, state, &f->kernels[i], e);
        lra_loaded_free(&n->model);
    }
    lra_free(n);
    return rc;
}

int lra_extract_open(lra_extract *f, const lra_train_spec *run, lra_device *device, bool skip,
                     lra_err *e)
{
    static const lra_weights_kind which[] = {LRA_INITIAL_WEIGHTS, LRA_BEST_WEIGHTS};
    return lra_extract_states(f, run, device, skip, LRA_FOUND_STATES, which, e);
}

void lra_extract_close(lra_extract *f)
{
    for (int i = 0; i < f->n; i++) {
        lra_extracted_kernels *k = &f->kernels[i];
        for (int s = 0; s < LRA_FOUND_STATES; s++) {
            lra_free(k->k[s]);
            lra_modes_free(&k->mode[s]);
            lra_free(k->mod[s]);
            lra_free(k->skip[s]);
            lra_free(k->cut[s]);
        }
        lra_free(k->name);
    }
    lra_free(f->kernels);
    *f = (lra_extract){0};
}

lra_kernel lra_extract_channel(const lra_extracted_kernels *k, int state, int64_t c)
{
    int64_t size = k->components * (k->behind + k->ahead);
    return (lra_kernel){k->components, k->behind, k->ahead, k->k[state] + c * size};
}

lra_kernel lra_extract_modulus(const lra_extracted_kernels *k, int state, int64_t c)
{
    return (lra_kernel){1, k->behind, k->ahead, k->mod[state] + c * (k->behind + k->ahead)};
}
