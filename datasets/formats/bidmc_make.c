/* Writes synthetic BIDMC files, for trials without the recordings. They contain no patient data and
 * do not model physiology: the vital signs of a series are drawn at random, and two signals of 32 s
 * at 125 Hz are composed from which they can be computed. The three vital signs differ in the
 * distance of the tokens that are needed to compute them:
 *   heart rate          beats 63 to 150 tokens apart; breathing changes the gaps by a few per cent
 *   respiratory rate    baseline, height and pace follow a sine of 290 to 940 tokens
 *   oxygen saturation   height of the second wave of a pulse, within 60 tokens:
 *                       (100 - SpO2) / 20 of the height of the first wave
 * A pulse is two Gaussian bells 0.16 s and 0.42 s after a beat; the electrocardiogram is five bells
 * (P Q R S T), as in the model of McSharry et al. 2003. HR is 60 (beats - 1) / (last beat - first
 * beat) of the drawn beats, RR 60 / the period of the sine. */
#include <math.h>
#include <string.h>

#include "datasets/formats/bidmc_file.h"
#include "datasets/formats/bidmc_make.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/base/os/signals.h"

enum { STEPS = 4000, RATE = 125, MAX_BEATS = 80, STREAM = 0x4249 };

typedef struct {
    double beat[MAX_BEATS]; /* times of the beats in seconds */
    int n_beats;
    /* heart rate and respiratory rate in 1/minute, oxygen saturation in per cent */
    double heart, breath, oxygen;
    double phase, depth; /* phase of breathing, strength of its effect on the signals */
} patient;

static double between(lra_rng *rng, double least, double most)
{
    return least + (most - least) * lra_rng_u01(rng);
}

static double breath_at(const patient *p, double seconds)
{
    return sin(6.283185307179586 * (p->breath / 60 * seconds + p->phase));
}

static patient draw_patient(lra_rng *rng)
{
    patient p = {.breath = between(rng, 8, 26), .oxygen = between(rng, 88, 100)};
    p.phase = lra_rng_u01(rng), p.depth = between(rng, 0.5, 1.5);
    double gap = 60 / between(rng, 50, 120), at = -gap * lra_rng_u01(rng);
    for (; at < (double)STEPS / RATE; p.n_beats++) {
        p.beat[p.n_beats] = at;
        at += gap * (1 + 0.03 * p.depth * breath_at(&p, at) + between(rng, -0.02, 0.02));
    }
    p.heart = 60 * (p.n_beats - 1) / (p.beat[p.n_beats - 1] - p.beat[0]);
    return p;
}

static double bell(double seconds, double centre, double width)
{
    double z = (seconds - centre) / width;
    return exp(-z * z / 2);
}

/* Returns the height of a pulse wave `s` seconds after its beat. */
static double pulse(const patient *p, double s)
{
    return bell(s, 0.16, 0.05) + (100 - p->oxygen) / 20 * bell(s, 0.42, 0.05);
}

static double electric(double s)
{
    static const double height[5] = {0.12, -0.1, 1, -0.2, 0.25};
    static const double centre[5] = {-0.17, -0.03, 0, 0.03, 0.22};
    static const double width[5] = {0.025, 0.01, 0.011, 0.01, 0.04};
    double sum = 0;
    for (int k = 0; k < 5; k++) sum += height[k] * bell(s, centre[k], width[k]);
    return sum;
}

/* Appends one line of a file: photoplethysmogram, electrocardiogram, target. */
static void add_series(lra_text *to, const char *target, lra_rng *rng)
{
    patient p = draw_patient(rng);
    for (int d = 0; d < 2; d++)
        for (int t = 0; t < STEPS; t++) {
            double s = (double)t / RATE, wave = 0, follow = p.depth * breath_at(&p, s);
            for (int b = 0; b < p.n_beats; b++) {
                double after = s - p.beat[b];
                if (after > -0.5 && after < 1) wave += d == 0 ? pulse(&p, after) : electric(after);
            }
            wave = (wave * (1 + 0.1 * follow) + (d == 0 ? 0.1 : 0.03) * follow) * 0.5 + 0.2;
            lra_text_add(to, "%.4f%s", wave + between(rng, -0.01, 0.01), t < STEPS - 1 ? "," : ":");
        }
    lra_text_add(to, "%.3f\n",
                 strcmp(target, "HR") == 0   ? p.heart
                 : strcmp(target, "RR") == 0 ? p.breath
                                             : p.oxygen);
}

static int write_part(const char *path, const char *target, int64_t first, int64_t n, lra_err *e)
{
    lra_text text = {0};
    lra_text_add(&text,
                 "%s\n@problemName BIDMC32%s\n@timeStamps false\n@missing false\n"
                 "@univariate false\n@dimensions 2\n@targetlabel true\n@data\n",
                 LRA_BIDMC_MADE_UP, target);
    int rc = 0;
    for (int64_t i = first; i < first + n && rc == 0; i++) {
        lra_rng rng = lra_rng_new(0, STREAM, (uint64_t)i);
        add_series(&text, target, &rng);
        if (lra_stop_signal()) rc = lra_fail(e, "stopped; '%s' was not written", path);
    }
    if (rc == 0) rc = lra_file_write(path, text.s, text.n, e);
    lra_text_free(&text);
    return rc;
}

int lra_bidmc_make(const char *target, int64_t n, const char *folder, bool again, lra_err *e)
{
    int64_t n_test = n < 7 ? 1 : n * 3 / 10, first[3] = {0, n - n_test, n};
    char *path[2];
    int rc = lra_folder_make(folder, e);
    for (int p = 0; p < 2; p++) {
        path[p] = lra_format("%s/BIDMC32%s_%s.ts", folder, target, p ? "TEST" : "TRAIN");
        if (rc == 0 && !again && lra_file_exists(path[p]))
            rc = lra_fail(e, "'%s' already exists; --force replaces it", path[p]);
    }
    for (int p = 0; p < 2; p++) {
        if (rc == 0) rc = write_part(path[p], target, first[p], first[p + 1] - first[p], e);
        lra_free(path[p]);
    }
    return rc;
}
