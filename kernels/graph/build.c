/* Building a graph: nodes, scopes, names, the first error. */
#include "kernels/graph/graph_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

lra_graph *lra_graph_new(lra_type type, lra_mode mode)
{
    if (type == LRA_I32) LRA_BUG("a graph computes in F32, F64 or BF16");
    lra_graph *g = lra_alloc(sizeof *g);
    g->arena = lra_arena_new();
    g->type = type;
    g->mode = mode;
    g->scope = "";
    return g;
}

void lra_graph_free(lra_graph *g)
{
    if (!g) return;
    lra_arena_free(g->arena);
    lra_free(g->node);
    lra_free(g);
}

lra_type lra_graph_type(const lra_graph *g)
{
    return g->type;
}
lra_mode lra_graph_mode(const lra_graph *g)
{
    return g->mode;
}
lra_type lra_real(const lra_graph *g)
{
    return g->type == LRA_F64 ? LRA_F64 : LRA_F32;
}
lra_type lra_elem(const lra_graph *g)
{
    return g->type;
}

void lra_graph_keep(lra_graph *g, lra_keep keep)
{
    g->keep = keep;
}

void lra_graph_fail(lra_graph *g, const char *fmt, ...)
{
    if (g->failed) return;
    char text[sizeof g->err.msg / 2];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    lra_fail(&g->err, "%s%s%s%s", *g->scope ? "'" : "", g->scope, *g->scope ? "': " : "", text);
    g->failed = true;
}

int lra_graph_check(const lra_graph *g, lra_err *e)
{
    return g->failed ? lra_fail(e, "%s", g->err.msg) : 0;
}

/* ---- scopes and names ------------------------------------------------------------------------ */

void lra_push(lra_graph *g, const char *fmt, ...)
{
    char name[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(name, sizeof name, fmt, args);
    va_end(args);
    g->scope = lra_arena_format(g->arena, "%s%s%s", g->scope, *g->scope ? "/" : "", name);
}

void lra_pop(lra_graph *g)
{
    if (!*g->scope) LRA_BUG("lra_pop() without lra_push()");
    const char *slash = strrchr(g->scope, '/');
    g->scope = slash ? lra_arena_format(g->arena, "%.*s", (int)(slash - g->scope), g->scope) : "";
}

lra_tensor *lra_name(lra_tensor *x, const char *name)
{
    x->name = lra_arena_text(x->graph->arena, name);
    x->scope = x->graph->scope;
    return x;
}

const char *lra_tensor_path(const lra_tensor *x)
{
    lra_arena *a = x->graph->arena;
    const char *sep = *x->scope ? "/" : "";
    if (x->name) return lra_arena_format(a, "%s%s%s", x->scope, sep, x->name);
    int before = 0; /* counts earlier nodes of this op and scope, so that their paths differ */
    for (int i = 0; i < x->id; i++) {
        const lra_tensor *y = x->graph->node[i];
        before += y->op == x->op && !y->name && strcmp(y->scope, x->scope) == 0;
    }
    if (before == 0) return lra_arena_format(a, "%s%s%s", x->scope, sep, x->op->name);
    return lra_arena_format(a, "%s%s%s.%d", x->scope, sep, x->op->name, before);
}

static bool has_path(const lra_tensor *x, const char *path)
{
    if (!x->name) return false;
    size_t n = strlen(x->scope);
    if (n == 0) return strcmp(path, x->name) == 0;
    return strncmp(path, x->scope, n) == 0 && path[n] == '/' && strcmp(path + n + 1, x->name) == 0;
}

lra_tensor *lra_find(const lra_graph *g, const char *path)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (has_path(g->node[i], path)) return g->node[i];
    return NULL;
}

int lra_graph_nodes(const lra_graph *g, const lra_op *op, int most, lra_tensor **out)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (lra_is(g->node[i], op)) {
            if (out && n < most) out[n] = g->node[i];
            n++;
        }
    return n;
}

lra_shape lra_tensor_shape(const lra_tensor *x)
{
    return x->shape;
}
lra_type lra_tensor_type(const lra_tensor *x)
{
    return x->type;
}

int lra_graph_params(const lra_graph *g, lra_tensor **out)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (lra_is(g->node[i], &lra_op_param)) {
            if (out) out[n] = g->node[i];
            n++;
        }
    return n;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static lra_tensor *add_node(lra_graph *g, const lra_op *op)
{
    if (g->n_nodes == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 64;
        g->node = lra_resize(g->node, (size_t)g->capacity * sizeof *g->node);
    }
    lra_tensor *y = lra_arena_alloc(g->arena, sizeof *y);
    y->op = op;
    y->graph = g;
    y->id = g->n_nodes;
    y->type = g->type;
    y->shape = LRA_SHAPE(1);
    y->scope = g->scope;
    g->node[g->n_nodes++] = y;
    return y;
}

lra_tensor *lra_node(const lra_op *op, lra_graph *g, int n_src, lra_tensor *const *src,
                     const void *args, size_t args_size)
{
    lra_tensor *y = add_node(g, op);
    y->n_src = n_src;
    y->src = lra_arena_alloc(g->arena, (size_t)(n_src + 1) * sizeof *y->src);
    for (int i = 0; i < n_src; i++) {
        if (!src[i]) LRA_BUG("op '%s': source %d is NULL", op->name, i);
        if (src[i]->graph != g) LRA_BUG("op '%s': source %d belongs to another graph", op->name, i);
        y->src[i] = src[i];
    }
    if (args_size) {
        void *copy = lra_arena_alloc(g->arena, args_size);
        memcpy(copy, args, args_size);
        y->args = copy;
    }
    lra_err e = {{0}};
    if (!g->failed && op->shape(y, &e) != 0) lra_graph_fail(g, "%s: %s", op->name, e.msg);
    if (g->failed) y->shape = LRA_SHAPE(1);
    return y;
}

