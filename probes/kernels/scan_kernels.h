/* Kernels of convolutions that are computed as scans: a diagonal recurrence between two dense
 * layers (lru, s5),
 *   y_c = sum over inputs i and lags d of K_(c,i)(d) u_i,
 *   K_(c,i)(d) = Re sum_n g_(n,c) b_(i,n) lambda_n^d.
 * K has one matrix for each lag. A bidirectional scan has two kernels, which share b; both
 * contribute to lag 0. */
#ifndef LRA_PROBES_KERNELS_SCAN_KERNELS_H
#define LRA_PROBES_KERNELS_SCAN_KERNELS_H

#include "models/training/loaded_model.h"
#include "probes/kernels/modes.h"

/* Parameters of a scan: complex values as (.., 2) real and imaginary parts. */
typedef struct {
    /* sides: number of directions; the second one is anticausal */
    int64_t sides, N, inputs, outputs;
    double *lambda, *b, *g; /* lambda (N), b (inputs,N), g (sides,N,outputs) */
} lra_scan_map;

/* Finds the scans of a graph, in graph order; of two scans in opposite directions only the causal
 * one. Writes at most `most`, returns their number. */
int lra_scans_find(const lra_graph *g, int most, lra_tensor **scan);
/* Requests the parameters of a scan. Fails if the ops around the scan are not dense layers. */
int lra_scan_add_outputs(lra_length_graph *v, lra_tensor *scan, lra_err *e);
/* Reads the parameters after a forward pass; the nodes are found again, as in
 * lra_scan_add_outputs(). */
int lra_scan_read(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e);
void lra_scan_map_free(lra_scan_map *m);
/* Fills only the sizes, from the shapes of the tensors; lambda, b and g are NULL. */
int lra_scan_sizes(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e);

/* Computes the kernels of the n outputs 0, step, 2 step, ..: k (n, inputs, behind + ahead), from
 * lag -behind to lag ahead - 1; mod (n, behind + ahead): norm over inputs of the complex kernels
 * (without Re). Returns false if the complex kernels are real. Nullable: mod */
bool lra_scan_kernels(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                      double *k, double *mod);
/* Share of the energy of each kernel beyond its lags, in closed form: cut (n); 1 if a mode does not
 * decay. */
void lra_scan_cuts(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                   const double *k, double *cut);
/* Returns ln lambda as modes, for each direction; the weights w are the initial amplitudes |g_n|
 * |b_n|. */
void lra_scan_modes(const lra_scan_map *m, lra_modes *to);

#endif
