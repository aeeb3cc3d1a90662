/* The host shim as a device, and the samples that run on it. */
#ifndef LRA_TESTS_SHIM_DEVICE_H
#define LRA_TESTS_SHIM_DEVICE_H

#include "kernels/cuda/level.h"
#include "tests/fixtures/op_sample.h"

extern lra_cuda_level_kind shim_level; /* of gemm.c */
extern int shim_columns;               /* of map.cpp */
extern int shim_fused;                 /* nodes that ran in the kernel of another, so far */

/* Memory and threads of the CPU, one thread; the CUDA bodies. */
int shim_open(lra_device *d, lra_err *e);

/* One sample of an op, its type, the kernels that it uses. */
typedef struct {
    const lra_op *op;
    int i;
    lra_type type;
    lra_cuda_level_kind level;
    int columns;
    double tolerance; /* relative to the CPU */
} shim_case;

/* Calls f for each case of a sample. */
void shim_each_case(const lra_op *op, int i, void (*f)(const shim_case *c));
/* Runs a case on the shim: forward and gradients. */
result shim_run_case(const shim_case *c, bool backwards, bool poison);

#endif
