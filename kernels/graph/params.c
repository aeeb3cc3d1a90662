/* The parameter store: named arrays on a device that outlive graphs.
 * An initial value depends on (seed, path) alone, never on the order in which graphs are built. */
#include "kernels/graph/graph_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/philox.h"

lra_params *lra_params_new(lra_device *dev, uint64_t seed)
{
    lra_params *p = lra_alloc(sizeof *p);
    p->device = dev;
    p->seed = seed;
    p->real = LRA_F32;
    return p;
}

void lra_params_free(lra_params *p)
{
    if (!p) return;
    for (int i = 0; i < p->n; i++) {
        lra_free(p->array[i].path);
        lra_free(p->array[i].spec);
    }
    for (int i = 0; i < p->n_slabs; i++) p->device->backend->free(p->device, p->slab[i]);
    lra_free(p->slab);
    lra_free(p->array);
    lra_free(p);
}

double lra_params_bytes(const lra_params *p)
{
    return p->n_bytes;
}
int lra_params_count(const lra_params *p)
{
    return p->n;
}
const char *lra_params_path(const lra_params *p, int i)
{
    return p->array[i].path;
}
lra_shape lra_params_shape(const lra_params *p, int i)
{
    return p->array[i].shape;
}
bool lra_params_trained(const lra_params *p, int i)
{
    return p->array[i].trained;
}

lra_array *lra_params_find(const lra_params *p, const char *path)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->array[i].path, path) == 0) return &p->array[i];
    return NULL;
}

/* ---- initial values ------------------------------------------------------------------------------ */

/* The first word of a spec, cut at ':' into a name and at most two numbers. */
typedef struct {
    char name[16];
    double a, b;
    int n;
} init_rule;

static int parse_rule(const char *spec, init_rule *r)
{
    char word[64];
    size_t n = strcspn(spec, " ");
    if (n >= sizeof word) return -1;
    memcpy(word, spec, n);
    word[n] = 0;
    char *colon = strchr(word, ':');
    if (colon) *colon = 0;
    snprintf(r->name, sizeof r->name, "%.15s", word);
    r->n = 0;
    double *to[] = {&r->a, &r->b};
    for (char *at = colon; at && r->n < 2; r->n++) {
        char *end;
        *to[r->n] = strtod(at + 1, &end);
        if (end == at + 1 || (*end && *end != ':')) return -1;
        at = *end ? end : NULL;
    }
    return 0;
}

static void fill(const init_rule *r, uint64_t seed, const char *path, int64_t n, double *v)
{
    lra_rng rng = lra_rng_new(seed, lra_hash32(path), 0);
    double lo = 0, hi = 0, constant = 0;
    if (strcmp(r->name, "ones") == 0) constant = 1;
    if (strcmp(r->name, "const") == 0) constant = r->a;
    if (strcmp(r->name, "uniform") == 0) lo = r->a, hi = r->b;
    if (strcmp(r->name, "fan") == 0) lo = -1 / sqrt(r->a), hi = 1 / sqrt(r->a);
    if (strcmp(r->name, "normal") == 0) {
        for (int64_t i = 0; i < n; i += 2) {
            double pair[2];
            uint32_t first = lra_rng_u32(&rng);
            lra_normal2(first, lra_rng_u32(&rng), &pair[0], &pair[1]);
            for (int64_t k = 0; k < 2 && i + k < n; k++) v[i + k] = r->a * pair[k];
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) v[i] = lo < hi ? lo + (hi - lo) * lra_rng_u01(&rng) : constant;
}

static bool known_rule(const init_rule *r)
{
    static const struct {
        const char *name;
        int n;
    } rules[] = {{"zeros", 0},  {"ones", 0},    {"const", 1},
                 {"normal", 1}, {"uniform", 2}, {"fan", 1}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, r->name) == 0) return rules[i].n == r->n;
    return false;
}

/* ---- copying ------------------------------------------------------------------------------------- */

static size_t real_bytes(const lra_params *p, const lra_array *a)
{
    return (size_t)lra_shape_elements(a->shape) * lra_type_size(p->real);
}

double lra_params_copy_bytes(const lra_params *p)
{
    size_t most = 0;
    for (int i = 0; i < p->n; i++) {
        size_t n = real_bytes(p, &p->array[i]);
        if (n > most) most = n;
    }
    return (double)most;
}

