/* The shape of one convolution kernel: distances, decay and roughness.
 *   w(d) = sum over the lags at distance d of |k|^2                range.* and dist.*; with suffix .p1: of |k|;
 *          lag 0 is the token's own share (self), which dist.* excludes
 *   kernel.tail      energy of the second half of its lags over the total
 *   kernel.tv        sum |k(d+1) - k(d)| / sum |k(d)|              2 for a single spike inside the range
 *   kernel.smooth    sum |k(d+1) - k(d)|^2 / sum |k(d)|^2          2 for white noise, 4 for alternating signs
 *   kernel.centroid  mean frequency of |FFT k|^2, zero-padded to at least twice its length;
 *                    cycles a token, 0 to 0.5
 *   kernel.bw95      frequency below which 95 % of the power lie
 *   decay.*          fits of analysis/decay.h to maxima of |k| in blocks of 16 lags, each at its
 *                    own lag, from lag 1 on; fewer than 128 lags: blocks of an eighth of them
 *   decay.test       Kendall's tau-b of the maxima
 * ID.mod is measurement ID for the modulus of a complex kernel (ID is that of its real part); it
 * shows the decay if the real part oscillates.  The taps of a kernel may be vectors (one output of
 * a dense convolution, one component per input); |k| is then their norm.
 * Known: a box of half width 15 has range.mean.p1 7.741935; 0.98^d has tau 49.4983. */
#ifndef LRA_ANALYSIS_KERNEL_SHAPE_H
#define LRA_ANALYSIS_KERNEL_SHAPE_H

#include "analysis/decay.h"
#include "analysis/measurement.h"

/* A kernel at lags -behind .. ahead-1; positive lags are in the past. */
typedef struct {
    int64_t components, behind, ahead;
    const double *k; /* (components, behind + ahead), lag -behind first */
} lra_kernel;

enum { LRA_KERNEL_MEASUREMENTS = 128 };
/* Writes the measurements to out; returns their number, 0 if the kernel is zero or not finite.
 * columns: width of an image in pixels; adds local.R.px, the share of energy within R pixels, where
 * a lag d is the offset (dy, dx) = (round(d/columns), the rest); 0: no image. Nullable: null (null
 * distribution for lra_kernel_blocks() blocks, made once for many kernels), p (p-value of
 * decay.test; NAN with fewer than five blocks). */
int lra_kernel_measurements(const lra_kernel *k, int64_t columns, const lra_kendall_null *null,
                            lra_measurement *out, double *p);
int lra_kernel_blocks(const lra_kernel *k);
/* Same as lra_kernel_measurements() for ranges, decay and kernel.tail, with the suffix .mod; k:
 * moduli. */
int lra_kernel_modulus_measurements(const lra_kernel *k, const lra_kendall_null *null,
                                    lra_measurement *out, double *p);

/* n = max(behind + 1, ahead), the number of distances. mass: (n) share of energy by distance.
 * Envelope: (n) e(d) = max of |k| at distances >= d, divided by e(0). */
int64_t lra_kernel_distances(const lra_kernel *k);
void lra_kernel_mass(const lra_kernel *k, double *mass);
void lra_kernel_envelope(const lra_kernel *k, double *envelope);

#endif
