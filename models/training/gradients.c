/* Writes the gradients of one batch to a safetensors file. */
#include "models/training/gradients.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/training/weights.h"

enum { N_INPUTS = 8 };

/* Lists the inputs of a network and their names in the file; NULL for inputs that it lacks. */
static void find_inputs(const lra_network *k, const char *name[N_INPUTS],
                        lra_tensor *input[N_INPUTS])
{
    static const char *const names[N_INPUTS] = {
        "input/tokens", "input/values", "input/length", "input/label",
        "input/target", "input/asked",  "input/scale",  NULL};
    lra_tensor *const inputs[N_INPUTS] = {k->tokens, k->values,      k->length, k->label,
                                          k->target, k->target_mask, k->scale,  NULL};
    memcpy(name, names, sizeof names);
    memcpy(input, inputs, sizeof inputs);
}

lra_gradients lra_gradients_new(const lra_network *k)
{
    const char *name[N_INPUTS];
    lra_tensor *input[N_INPUTS];
    lra_gradients g = {.network = k, .n = lra_graph_params(k->graph, NULL)};
    g.param = lra_alloc_array((size_t)g.n + 1, sizeof(lra_tensor *));
    g.grad = lra_alloc_array((size_t)g.n + 1, sizeof(lra_tensor *));
    g.out = lra_alloc_array((size_t)g.n + 2 + N_INPUTS, sizeof(lra_tensor *));
    lra_graph_params(k->graph, g.param);
    lra_grad(k->loss, NULL, g.n, g.param, g.grad);
    for (int i = 0; i < g.n; i++) g.out[g.n_out++] = g.grad[i];
    g.out[g.n_out++] = k->output, g.out[g.n_out++] = k->loss;
    find_inputs(k, name, input);
    for (int i = 0; i < N_INPUTS; i++)
        if (input[i]) g.out[g.n_out++] = input[i];
    return g;
}

void lra_gradients_free(lra_gradients *g)
{
    lra_free(g->param);
    lra_free(g->grad);
    lra_free(g->out);
    *g = (lra_gradients){0};
}

/* ---- the arrays of a file -------------------------------------------------------------------- */

typedef struct {
    lra_safetensor *array;
    int n;
} arrays;

/* Appends an array; takes ownership of name and values. */
static void add(arrays *a, char *name, lra_dtype dtype, lra_shape s, const void *values)
{
    lra_safetensor *t = &a->array[a->n++];
    *t = (lra_safetensor){.name = name, .array = {.dtype = dtype, .rank = s.n, .bytes = values}};
    for (int i = 0; i < s.n; i++) t->array.dims[i] = s.d[i];
}

/* Same as add(), with the dimensions in PyTorch's order, that is, reversed; takes ownership of
 * values. */
static int add_turned(arrays *a, char *name, lra_dtype dtype, lra_shape s, void *values, lra_err *e)
{
    void *turned = lra_try_array(lra_shape_elements(s), lra_dtype_bytes(dtype), name, e);
    if (turned) lra_weights_reverse(&s, lra_dtype_bytes(dtype), values, turned);
    lra_free(values);
    add(a, name, dtype, s, turned);
    return turned ? 0 : LRA_FAILED;
}

/* Appends the value of tensor x after a run of the plan; reversed: in PyTorch's order of
 * dimensions. */
static int add_result(arrays *a, lra_plan *plan, const lra_tensor *x, char *name, bool reversed,
                      lra_err *e)
{
    lra_dtype dtype = x->type == LRA_I32   ? LRA_DTYPE_I32
                      : x->type == LRA_F64 ? LRA_DTYPE_F64
                                           : LRA_DTYPE_F32; /* bf16 is widened to f32 */
    void *values = lra_try_array(lra_elements(x), lra_dtype_bytes(dtype), name, e);
    int rc = values ? lra_get(plan, x, values, e) : LRA_FAILED;
    if (rc == 0 && reversed) return add_turned(a, name, dtype, x->shape, values, e);
    add(a, name, dtype, x->shape, values);
    return rc;
}

