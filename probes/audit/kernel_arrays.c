/* Reads and writes convolution kernels (kernel_arrays.h). */
#include "probes/audit/kernel_arrays.h"

#include <string.h>

#include "kernels/base/core/mem.h"

void lra_kernels_answer_free(lra_kernels_answer *k)
{
    lra_free(k->value);
    lra_free(k->modulus);
    *k = (lra_kernels_answer){.channels = 0};
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One direction: real and imaginary parts (channels,components,lags). */
typedef struct {
    int64_t channels, components, lags;
    float *re, *im; /* Nullable: im */
} direction;

static void free_direction(direction *d)
{
    lra_free(d->re);
    lra_free(d->im);
}

/* Reads one array; its shape must be that of d unless d is empty. */
static int read_part(const lra_safetensors *t, const char *name, direction *d, float **to,
                     lra_err *e)
{
    const lra_ndarray *a = lra_safetensors_find(t, name);
    if (!a) return lra_fail(e, "there is no array '%s'", name);
    if (a->rank != 2 && a->rank != 3)
        return lra_fail(e,
                        "'%s' has %d axes, expected (channels,lags) or (channels,components,lags)",
                        name, a->rank);
    int64_t channels = a->dims[0], components = a->rank == 3 ? a->dims[1] : 1;
    int64_t lags = a->dims[a->rank - 1];
    if (channels < 1 || components < 1 || lags < 1) return lra_fail(e, "'%s' is empty", name);
    if (d->channels == 0)
        d->channels = channels, d->components = components, d->lags = lags;
    else if (d->channels != channels || d->components != components || d->lags != lags)
        return lra_fail(e,
                        "'%s' has %lld channels, %lld components and %lld lags, expected %lld, "
                        "%lld and %lld as its real part",
                        name, (long long)channels, (long long)components, (long long)lags,
                        (long long)d->channels, (long long)d->components, (long long)d->lags);
    *to = lra_try_array(a->n, sizeof **to, "kernels", e);
    if (!*to || lra_ndarray_get_f32(a, name, *to, e) != 0) return LRA_FAILED;
    for (int64_t i = 0; i < a->n; i++)
        if (!isfinite((*to)[i]))
            return lra_fail(e, "'%s' is %g in channel %lld at lag %lld, expected finite numbers",
                            name, (double)(*to)[i], (long long)(i / (components * lags)),
                            (long long)(i % lags));
    return 0;
}

/* Reads one direction. Nullable: d->im afterwards, if there is no array of that name. */
static int read_direction(const lra_safetensors *t, const char *re, const char *im, direction *d,
                          lra_err *e)
{
    int rc = read_part(t, re, d, &d->re, e);
    return rc == 0 && lra_safetensors_find(t, im) ? read_part(t, im, d, &d->im, e) : rc;
}

/* Copies a direction to lags `first`, first + step, .. of the answer. */
static void put(const direction *d, int64_t first, int64_t step, lra_kernels_answer *out)
{
    int64_t all = out->behind + out->ahead, V = out->components;
    for (int64_t c = 0; c < out->channels; c++)
        for (int64_t j = 0; j < d->lags; j++) {
            double squares = 0;
            for (int64_t v = 0; v < V; v++) {
                int64_t from = (c * V + v) * d->lags + j;
                float re = d->re[from], im = d->im ? d->im[from] : 0;
                out->value[(c * V + v) * all + first + step * j] = re;
                squares += (double)re * (double)re + (double)im * (double)im;
            }
            if (out->modulus) out->modulus[c * all + first + step * j] = (float)sqrt(squares);
        }
}

static int join(const direction *forth, const direction *back, lra_kernels_answer *out, lra_err *e)
{
    if (back->re && (forth->channels != back->channels || forth->components != back->components))
        return lra_fail(e, "the two directions have %lld and %lld channels, expected equal numbers",
                        (long long)forth->channels, (long long)back->channels);
    *out = (lra_kernels_answer){.channels = forth->channels,
                                .components = forth->components,
                                .behind = back->lags,
                                .ahead = forth->lags};
    int64_t n = out->channels * (out->behind + out->ahead);
    out->value = lra_try_array(n * out->components, sizeof(float), "kernels", e);
    if (!out->value) return LRA_FAILED;
    if (forth->im || back->im) {
        out->modulus = lra_try_array(n, sizeof(float), "kernels", e);
        if (!out->modulus) return LRA_FAILED;
    }
    put(forth, out->behind, 1, out);
    if (back->re) put(back, out->behind - 1, -1, out);
    return 0;
}

/* name: the arrays of kernel, kernel_back, kernel_im, kernel_back_im. */
static int read_kernels(const lra_safetensors *t, const char *const name[4],
                        lra_kernels_answer *out, lra_err *e)
{
    direction forth = {.channels = 0}, back = {.channels = 0};
    *out = (lra_kernels_answer){.channels = 0};
    int rc = read_direction(t, name[0], name[2], &forth, e);
    if (rc == 0 && lra_safetensors_find(t, name[1]))
        rc = read_direction(t, name[1], name[3], &back, e);
    if (rc == 0) rc = join(&forth, &back, out, e);
    free_direction(&forth);
    free_direction(&back);
    return rc;
}

int lra_kernels_of_message(const lra_safetensors *t, int64_t lags, lra_kernels_answer *out,
                           lra_err *e)
{
    static const char *const name[] = {"kernel", "kernel_back", "kernel_im", "kernel_back_im"};
    int rc = read_kernels(t, name, out, e);
    if (rc == 0 && (out->ahead > lags || out->behind > lags))
        rc = lra_fail(e, "'kernel' has %lld lags, at most %lld were requested",
                      (long long)(out->ahead > lags ? out->ahead : out->behind), (long long)lags);
    return rc;
}

int lra_kernels_of_file(const lra_safetensors *t, const char *prefix, const char *layer,
                        lra_kernels_answer *out, lra_err *e)
{
    static const char *const suffix[] = {"", "/back", "/im", "/back/im"};
    char *name[4];
    for (int i = 0; i < 4; i++) name[i] = lra_format("%s/%s%s", prefix, layer, suffix[i]);
    int rc = read_kernels(t, (const char *const *)name, out, e);
    for (int i = 0; i < 4; i++) lra_free(name[i]);
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Adds lags first, first + step, .. (n of them): the real parts, or (imaginary) sqrt(modulus^2 -
 * sum of the squared real parts), stored in the first component. */
static void add_direction(const lra_kernels_answer *k, const char *name, bool imaginary,
                          int64_t first, int64_t step, int64_t n, lra_wire *to)
{
    int64_t V = k->components, all = k->behind + k->ahead, dims[3] = {k->channels, V, n};
    float *x = lra_alloc_array((size_t)(k->channels * V * n), sizeof *x);
    for (int64_t c = 0; c < k->channels; c++)
        for (int64_t j = 0; j < n; j++) {
            int64_t at = first + step * j;
            double rest = 0;
            for (int64_t v = 0; v < V; v++) {
                double re = (double)k->value[(c * V + v) * all + at];
                x[(c * V + v) * n + j] = imaginary ? 0 : (float)re;
                rest -= re * re;
            }
            if (!imaginary) continue;
            double modulus = (double)k->modulus[c * all + at];
            x[c * V * n + j] = (float)sqrt(fmax(modulus * modulus + rest, 0));
        }
    if (V == 1) dims[1] = n;
    lra_wire_add(to, name, LRA_DTYPE_F32, V == 1 ? 2 : 3, dims, x);
}

void lra_kernels_to_message(const lra_kernels_answer *k, lra_wire *to)
{
    add_direction(k, "kernel", false, k->behind, 1, k->ahead, to);
    if (k->modulus) add_direction(k, "kernel_im", true, k->behind, 1, k->ahead, to);
    if (k->behind == 0) return;
    add_direction(k, "kernel_back", false, k->behind - 1, -1, k->behind, to);
    if (k->modulus) add_direction(k, "kernel_back_im", true, k->behind - 1, -1, k->behind, to);
}
