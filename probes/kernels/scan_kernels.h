/* Convolutions that are computed as scans: dense layers around a diagonal recurrence (lru, s5),
 *   y_c = sum over inputs i and lags d of K_(c,i)(d) u_i,
 *   K_(c,i)(d) = Re sum_n g_(n,c) b_(i,n) lambda_n^d,
 * with one matrix for each lag; a two-way scan has two kernels, which share b and lag 0. */
#ifndef LRA_PROBES_KERNELS_SCAN_KERNELS_H
#define LRA_PROBES_KERNELS_SCAN_KERNELS_H

#include "models/training/loaded_model.h"
#include "probes/kernels/modes.h"

/* Complex numbers, (.., 2) real and imaginary parts. */
typedef struct {
    int64_t sides, N, inputs, outputs; /* sides 2: the second looks ahead */
    double *lambda, *b, *g;            /* (N), (inputs,N), (sides,N,outputs) */
} lra_scan_map;

/* Scans in graph order; of a pair of scans in both directions only the one from the past. Returns
 * their number (at most `most`). */
int lra_scans_find(const lra_graph *g, int most, lra_tensor **scan);
/* Requests the numbers of one scan; fails if it is surrounded by anything other than dense
 * layers. */
int lra_scan_ask(lra_length_graph *v, lra_tensor *scan, lra_err *e);
/* Reads the numbers after a forward pass; the nodes are found again, as in lra_scan_ask(). */
int lra_scan_read(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e);
void lra_scan_map_free(lra_scan_map *m);
/* Fills only the sizes, from the shapes of the tensors. */
int lra_scan_sizes(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e);

/* k: (n, inputs, behind + ahead) of the outputs 0, step, 2 step, ..; lag -behind first. mod: (n,
 * behind + ahead) norms over the inputs of the moduli of the sums without Re; false: they are real.
 * Nullable: mod */
bool lra_scan_kernels(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                      double *k, double *mod);
/* (n) share of the energy of each kernel beyond its lags, in closed form; 1: some mode does not
 * decay. */
void lra_scan_cuts(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                   const double *k, double *cut);
/* Returns lambda as modes; w: their initial amplitudes, |g_n| |b_n|, of each direction. */
void lra_scan_modes(const lra_scan_map *m, lra_modes *to);

#endif
