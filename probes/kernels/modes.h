/* Modes of state spaces, diagonal ones and those of diagonal plus low rank, from the node that
 * makes their kernels. */
#ifndef LRA_PROBES_KERNELS_MODES_H
#define LRA_PROBES_KERNELS_MODES_H

#include "models/training/loaded_model.h"

/* k_r(d) = scale Re sum_n w_n exp(x_n d), d >= 0 */
typedef struct {
    int64_t rows, n; /* of kernels, directions after each other; modes of each */
    double scale;
    double *x, *w; /* (rows, n, 2) real and imaginary parts */
    /* Of diagonal plus low rank: the kernel without modes, and these are to be used where they give
     * it again.  NULL: they are the kernel. */
    struct lra_dplr_exact *exact;
} lra_modes;
void lra_modes_free(lra_modes *m);

/* The node behind a tensor of kernels, through what only moves numbers (the first part of what is
 * put together); NULL: they are not made by one. */
lra_tensor *lra_modes_node(lra_tensor *kernel);
/* The numbers of a tensor after a run, in double whatever its type; the caller frees them; NULL:
 * failed. */
double *lra_view_numbers(const lra_length_graph *v, const lra_tensor *x, lra_err *e);
void lra_modes_ask(lra_length_graph *v, lra_tensor *node);
/* After a run. */
int lra_modes_get(const lra_length_graph *v, lra_tensor *node, lra_modes *m, lra_err *e);

/* sum_(d >= from) of k_r(d)^2, in closed form; INFINITY: some mode does not decay. */
double lra_modes_energy(const lra_modes *m, int64_t row, int64_t from);
/* k_r(d) itself. */
double lra_modes_value(const lra_modes *m, int64_t row, int64_t d);

/* z: (n,2) lags 0 .. n-1 of the complex kernel that k_r is the real part of: the sum without Re; of
 * diagonal plus low rank twice what the stored half of the modes gives, in the basis that is
 * trained (without eigenvalues). */
void lra_modes_complex(const lra_modes *m, int64_t row, int64_t n, double *z);

/* What a kernel of diagonal plus low rank is made of, as kernels/ops/ssm/dplr_kernel.c has it: a,
 * b, p, q (2,channels,modes), c (2,rows,modes), dt (channels). */
typedef struct {
    int64_t L, channels, rows, modes;
    const double *a, *b, *p, *q, *c, *dt;
} lra_dplr_numbers;
/* Values and energies as above, of row r of c, that need no modes.  NULL: the numbers allow
 * none. */
typedef struct lra_dplr_exact lra_dplr_exact;
lra_dplr_exact *lra_dplr_exact_new(const lra_dplr_numbers *s);
void lra_dplr_exact_free(lra_dplr_exact *x); /* Nullable: x */
double lra_dplr_value(const lra_dplr_exact *x, int64_t row, int64_t lag);
double lra_dplr_energy(const lra_dplr_exact *x, int64_t row, int64_t from);
void lra_dplr_complex(const lra_dplr_exact *x, int64_t row, int64_t n, double *z);
/* False: the eigenvalues do not settle, and there are none. */
bool lra_dplr_modes(const lra_dplr_numbers *s, lra_modes *m);

#endif
