/* The host shim as a compute device, and the samples of operations that run on it. */
#ifndef LRA_TESTS_SHIM_DEVICE_H
#define LRA_TESTS_SHIM_DEVICE_H

#include "kernels/cuda/level.h"
#include "tests/fixtures/op_sample.h"

extern lra_cuda_level_kind shim_level; /* defined in gemm.c */
extern int shim_columns;               /* defined in map.cpp */
/* number of nodes so far that were fused into another node's kernel */
extern int shim_fused;

/* Opens a device that uses the memory and one thread of the CPU, and runs the bodies of CUDA
 * kernels. */
int shim_open(lra_device *d, lra_err *e);

/* A sample of an operation, its type, and the level of the kernels to use. */
typedef struct {
    const lra_op *op;
    int i;
    lra_type type;
    lra_cuda_level_kind level;
    int columns;
    double tolerance; /* largest error relative to the CPU's result */
} shim_case;

/* Calls f for each combination of type and kernel level of a sample. */
void shim_each_case(const lra_op *op, int i, void (*f)(const shim_case *c));
/* Runs a case on the shim, forward and with gradients. backwards: threads run from last to
 * first. */
result shim_run_case(const shim_case *c, bool backwards, bool poison);

#endif
