/* Modes of diagonal state spaces, from the node that makes their kernels. */
#ifndef LRA_PROBES_KERNELS_MODES_H
#define LRA_PROBES_KERNELS_MODES_H

#include "models/training/open.h"

/* k_r(d) = scale Re sum_n w_n exp(x_n d), d >= 0 */
typedef struct {
    int64_t rows, n; /* of kernels, directions after each other; modes of each */
    double scale;
    double *x, *w; /* (rows, n, 2) real and imaginary parts */
} lra_modes;

/* The node behind a tensor of kernels, through reshapes alone; NULL: they are not made by one. */
lra_tensor *lra_modes_node(lra_tensor *kernel);
void lra_modes_ask(lra_view *v, lra_tensor *node);
/* After a run. */
int lra_modes_get(const lra_view *v, lra_tensor *node, lra_modes *m, lra_err *e);

/* sum_(d >= T) k^2 / sum_(d >= 0) k^2 of the rows given, in closed form; 1: some mode does not decay. */
double lra_modes_cut(const lra_modes *m, int n_rows, const int64_t *row, int64_t T);
/* k_r(d) itself. */
double lra_modes_value(const lra_modes *m, int64_t row, int64_t d);

#endif