/* Appends array i of the parameter store. */
static int add_stored(arrays *a, const lra_params *p, int i, lra_dtype dtype, lra_err *e)
{
    const char *path = lra_params_path(p, i);
    const char *kind = lra_params_trained(p, i)    ? "param"
                       : lra_params_constant(p, i) ? "constant"
                                                   : "state";
    lra_shape s = lra_params_shape(p, i);
    char *name = lra_format("%s/%s", kind, path);
    void *values = lra_try_array(lra_shape_elements(s), lra_dtype_bytes(dtype), path, e);
    int rc = values ? lra_params_get(p, path, values, e) : LRA_FAILED;
    if (rc == 0 && lra_params_layout(p, i) == LRA_LAYOUT_REVERSED)
        return add_turned(a, name, dtype, s, values, e);
    add(a, name, dtype, s, values);
    return rc;
}

static int collect(const lra_gradients *g, lra_plan *plan, const lra_params *p, lra_text *reversed,
                   arrays *a, lra_err *e)
{
    const lra_network *k = g->network;
    const char *name[N_INPUTS];
    lra_tensor *input[N_INPUTS];
    lra_dtype dtype = lra_real(k->graph) == LRA_F64 ? LRA_DTYPE_F64 : LRA_DTYPE_F32;
    int rc = 0;
    for (int i = 0; i < lra_params_count(p) && rc == 0; i++) {
        const char *path = lra_params_path(p, i);
        if (strncmp(path, "adam/", 5) == 0) continue;
        if (lra_params_layout(p, i) == LRA_LAYOUT_REVERSED)
            lra_text_add(reversed, "%s%s", reversed->n ? " " : "", path);
        rc = add_stored(a, p, i, dtype, e);
    }
    for (int i = 0; i < g->n && rc == 0; i++) {
        char *path = lra_format("grad/%s", lra_tensor_path(g->param[i]));
        bool turn = lra_spec_of(g->param[i])->layout == LRA_LAYOUT_REVERSED;
        rc = add_result(a, plan, g->grad[i], path, turn, e);
    }
    find_inputs(k, name, input);
    for (int i = 0; i < N_INPUTS && rc == 0; i++)
        if (input[i]) rc = add_result(a, plan, input[i], lra_copy_text(name[i]), false, e);
    if (rc == 0) rc = add_result(a, plan, k->output, lra_copy_text("output"), false, e);
    if (rc == 0) rc = add_result(a, plan, k->loss, lra_copy_text("loss"), false, e);
    return rc;
}

static const char *precision_of(const lra_graph *g)
{
    lra_type t = lra_graph_type(g);
    return t == LRA_F64 ? "f64" : t == LRA_BF16 ? "bf16" : "f32";
}

int lra_gradients_write(const lra_gradients *g, lra_plan *plan, const lra_params *p,
                        const lra_config *meta, int n_more, const lra_safetensor *more,
                        const char *to, int *n_arrays, lra_err *e)
{
    int most = lra_params_count(p) + g->n + N_INPUTS + 2 + n_more;
    arrays a = {.array = lra_alloc_array((size_t)most + 1, sizeof *a.array)};
    lra_text reversed = {0};
    int rc = collect(g, plan, p, &reversed, &a, e);
    int own = a.n;
    for (int i = 0; i < n_more; i++) a.array[a.n++] = more[i];
    lra_config *all = lra_config_copy(meta);
    lra_config_set(all, "lra.precision", precision_of(g->network->graph));
    lra_config_set(all, "lra.reversed", reversed.n ? reversed.s : "");
    if (rc == 0) rc = lra_safetensors_write(to, a.n, a.array, all, e);
    if (n_arrays) *n_arrays = a.n;
    for (int i = 0; i < own; i++) {
        lra_free(a.array[i].name);
        lra_free((void *)(uintptr_t)a.array[i].array.bytes);
    }
    lra_free(a.array);
    lra_text_free(&reversed);
    lra_config_free(all);
    return rc;
}