static uint16_t bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/* Host values (real) to the device, and to the shadow. */
static int upload(lra_params *p, lra_array *a, const void *host, lra_err *e)
{
    const lra_backend *b = p->device->backend;
    if (b->copy(p->device, LRA_COPY_IN, a->data, host, real_bytes(p, a), e) != 0) return LRA_FAILED;
    if (!a->shadow) return 0;
    int64_t n = lra_shape_elements(a->shape);
    uint16_t *half = lra_alloc_array((size_t)n, sizeof *half);
    for (int64_t i = 0; i < n; i++) half[i] = bf16(((const float *)host)[i]);
    int rc = b->copy(p->device, LRA_COPY_IN, a->shadow, half, (size_t)n * sizeof *half, e);
    lra_free(half);
    return rc;
}

static int initialise(lra_params *p, lra_array *a, lra_err *e)
{
    init_rule rule = {{0}, 0, 0, 0};
    if (parse_rule(a->spec, &rule) != 0 || !known_rule(&rule))
        LRA_BUG("'%s': initial value '%s' is not understood", a->path, a->spec);
    int64_t n = lra_shape_elements(a->shape);
    double *v = lra_alloc_array((size_t)n, sizeof *v);
    fill(&rule, p->seed, a->path, n, v);
    float *f = (float *)v; /* narrowed in place, front to back */
    if (p->real == LRA_F32)
        for (int64_t i = 0; i < n; i++) {
            float x = (float)v[i];
            memcpy(&f[i], &x, sizeof x);
        }
    int rc = upload(p, a, v, e);
    lra_free(v);
    return rc;
}

int lra_params_get(const lra_params *p, const char *path, void *host, lra_err *e)
{
    const lra_array *a = lra_params_find(p, path);
    if (!a) return lra_fail(e, "there is no array '%s'", path);
    return p->device->backend->copy(p->device, LRA_COPY_OUT, host, a->data, real_bytes(p, a), e);
}

int lra_params_set(lra_params *p, const char *path, const void *host, lra_err *e)
{
    lra_array *a = lra_params_find(p, path);
    if (!a) return lra_fail(e, "there is no array '%s'", path);
    return upload(p, a, host, e);
}

uint64_t lra_params_hash(const lra_params *p)
{
    uint64_t hash = 0;
    for (int i = 0; i < p->n; i++) {
        const lra_array *a = &p->array[i];
        size_t n = real_bytes(p, a);
        void *host = lra_alloc(n);
        lra_err e;
        if (lra_params_get(p, a->path, host, &e) != 0) LRA_BUG("%s", e.msg);
        uint64_t part[3] = {hash, lra_hash64(a->path, strlen(a->path)), lra_hash64(host, n)};
        hash = lra_hash64(part, sizeof part);
        lra_free(host);
    }
    return hash;
}

/* ---- binding ------------------------------------------------------------------------------------- */

static lra_array *append(lra_params *p, const lra_tensor *leaf, const char *path)
{
    if (p->n == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 32;
        p->array = lra_resize(p->array, (size_t)p->capacity * sizeof *p->array);
    }
    lra_array *a = &p->array[p->n++];
    *a = (lra_array){0};
    a->path = lra_copy_text(path);
    a->spec = lra_copy_text(lra_param_spec(leaf));
    a->shape = leaf->shape;
    a->trained = leaf->op == &lra_op_param;
    return a;
}

static size_t aligned(size_t n)
{
    return (n + 255) / 256 * 256;
}

/* One slab for everything that has no memory yet. */
static int place(lra_params *p, const bool *wants_shadow, lra_err *e)
{
    size_t total = 0;
    for (int i = 0; i < p->n; i++) {
        lra_array *a = &p->array[i];
        int64_t n = lra_shape_elements(a->shape);
        if (!a->data) total += aligned(real_bytes(p, a));
        if (wants_shadow[i] && !a->shadow) total += aligned((size_t)n * 2);
    }
    if (total == 0) return 0;
    char *slab = p->device->backend->alloc(p->device, total, "parameters", e);
    if (!slab) return LRA_FAILED;
    p->slab = lra_resize(p->slab, (size_t)(p->n_slabs + 1) * sizeof *p->slab);
    p->slab[p->n_slabs++] = slab;
    p->n_bytes += (double)total;
    for (int i = 0; i < p->n; i++) {
        lra_array *a = &p->array[i];
        bool fresh = !a->data, shadow = wants_shadow[i] && !a->shadow;
        if (fresh) {
            a->data = slab;
            slab += aligned(real_bytes(p, a));
        }
        if (shadow) {
            a->shadow = slab;
            slab += aligned((size_t)lra_shape_elements(a->shape) * 2);
        }
        if ((fresh || shadow) && initialise(p, a, e) != 0) return LRA_FAILED;
    }
    return 0;
}

