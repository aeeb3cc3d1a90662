/* Modes of state spaces (diagonal, or diagonal plus low rank), computed from the parameters of the
 * node that computes their kernels. */
#ifndef LRA_PROBES_KERNELS_MODES_H
#define LRA_PROBES_KERNELS_MODES_H

#include "models/training/loaded_model.h"

/* Kernels as sums of modes: k_r(d) = scale Re sum_n w_n exp(x_n d), d >= 0 */
typedef struct {
    /* rows: number of kernels, all of the first direction, then all of the second; n: modes per
     * kernel */
    int64_t rows, n;
    double scale;
    double *x, *w; /* (rows, n, 2) real and imaginary parts */
    /* Diagonal plus low rank: computes the kernel without modes; the modes are valid only if they
     * reproduce it. NULL: the modes define the kernel. */
    struct lra_dplr_exact *exact;
} lra_modes;
void lra_modes_free(lra_modes *m);

/* The node that computes a tensor of kernels, found through operations that only move values (in a
 * concatenation, its first source). NULL: no state space computes it. */
lra_tensor *lra_modes_node(lra_tensor *kernel);
/* Reads a tensor after a forward pass, converted to double. The caller frees the array. NULL:
 * failure. */
double *lra_view_numbers(const lra_length_graph *v, const lra_tensor *x, lra_err *e);
void lra_modes_add_outputs(lra_length_graph *v, lra_tensor *node);
/* Computes the modes after a forward pass. */
int lra_modes_get(const lra_length_graph *v, lra_tensor *node, lra_modes *m, lra_err *e);

/* sum_(d >= from) k_r(d)^2 in closed form; INFINITY if a mode does not decay. */
double lra_modes_energy(const lra_modes *m, int64_t row, int64_t from);
/* k_r(d) at one lag d. */
double lra_modes_value(const lra_modes *m, int64_t row, int64_t d);

/* Writes lags 0 .. n-1 of the complex kernel whose real part is k_r: z (n,2). It is the sum without
 * Re. For diagonal plus low rank, it is twice the sum over the stored mode of each conjugate pair,
 * in the trained basis (without eigenvalues). */
void lra_modes_complex(const lra_modes *m, int64_t row, int64_t n, double *z);

/* The parameters of a diagonal-plus-low-rank kernel, as in kernels/ops/ssm/dplr_kernel.c: a, b, p,
 * q (2,channels,modes), c (2,rows,modes), dt (channels). */
typedef struct {
    int64_t L, channels, rows, modes;
    const double *a, *b, *p, *q, *c, *dt;
} lra_dplr_numbers;
/* Computes values and energies of row r of c without modes. NULL: not possible for these
 * parameters. */
typedef struct lra_dplr_exact lra_dplr_exact;
lra_dplr_exact *lra_dplr_exact_new(const lra_dplr_numbers *s);
void lra_dplr_exact_free(lra_dplr_exact *x); /* Nullable: x */
double lra_dplr_value(const lra_dplr_exact *x, int64_t row, int64_t lag);
double lra_dplr_energy(const lra_dplr_exact *x, int64_t row, int64_t from);
void lra_dplr_complex(const lra_dplr_exact *x, int64_t row, int64_t n, double *z);
/* Computes the modes. Returns false if the eigenvalues do not converge; then there are no modes. */
bool lra_dplr_modes(const lra_dplr_numbers *s, lra_modes *m);

#endif
