/* Shape checks of the sources of convolution ops. */
#ifndef LRA_OPS_CONV_CONV_SHAPE_H
#define LRA_OPS_CONV_CONV_SHAPE_H

#include "kernels/graph/op.h"

/* Maximum dilation. From this dilation on all taps but the middle one read outside of every sample.
 * The limit keeps row offsets within 32 bits. */
enum { CONV_DILATION_MOST = 1 << 24 };

static inline int conv_check_dilation(int64_t dilation, lra_err *e)
{
    if (dilation >= 1 && dilation <= CONV_DILATION_MOST) return 0;
    return lra_fail(e, "dilation is %lld, expected 1 to %d", (long long)dilation,
                    CONV_DILATION_MOST);
}

/* Checks the rows (B,T,..) and the weights (K,D/G,H), where K is odd and H is divisible by G
 * groups. name, dims: name and dimensions of the rows in error messages. */
static inline int conv_check(const lra_tensor *rows, const char *name, const char *dims,
                             const lra_tensor *w, int64_t groups, int64_t dilation, lra_err *e)
{
    char text[96];
    if (lra_expect_float(rows, name, e) != 0 || lra_expect_float(w, "w", e) != 0) return LRA_FAILED;
    if (rows->shape.n != 3)
        return lra_fail(e, "%s has shape %s, expected %s", name, lra_shape_text(rows->shape, text),
                        dims);
    if (w->shape.n != 3)
        return lra_fail(e, "w has shape %s, expected (K,D/G,H)", lra_shape_text(w->shape, text));
    int64_t K = w->shape.d[0], H = lra_width(w);
    if (K % 2 == 0) return lra_fail(e, "kernel size %lld is even, expected odd", (long long)K);
    if (groups < 1 || H % groups != 0)
        return lra_fail(e, "%lld groups do not divide %lld channels", (long long)groups,
                        (long long)H);
    return conv_check_dilation(dilation, e);
}

#endif
