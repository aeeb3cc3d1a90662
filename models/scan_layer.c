/* Linear layers around a scan. */
#include "models/scan_layer.h"

#include <math.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/op.h"
#include "models/layers.h"

/* Returns y + scale Re(C x) for the N states of x. C: N columns of `out`, from `first` on.
 * =Nullable: y. */
static lra_tensor *read_out(lra_tensor *x, lra_tensor *out, int64_t first, double scale,
                            lra_tensor *y)
{
    int64_t N = lra_width(x) / 2, D = lra_width(out);
    lra_tensor *part = lra_slice(out, 1, first, N);
    lra_tensor *rows[] = {lra_affine(lra_slice(part, 0, 0, 1), scale, 0),
                          lra_affine(lra_slice(part, 0, 1, 1), -scale, 0)};
    lra_tensor *w = lra_reshape(lra_concat(2, rows, 0), LRA_SHAPE(2 * N, D));
    return lra_linear(x, w, NULL, LRA_ACT_NONE, y);
}

lra_tensor *lra_scan_layer(const lra_build *b, lra_tensor *u, lra_tensor *lambda, lra_tensor *in,
                           lra_tensor *out, lra_tensor *skip, double scale)
{
    int64_t N = lra_width(lambda), D = lra_width(u);
    lra_tensor *columns[] = {lra_slice(in, 0, 0, 1), lra_slice(in, 0, 1, 1)};
    lra_tensor *w = lra_reshape(lra_concat(2, columns, 2), LRA_SHAPE(D, 2 * N));
    lra_tensor *v = lra_linear(u, w, NULL, LRA_ACT_NONE, NULL);
    lra_tensor *y = lra_mul(u, lra_cast(skip, lra_elem(b->graph)));
    for (int side = 0; side < (int)(lra_tensor_shape(out).d[1] / N); side++) {
        lra_tensor *x = lra_scan(v, b->length, &(lra_scan_spec){lambda, side > 0});
        y = read_out(x, out, side * N, scale, y);
    }
    return y;
}

lra_tensor *lra_scan_linear(lra_tensor *x, const char *name, int64_t n_out)
{
    return lra_layer_linear_from(x, name, n_out,
                                 LRA_SPEC(LRA_TRUNCATED(1 / sqrt((double)lra_width(x)))),
                                 LRA_SPEC(.no_decay = true));
}

/* Standard deviation of a standard normal variable truncated at +-2. */
static const double CUT_DEVIATION = 0.87962566103423978;

void lra_scan_cut_normals(const lra_fill *f, uint32_t index, double deviation, int64_t n, double *v)
{
    lra_rng r = lra_rng_new(f->seed, f->stream, index);
    for (int64_t i = 0; i < n;) {
        double pair[2];
        uint32_t first = lra_rng_u32(&r);
        lra_normal2(first, lra_rng_u32(&r), &pair[0], &pair[1]);
        for (int k = 0; k < 2 && i < n; k++)
            if (fabs(pair[k]) <= 2) v[i++] = deviation / CUT_DEVIATION * pair[k];
    }
}

/* Initial weights (inputs,D) of an input layer. */
static void fill_inputs(const lra_fill *f, double *v)
{
    lra_scan_cut_normals(f, 0, 1 / sqrt((double)f->shape.d[0]), lra_shape_elements(f->shape), v);
}

lra_embed_start lra_scan_embedding(const lra_config *c, int64_t channels)
{
    (void)c, (void)channels;
    return (lra_embed_start){.table = {LRA_FILL(fill_inputs)}, .weight = {LRA_FILL(fill_inputs)}};
}

bool lra_scan_always(const lra_config *c)
{
    (void)c;
    return true;
}
