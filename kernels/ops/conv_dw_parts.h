/* How the weight gradient of a convolution is cut on a GPU: into tiles of 64 x 64 channels for each tap and
 * group, and into parts of the rows B T where that gives fewer blocks than a large GPU can hold. */
#ifndef LRA_OPS_CONV_DW_PARTS_H
#define LRA_OPS_CONV_DW_PARTS_H

#include <stdint.h>

typedef struct {
    int64_t B, T, K, groups, n_in, n_out;
} conv_dw_sizes;

static inline int64_t conv_dw_parts(const conv_dw_sizes *s)
{
    int64_t blocks = s->K * s->groups * ((s->n_in + 63) / 64) * ((s->n_out + 63) / 64);
    int64_t parts = (528 + blocks - 1) / blocks, most = (s->B * s->T + 511) / 512;
    return parts < most ? parts : most;
}

/* Of a group, and of all. */
static inline int64_t conv_dw_size(const conv_dw_sizes *s)
{
    return s->K * s->n_in * s->n_out * s->groups;
}

#endif
