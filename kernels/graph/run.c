/* Running a plan: addresses, transfer of data, runs with checks and with poisoned memory. */
#include "kernels/graph/graph_impl.h"
#include "kernels/graph/nodes.h"

#include <limits.h>
#include <math.h>

#include "kernels/base/os/terminal.h"

/* ---- the space ------------------------------------------------------------------------------- */

lra_space *lra_space_new(lra_device *dev)
{
    lra_space *s = lra_alloc(sizeof *s);
    s->device = dev;
    return s;
}

void lra_space_free(lra_space *s)
{
    if (!s) return;
    if (s->base) s->device->backend->free(s->device, s->base);
    lra_free(s);
}

void lra_space_no_inplace(lra_space *s, bool on)
{
    s->no_inplace = on;
}

int lra_space_seal(lra_space *s, lra_err *e)
{
    if (s->sealed) return 0;
    s->base = s->device->backend->alloc(s->device, s->size ? s->size : 1, "workspace", e);
    if (!s->base) return LRA_FAILED;
    s->sealed = true;
    return 0;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void *address(const lra_plan *p, const lra_tensor *x)
{
    size_t offset;
    const lra_tensor *root = lra_root(x, &offset);
    if (lra_is_stored(root))
        return (char *)lra_params_find(p->params, lra_tensor_path(root))->data + offset;
    int range = p->range_of[root->id];
    return range < 0 ? NULL : p->space->base + p->range[range].offset + offset;
}

static void *shadow_of(const lra_plan *p, const lra_tensor *x)
{
    if (x->op != &lra_op_param) return NULL;
    return lra_params_find(p->params, lra_tensor_path(x))->shadow;
}

static int resolve(lra_plan *p, lra_err *e)
{
    if (p->resolved) return 0;
    if (lra_space_seal(p->space, e) != 0) return LRA_FAILED;
    void **next = p->addresses;
    const lra_tensor *gate = p->gate_node >= 0 ? p->graph->node[p->gate_node] : NULL;
    for (int at = 0; at < p->n_calls; at++) {
        lra_call *c = &p->call[at];
        const lra_tensor *y = c->y;
        void **in = next, **shadow = next + y->n_src;
        next += 2 * y->n_src;
        for (int i = 0; i < y->n_src; i++) {
            shadow[i] = shadow_of(p, y->src[i]);
            bool through = lra_reads_shadow(y->op, i) && p->graph->type == LRA_BF16 && shadow[i];
            in[i] = through ? shadow[i] : address(p, y->src[i]);
        }
        c->in = (const void *const *)in;
        c->shadow = shadow;
        c->out = address(p, y);
        int scratch = p->scratch_of[at];
        c->scratch = scratch < 0 ? NULL : p->space->base + p->range[scratch].offset;
        if (p->fused[at] == 0) c->gate = LRA_FUSED;
        if (y->op == &lra_op_assign && gate) {
            size_t applied = 2 * lra_type_size(gate->type);
            c->gate = (const char *)address(p, gate) + applied;
        }
    }
    p->resolved = true;
    return 0;
}

/* ---- data ------------------------------------------------------------------------------------ */

int lra_set(lra_plan *p, const lra_tensor *input, const void *host, lra_err *e)
{
    if (input->op != &lra_op_input) LRA_BUG("lra_set() of a node that is not an input");
    if (resolve(p, e) != 0) return LRA_FAILED;
    void *to = address(p, input);
    if (!to) return 0; /* no output depends on this input */
    lra_device *d = p->space->device;
    return d->backend->copy(d, LRA_COPY_IN, to, host, (size_t)lra_bytes(input), e);
}

void lra_widen(float *f, int64_t n)
{
    const uint16_t *half = (const uint16_t *)f;
    for (int64_t i = n - 1; i >= 0; i--) {
        union {
            uint32_t bits;
            float value;
        } x = {.bits = (uint32_t)half[i] << 16};
        f[i] = x.value;
    }
}

const void *lra_plan_result(lra_plan *p, const lra_tensor *out, lra_err *e)
{
    if (resolve(p, e) != 0) return NULL;
    const void *from = address(p, out);
    if (!from) LRA_BUG("'%s' is requested, but the plan does not compute it", out->op->name);
    return from;
}

int lra_get(lra_plan *p, const lra_tensor *out, void *host, lra_err *e)
{
    const void *from = lra_plan_result(p, out, e);
    if (!from) return LRA_FAILED;
    lra_device *d = p->space->device;
    if (d->backend->copy(d, LRA_COPY_OUT, host, from, (size_t)lra_bytes(out), e) != 0)
        return LRA_FAILED;
    if (out->type == LRA_BF16) lra_widen(host, lra_elements(out));
    return 0;
}

/* ---- run ------------------------------------------------------------------------------------- */

/* Fills the ranges that are freed after call `at` with NaN, so that a read of a dead buffer becomes
 * visible. */
static int poison_after(lra_plan *p, int at, lra_err *e)
{
    lra_device *d = p->space->device;
    for (int i = 0; i < p->n_ranges; i++) {
        const lra_range *r = &p->range[i];
        if (r->last != at) continue;
        if (d->backend->clear(d, p->space->base + r->offset, 0xFF, r->size, e) != 0)
            return LRA_FAILED;
    }
    return 0;
}

static int poison_scratch(lra_plan *p, int at, lra_err *e)
{
    lra_device *d = p->space->device;
    if (p->scratch_of[at] < 0) return 0;
    return d->backend->clear(d, p->call[at].scratch, 0xFF, p->range[p->scratch_of[at]].size, e);
}

static int run_one(lra_plan *p, int at, lra_err *e)
{
    lra_device *d = p->space->device;
    if (p->fused[at] == 0) return 0; /* already run by the call that starts its fused group */
    if (p->poison && poison_scratch(p, at, e) != 0) return LRA_FAILED;
    if (d->backend->run(d, &p->call[at], p->fused[at], e) != 0) return LRA_FAILED;
    return p->poison ? poison_after(p, at + p->fused[at] - 1, e) : 0;
}

int lra_run(lra_plan *p, lra_err *e)
{
    if (resolve(p, e) != 0) return LRA_FAILED;
    lra_device *d = p->space->device;
    if (!p->poison) {
        if (!d->backend->capture) return d->backend->run(d, p->call, p->n_calls, e);
        if (!p->captured) p->captured = d->backend->capture(d, p->call, p->lane, p->n_calls, e);
        return p->captured ? d->backend->replay(d, p->captured, e) : LRA_FAILED;
    }
    for (int at = 0; at < p->n_calls; at++)
        if (run_one(p, at, e) != 0) return LRA_FAILED;
    return 0;
}

static int time_nodes(lra_plan *p, double *seconds, lra_err *e)
{
    lra_device *d = p->space->device;
    if (d->backend->run_timed && !p->poison)
        return d->backend->run_timed(d, p->call, p->n_calls, seconds, e);
    for (int at = 0; at < p->n_calls; at++) {
        double start = lra_now();
        if (run_one(p, at, e) != 0) return LRA_FAILED;
        seconds[at] = lra_now() - start;
    }
    return 0;
}

void lra_plan_nodes(const lra_plan *p, lra_node_time *out)
{
    for (int at = 0; at < p->n_calls; at++) {
        const lra_tensor *y = p->call[at].y;
        out[at] = (lra_node_time){y->op->name,       lra_tensor_path(y),    y->shape,
                                  lra_node_flops(y), lra_call_bytes(p, at), 0};
    }
}

const lra_tensor *lra_plan_tensor(const lra_plan *p, int at)
{
    return p->call[at].y;
}

bool lra_plan_fused(const lra_plan *p, int at)
{
    return p->fused[at] == 0;
}

int lra_run_timed(lra_plan *p, lra_node_time *out, lra_err *e)
{
    if (resolve(p, e) != 0) return LRA_FAILED;
    double *seconds = lra_alloc_array((size_t)p->n_calls + 1, sizeof *seconds);
    int rc = time_nodes(p, seconds, e);
    lra_plan_nodes(p, out);
    for (int at = 0; at < p->n_calls && rc == 0; at++) out[at].seconds = seconds[at];
    lra_free(seconds);
    return rc;
}

/* Index of the first non-finite element of y; -1: all are finite. */
static int64_t first_bad(lra_plan *p, const lra_tensor *y, double *value, lra_err *e)
{
    int64_t n = lra_elements(y), bad = -1;
    if (y->type == LRA_I32) return -1;
    void *host = lra_alloc_array((size_t)n, y->type == LRA_F64 ? 8 : 4);
    if (lra_get(p, y, host, e) != 0) bad = -2;
    for (int64_t i = 0; i < n && bad == -1; i++) {
        *value = y->type == LRA_F64 ? ((double *)host)[i] : (double)((float *)host)[i];
        if (!isfinite(*value)) bad = i;
    }
    lra_free(host);
    return bad;
}

/* Index of the last call of the fused group of call `at`. */
static int last_of(const lra_plan *p, int at)
{
    while (at + 1 < p->n_calls && p->fused[at + 1] == 0) at++;
    return at;
}

int lra_run_checked(lra_plan *p, lra_err *e)
{
    if (resolve(p, e) != 0) return LRA_FAILED;
    for (int at = 0; at < p->n_calls; at++) {
        const lra_tensor *y = p->call[at].y;
        double value = 0;
        char shape[96];
        /* skips nodes that write parameters or states: the search for a NaN must not change them */
        if (y->op->flags & LRA_WRITES) continue;
        if (run_one(p, at, e) != 0) return lra_fail_in(e, "'%s'", lra_tensor_path(y));
        if (p->hidden[y->id]) continue;
        int64_t bad = p->poison && p->range[p->range_of[y->id]].last <= last_of(p, at)
                          ? -1
                          : first_bad(p, y, &value, e);
        if (bad == -2) return LRA_FAILED;
        if (bad >= 0)
            return lra_fail(e, "'%s' %s: first %s at element %lld", lra_tensor_path(y),
                            lra_shape_text(y->shape, shape), isnan(value) ? "NaN" : "infinity",
                            (long long)bad);
    }
    return 0;
}
