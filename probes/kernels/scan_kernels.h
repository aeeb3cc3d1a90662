/* Convolutions that are computed as scans: dense layers around a diagonal recurrence (lru, s5),
 *   y_c = sum over inputs i and lags d of K_(c,i)(d) u_i,   K_(c,i)(d) = Re sum_n g_(n,c) b_(i,n) lambda_n^d,
 * a matrix for each lag; from both ends two of them, which share b and lag 0. */
#ifndef LRA_PROBES_KERNELS_SCAN_KERNELS_H
#define LRA_PROBES_KERNELS_SCAN_KERNELS_H

#include "models/training/loaded_model.h"
#include "probes/kernels/modes.h"

/* Complex numbers, (.., 2) real and imaginary parts. */
typedef struct {
    int64_t sides, N, inputs, outputs; /* sides 2: the second looks ahead */
    double *lambda, *b, *g;            /* (N), (inputs,N), (sides,N,outputs) */
} lra_scan_map;

/* Scans from the past that are not half of another, in the order of the graph; returns their number
 * (at most `most`). */
int lra_scans_find(const lra_graph *g, int most, lra_tensor **scan);
/* Asks for the numbers of one; fails where something else than dense layers stands around it. */
int lra_scan_ask(lra_length_graph *v, lra_tensor *scan, lra_err *e);
/* After a run; what to ask for is asked again. */
int lra_scan_read(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e);
void lra_scan_map_free(lra_scan_map *m);
/* Without numbers: what the shapes tell. */
int lra_scan_sizes(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e);

/* k: (n, inputs, behind + ahead) of the outputs 0, step, 2 step, ..; lag -behind first.  mod: (n,
 * behind + ahead) norms over the inputs of the moduli of the sums without Re; false: they are real.
 * Nullable: mod */
bool lra_scan_kernels(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                      double *k, double *mod);
/* (n) share of the squares of each that lies beyond its lags, in closed form; 1: some mode does not
 * decay. */
void lra_scan_cuts(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                   const double *k, double *cut);
/* lambda as modes; w: what they start with, |g_n| |b_n|, of each side. */
void lra_scan_modes(const lra_scan_map *m, lra_modes *to);

#endif
