/* The parameter store: named arrays on a device that outlive graphs. An initial value depends only
 * on (seed, path), never on the order in which graphs are built. */
#include "kernels/graph/graph_impl.h"

#include <string.h>

#include "kernels/base/os/file.h"

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
    for (int i = 0; i < p->n; i++) lra_free(p->array[i].path);
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
bool lra_params_constant(const lra_params *p, int i)
{
    return p->array[i].constant;
}
lra_array_layout lra_params_layout(const lra_params *p, int i)
{
    return p->array[i].layout;
}

lra_array *lra_params_find(const lra_params *p, const char *path)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->array[i].path, path) == 0) return &p->array[i];
    return NULL;
}

/* ---- copying --------------------------------------------------------------------------------- */

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

/* Computes the bf16 copy (shadow) of an array from host values and uploads it. */
static int upload_shadow(lra_params *p, lra_array *a, const float *host, lra_err *e)
{
    int64_t n = lra_shape_elements(a->shape);
    uint16_t *half = lra_try_array(n, sizeof *half, a->path, e);
    if (!half) return LRA_FAILED;
    for (int64_t i = 0; i < n; i++) half[i] = bf16(host[i]);
    int rc = p->device->backend->copy(p->device, LRA_COPY_IN, a->shadow, half,
                                      (size_t)n * sizeof *half, e);
    lra_free_large(half);
    return rc;
}

/* Uploads host values (real) to an array and to its shadow. */
static int upload(lra_params *p, lra_array *a, const void *host, lra_err *e)
{
    const lra_backend *b = p->device->backend;
    if (b->copy(p->device, LRA_COPY_IN, a->data, host, real_bytes(p, a), e) != 0) return LRA_FAILED;
    return a->shadow ? upload_shadow(p, a, host, e) : 0;
}

static int initialise(lra_params *p, lra_array *a, const lra_param_spec *spec, lra_err *e)
{
    int64_t n = lra_shape_elements(a->shape);
    double *v = lra_try_array(n, sizeof *v, a->path, e);
    if (!v) return LRA_FAILED;
    lra_init_fill(spec, p->seed, a->path, a->shape, v);
    float *f = (float *)v; /* converts v in place: element i is read before it is overwritten */
    if (p->real == LRA_F32)
        for (int64_t i = 0; i < n; i++) {
            float x = (float)v[i];
            memcpy(&f[i], &x, sizeof x);
        }
    int rc = upload(p, a, v, e);
    lra_free_large(v);
    return rc;
}

/* Adds a shadow to an array that has values already; the values do not change. */
static int add_shadow(lra_params *p, lra_array *a, lra_err *e)
{
    float *host = lra_try_alloc(real_bytes(p, a), a->path, e);
    int rc = host ? lra_params_get(p, a->path, host, e) : LRA_FAILED;
    if (rc == 0) rc = upload_shadow(p, a, host, e);
    lra_free_large(host);
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

/* ---- binding --------------------------------------------------------------------------------- */

/* Requirements of a plan for one array of the store. */
typedef struct {
    const lra_tensor *leaf; /* leaf that reads the array; NULL: the plan does not use it */
    bool shadow;
} wish;

static lra_array *append(lra_params *p, const lra_tensor *leaf, const char *path)
{
    if (p->n == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 32;
        p->array = lra_resize(p->array, (size_t)p->capacity * sizeof *p->array);
    }
    lra_array *a = &p->array[p->n++];
    *a = (lra_array){0};
    a->path = lra_copy_text(path);
    a->shape = leaf->shape;
    a->trained = leaf->op == &lra_op_param;
    a->constant = leaf->op == &lra_op_constant;
    a->layout = lra_spec_of(leaf)->layout;
    return a;
}

static size_t aligned(size_t n)
{
    return (n + 255) / 256 * 256;
}

/* Assigns memory to a new array or shadow. Existing values are not overwritten. */
static int place_one(lra_params *p, lra_array *a, const wish *w, char **slab, lra_err *e)
{
    bool fresh = !a->data, shadow = w->shadow && !a->shadow;
    if (fresh) {
        a->data = *slab;
        *slab += aligned(real_bytes(p, a));
    }
    if (shadow) {
        a->shadow = *slab;
        *slab += aligned((size_t)lra_shape_elements(a->shape) * 2);
    }
    if (fresh) return initialise(p, a, lra_spec_of(w->leaf), e);
    return shadow ? add_shadow(p, a, e) : 0;
}

/* Allocates memory for all new arrays and shadows at once. */
static int place(lra_params *p, const wish *w, lra_err *e)
{
    size_t total = 0;
    for (int i = 0; i < p->n; i++) {
        lra_array *a = &p->array[i];
        int64_t n = lra_shape_elements(a->shape);
        if (!a->data) total += aligned(real_bytes(p, a));
        if (w[i].shadow && !a->shadow) total += aligned((size_t)n * 2);
    }
    if (total == 0) return 0;
    char *slab = p->device->backend->alloc(p->device, total, "parameters", e);
    if (!slab) return LRA_FAILED;
    p->slab = lra_resize(p->slab, (size_t)(p->n_slabs + 1) * sizeof *p->slab);
    p->slab[p->n_slabs++] = slab;
    p->n_bytes += (double)total;
    for (int i = 0; i < p->n; i++)
        if (place_one(p, &p->array[i], &w[i], &slab, e) != 0) return LRA_FAILED;
    return 0;
}

int lra_params_bind(lra_params *p, const lra_graph *g, int n, lra_tensor *const *leaf,
                    const bool *shadow, lra_err *e)
{
    if (p->n == 0) p->real = lra_real(g);
    if (p->real != lra_real(g)) LRA_BUG("graphs of different real types share a parameter store");
    wish *wishes = lra_alloc_array((size_t)(p->n + n) + 1, sizeof *wishes);
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        char a[96], b[96];
        const char *path = lra_tensor_path(leaf[i]);
        lra_array *array = lra_params_find(p, path);
        if (!array) array = append(p, leaf[i], path);
        wishes[array - p->array] = (wish){leaf[i], shadow[i]};
        if (!lra_shape_equal(array->shape, leaf[i]->shape))
            rc = lra_fail(e, "'%s' has shape %s, expected %s", path,
                          lra_shape_text(array->shape, a), lra_shape_text(leaf[i]->shape, b));
    }
    if (rc == 0) rc = place(p, wishes, e);
    lra_free(wishes);
    return rc;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Path of the dataset of an array: "/param/layer0/w", "/adam/m/layer0/w", "/state/norm/mean". */
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
        if (!p->array[i].constant && write_array(p, &p->array[i], file, e) != 0) return LRA_FAILED;
    return 0;
}

int lra_params_read(lra_params *p, lra_h5 *file, lra_err *e)
{
    for (int i = 0; i < p->n; i++)
        if (!p->array[i].constant && read_array(p, &p->array[i], file, e) != 0) return LRA_FAILED;
    return 0;
}

int lra_params_read_weights(lra_params *p, lra_h5 *file, lra_err *e)
{
    for (int i = 0; i < p->n; i++) {
        bool weight = !p->array[i].constant && strncmp(p->array[i].path, "adam/", 5) != 0;
        if (weight && read_array(p, &p->array[i], file, e) != 0) return LRA_FAILED;
    }
    return 0;
}