int lra_params_bind(lra_params *p, const lra_graph *g, int n, lra_tensor *const *leaf,
                    const bool *shadow, lra_err *e)
{
    if (p->n == 0) p->real = lra_real(g);
    if (p->real != lra_real(g)) LRA_BUG("graphs of different real types share a parameter store");
    for (int i = 0; i < n; i++) {
        char a[96], b[96];
        const char *path = lra_tensor_path(leaf[i]);
        lra_array *array = lra_params_find(p, path);
        if (!array) array = append(p, leaf[i], path);
        if (!lra_shape_equal(array->shape, leaf[i]->shape))
            return lra_fail(e, "'%s' has shape %s, expected %s", path,
                            lra_shape_text(array->shape, a), lra_shape_text(leaf[i]->shape, b));
    }
    bool *wants = lra_alloc((size_t)p->n + 1);
    for (int i = 0; i < n; i++)
        if (shadow[i]) wants[lra_params_find(p, lra_tensor_path(leaf[i])) - p->array] = true;
    int rc = place(p, wants, e);
    lra_free(wants);
    return rc;
}

/* ---- checkpoints --------------------------------------------------------------------------------- */

/* "/param/layer0/w", "/adam/m/layer0/w", "/state/norm/mean" */
static char *dataset_path(const lra_array *a)
{
    if (a->trained) return lra_format("/param/%s", a->path);
    if (strncmp(a->path, "adam/", 5) == 0) return lra_format("/%s", a->path);
    return lra_format("/state/%s", a->path);
}

static int write_array(const lra_params *p, const lra_array *a, lra_h5 *file, lra_err *e)
{
    void *host = lra_try_alloc(real_bytes(p, a), a->path, e);
    if (!host) return LRA_FAILED;
    char *path = dataset_path(a);
    lra_h5_type type = p->real == LRA_F64 ? LRA_H5_F64 : LRA_H5_F32;
    lra_shape s = a->shape.n ? a->shape : LRA_SHAPE(1);
    int rc = lra_params_get(p, a->path, host, e);
    if (rc == 0) rc = lra_h5_put(file, path, type, s.n, s.d, host, e);
    lra_free_large(host);
    lra_free(path);
    return rc;
}

static int read_array(lra_params *p, lra_array *a, lra_h5 *file, lra_err *e)
{
    void *host = lra_try_alloc(real_bytes(p, a), a->path, e);
    if (!host) return LRA_FAILED;
    char *path = dataset_path(a);
    lra_h5_type type = p->real == LRA_F64 ? LRA_H5_F64 : LRA_H5_F32;
    lra_shape s = a->shape.n ? a->shape : LRA_SHAPE(1);
    int rc = lra_h5_get(file, path, type, s.n, s.d, host, e);
    if (rc == 0) rc = upload(p, a, host, e);
    lra_free_large(host);
    lra_free(path);
    return rc;
}

int lra_params_write(const lra_params *p, lra_h5 *file, lra_err *e)
{
    for (int i = 0; i < p->n; i++)
        if (write_array(p, &p->array[i], file, e) != 0) return LRA_FAILED;
    return 0;
}

int lra_params_read(lra_params *p, lra_h5 *file, lra_err *e)
{
    for (int i = 0; i < p->n; i++)
        if (read_array(p, &p->array[i], file, e) != 0) return LRA_FAILED;
    return 0;
}

int lra_params_read_weights(lra_params *p, lra_h5 *file, lra_err *e)
{
    for (int i = 0; i < p->n; i++) {
        bool moment = strncmp(p->array[i].path, "adam/", 5) == 0;
        if (!moment && read_array(p, &p->array[i], file, e) != 0) return LRA_FAILED;
    }
    return 0;
}
