/* Atomic and tensor-core instructions on the host shim, as the PTX manual lays them out over a
 * warp; kernels/cuda/tensor.h says what they do.  Copies: copies.c. */
#ifndef LRA_TESTS_SHIM_TENSOR_H
#define LRA_TESTS_SHIM_TENSOR_H

#include "tests/shim/shim.h"

#ifdef __cplusplus
template <class T> SHIM_UNSEEN static void atomicAdd(T *at, T value)
{
    shim_access(at, sizeof *at, SHIM_ATOMIC);
    *at += value;
}
template <class T> SHIM_UNSEEN static void atomicMax(T *at, T value)
{
    shim_access(at, sizeof *at, SHIM_ATOMIC);
    if (*at < value) *at = value;
}

static inline void tc_copy16(void *shared, const void *global, bool valid)
{
    shim_copy(shared, global, 16, valid);
}
static inline void tc_copy8(void *shared, const void *global, bool valid)
{
    shim_copy(shared, global, 8, valid);
}
static inline void tc_commit(void)
{
    shim_copies_close();
}
template <int PENDING>
static inline void tc_wait(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    shim_copies_wait(PENDING + shim_visit(SHIM_COPY_WAIT, file, line));
}

/* Loads four 8 x 8 matrices. Lane 8 j + r passes the address of row r of matrix j; lane 4 r + c
 * receives the elements 2 c and 2 c + 1 of row r of each matrix. */
static inline void tc_load4(uint32_t v[4], const void *row)
{
    const void *from;
    shim_check_row(row);
    memcpy(shim_slot(shim_lane()), &row, sizeof row);
    __syncwarp();
    for (int j = 0; j < 4; j++) {
        memcpy(&from, shim_slot(8 * j + shim_lane() / 4), sizeof from);
        memcpy(&v[j], (const uint32_t *)from + shim_lane() % 4, sizeof v[j]);
    }
    __syncwarp();
}
/* Loads four 8 x 8 matrices as tc_load4() does, but transposed. */
static inline void tc_load4_t(uint32_t v[4], const void *row)
{
    const void *from;
    shim_check_row(row);
    memcpy(shim_slot(shim_lane()), &row, sizeof row);
    __syncwarp();
    for (int j = 0; j < 4; j++) {
        uint32_t half[2];
        for (int k = 0; k < 2; k++) {
            memcpy(&from, shim_slot(8 * j + 2 * (shim_lane() % 4) + k), sizeof from);
            half[k] = ((const uint16_t *)from)[shim_lane() / 4];
        }
        v[j] = half[0] | half[1] << 16;
    }
    __syncwarp();
}

static inline float tc_half(uint32_t pair, int which)
{
    uint32_t bits = which ? pair & 0xFFFF0000u : pair << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Lane 4 g + t holds rows g, g + 8 of a at k 2t, 2t + 1 (+ 8), column g of b at the same k, and
 * rows g, g + 8 of c at columns 2t, 2t + 1. */
static inline void tc_mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    uint32_t own[6] = {a[0], a[1], a[2], a[3], b0, b1}, row[6], column[6];
    int g = shim_lane() / 4, t = shim_lane() % 4;
    memcpy(shim_slot(shim_lane()), own, sizeof own);
    __syncwarp();
    for (int s = 0; s < 4; s++) {
        memcpy(row, shim_slot(4 * g + s), sizeof row);
        for (int n = 0; n < 2; n++) {
            memcpy(column, shim_slot(4 * (2 * t + n) + s), sizeof column);
            for (int k = 0; k < 2; k++)
                for (int half = 0; half < 2; half++) {
                    float w = tc_half(column[4 + half], k);
                    c[n] += tc_half(row[2 * half], k) * w;
                    c[2 + n] += tc_half(row[2 * half + 1], k) * w;
                }
        }
    }
    __syncwarp();
}

static inline uint32_t tc_pair(float first, float second)
{
    uint32_t bits[2];
    memcpy(&bits[0], &first, sizeof first);
    memcpy(&bits[1], &second, sizeof second);
    for (int i = 0; i < 2; i++) bits[i] = (bits[i] + 0x7FFFu + (bits[i] >> 16 & 1u)) >> 16;
    return bits[0] | bits[1] << 16;
}
static inline float tc_exp2(float x)
{
    return exp2f(x);
}
#endif
#endif
