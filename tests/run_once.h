/* A graph that a test runs once, on the CPU. */
#ifndef LRA_TESTS_RUN_ONCE_H
#define LRA_TESTS_RUN_ONCE_H

#include "kernels/graph/graph.h"

typedef struct {
    const lra_tensor *to; /* NULL: left out */
    const void *data;
} run_input;

/* Sets n inputs, computes y, copies it to `out` and frees its graph. */
void run_once(lra_tensor *y, int n_threads, int n, const run_input *in, void *out);

#endif