bool lra_is_read(const lra_tensor *y)
{
    const lra_graph *g = y->graph;
    for (int id = y->id + 1; id < g->n_nodes; id++)
        for (int i = 0; i < g->node[id]->n_src; i++)
            if (g->node[id]->src[i] == y) return true;
    return false;
}

lra_tensor *lra_copy_node(const lra_tensor *t, lra_tensor **src)
{
    lra_tensor *y = add_node(t->graph, t->op);
    y->type = t->type, y->shape = t->shape, y->args = t->args, y->scope = t->scope;
    y->n_src = t->n_src, y->src = src;
    return y;
}

static lra_tensor *add_leaf(lra_graph *g, const lra_op *op, const char *name, lra_type t,
                            lra_shape s, const lra_leaf *leaf)
{
    lra_tensor *y = add_node(g, op);
    y->type = t;
    y->shape = s;
    y->name = lra_arena_text(g->arena, name);
    lra_leaf *copy = lra_arena_alloc(g->arena, sizeof *copy);
    *copy = *leaf;
    if (leaf->fill) copy->fill = lra_arena_text(g->arena, leaf->fill);
    if (leaf->spec.data_size) {
        void *data = lra_arena_alloc(g->arena, leaf->spec.data_size);
        copy->spec.data = memcpy(data, leaf->spec.data, leaf->spec.data_size);
    }
    y->args = copy;
    for (int i = 0; i < s.n; i++)
        if (s.d[i] < 1) {
            char text[96];
            lra_graph_fail(g, "'%s' has shape %s, every dimension must be positive", name,
                           lra_shape_text(s, text));
        }
    return y;
}

lra_tensor *lra_input(lra_graph *g, const char *name, lra_type t, lra_shape s)
{
    return add_leaf(g, &lra_op_input, name, t, s, &(lra_leaf){.fill = NULL});
}

lra_tensor *lra_sample_input(lra_graph *g, const char *name, const char *fill, lra_shape s)
{
    if (strcmp(fill, "step") == 0) return lra_step_input(g);
    bool integer = strncmp(fill, "index", 5) == 0 || strncmp(fill, "label", 5) == 0 ||
                   strncmp(fill, "length", 6) == 0;
    return add_leaf(g, &lra_op_input, name, integer ? LRA_I32 : g->type, s,
                    &(lra_leaf){.fill = fill});
}

const char *lra_sample_fill(const lra_tensor *input)
{
    return ((const lra_leaf *)input->args)->fill;
}
const lra_param_spec *lra_spec_of(const lra_tensor *param)
{
    return &((const lra_leaf *)param->args)->spec;
}

/* ---- parameters and states ------------------------------------------------------------------- */

bool lra_is_stored(const lra_tensor *x)
{
    return x->op == &lra_op_param || x->op == &lra_op_state || x->op == &lra_op_constant;
}

/* Finds a parameter, state or constant of the current scope by name. NULL: it does not exist. */
static lra_tensor *find_stored(const lra_graph *g, const char *name)
{
    for (int i = 0; i < g->n_nodes; i++) {
        lra_tensor *y = g->node[i];
        if (lra_is_stored(y) && strcmp(y->name, name) == 0 && strcmp(y->scope, g->scope) == 0)
            return y;
    }
    return NULL;
}

static lra_tensor *new_stored(lra_graph *g, const lra_op *op, const char *name, lra_shape s,
                              const lra_param_spec *spec)
{
    if (find_stored(g, name))
        lra_graph_fail(g, "'%s' already exists; lra_shared() uses it again", name);
    if (spec && !(spec->rate >= 0 && spec->rate_factor >= 0))
        lra_graph_fail(g, "'%s' has rate %g and factor %g, expected numbers from 0", name,
                       spec->rate, spec->rate_factor);
    return add_leaf(g, op, name, lra_real(g), s,
                    &(lra_leaf){.spec = spec ? *spec : (lra_param_spec){0}});
}

lra_tensor *lra_param(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec)
{
    return new_stored(g, &lra_op_param, name, s, spec);
}

lra_tensor *lra_state(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec)
{
    return new_stored(g, &lra_op_state, name, s, spec);
}

lra_tensor *lra_constant(lra_graph *g, const char *name, lra_shape s, const lra_param_spec *spec)
{
    return new_stored(g, &lra_op_constant, name, s, spec);
}

lra_tensor *lra_state_at(lra_graph *g, const char *path, lra_shape s, const lra_param_spec *spec)
{
    const char *slash = strrchr(path, '/'), *scope = g->scope;
    g->scope = slash ? lra_arena_format(g->arena, "%.*s", (int)(slash - path), path) : "";
    lra_tensor *y = lra_state(g, slash ? slash + 1 : path, s, spec);
    g->scope = scope;
    return y;
}

lra_tensor *lra_shared(lra_graph *g, const char *path)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (lra_is_stored(g->node[i]) && has_path(g->node[i], path)) return g->node[i];
    lra_graph_fail(g, "there is no '%s' to share", path);
    return add_leaf(g, &lra_op_param, path, lra_real(g), LRA_SHAPE(1), &(lra_leaf){.fill = NULL});
}

lra_tensor *lra_step_input(lra_graph *g)
{
    lra_tensor *step = lra_find(g, "step");
    if (step) return step;
    const char *scope = g->scope;
    g->scope = "";
    step = lra_input(g, "step", LRA_I32, LRA_SHAPE(16));
    g->scope = scope;
    return step;
}
