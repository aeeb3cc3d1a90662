/* Measures attention heads that realise kernels (realised.h). */
#include "probes/kernels/realised.h"

#include <math.h>
#include <stdio.h>

#include "analysis/realised_kernel.h"
#include "kernels/base/core/mem.h"
#include "probes/kernels/over_channels.h"

enum { SAMPLED = 16, VALUES = 3 };
static const char *const id[VALUES] = {"theorem.one", "theorem.two", "theorem.negative"};

/* Adds theorem.distance.D for D = 0, 1, 2, 4, ..; by_distance: (T) largest errors over channels. */
static int add_distances(int64_t T, const double *by_distance, lra_measurement *out)
{
    int n = 0;
    for (int64_t d = 0; d < T; d = d ? 2 * d : 1) {
        double worst = NAN;
        for (int64_t i = d; i < T && i < (d ? 2 * d : 1); i++) worst = fmax(worst, by_distance[i]);
        char name[LRA_MEASUREMENT_ID];
        snprintf(name, sizeof name, "theorem.distance.%lld", (long long)d);
        out[n++] = lra_measurement_of(name, worst);
    }
    return n;
}

int lra_realised_measure(const lra_extracted_kernels *k, int state, lra_measurement *out)
{
    int64_t channels = k->channels < SAMPLED ? k->channels : SAMPLED, T = 0;
    if (k->components != 1) return 0;
    double *value = lra_alloc_array((size_t)(VALUES * channels + LRA_REALISED_TOKENS),
                                    sizeof *value);
    double *by_distance = value + VALUES * channels;
    for (int64_t d = 0; d < LRA_REALISED_TOKENS; d++) by_distance[d] = NAN;
    for (int64_t i = 0; i < channels; i++) {
        int64_t c = channels > 1 ? i * (k->channels - 1) / (channels - 1) : 0;
        lra_kernel kernel = lra_extract_channel(k, state, c);
        lra_realised r;
        bool known = lra_realise(&kernel, &r);
        const double of[VALUES] = {r.one, r.two, r.negative};
        for (int v = 0; v < VALUES; v++) value[v * channels + i] = known ? of[v] : NAN;
        for (int64_t d = 0; d < r.T && known; d++)
            by_distance[d] = fmax(by_distance[d], r.by_distance[d]);
        T = r.T;
    }
    int n = 0;
    for (int v = 0; v < VALUES; v++) {
        lra_measurement as = lra_measurement_of(id[v], 0);
        n += lra_over_channels(&as, channels, value + v * channels, out + n);
    }
    n += add_distances(T, by_distance, out + n);
    lra_free(value);
    return n;
}
