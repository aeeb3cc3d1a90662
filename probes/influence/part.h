/* A part of `lra-probe influence`: one measurement procedure, which is announced, measured and
 * saved by itself. A part is a record in a file of this folder and a line in parts.def; the record
 * declares everything that the program knows about it. A part that evaluates the model on perturbed
 * inputs declares the perturbation (perturb.h) and needs no procedure. */
#ifndef LRA_PROBES_INFLUENCE_PART_H
#define LRA_PROBES_INFLUENCE_PART_H

#include "analysis/gain.h"
#include "kernels/base/cli/options.h"
#include "models/training/loaded_model.h"
#include "probes/influence/perturb.h"
#include "probes/shared/steps.h"
#include "probes/run/finished_run.h"
#include "reports/results/probe_result.h"

typedef struct {
    const lra_finished_run *run;
    const lra_options *options; /* of the command */
    lra_train_spec spec;
    lra_device device;
    lra_steps steps;
    lra_probe_result *out; /* receives the units */
} lra_influence;

/* A setting on which the measurements of a part depend, besides its examples. Its value is a line
 * NAME=VALUE of the file; a part that was measured with another value is measured again. */
enum { LRA_SETTING_TEXT = 32 };
typedef struct {
    const char *name;
    const char *absent; /* value of files without the line */
    void (*value)(const lra_influence *p, char text[LRA_SETTING_TEXT]);
} lra_part_setting;

typedef struct lra_influence_part {
    const char *name, *summary;
    int64_t examples; /* of the test split; the default */
    int64_t least;    /* minimum number of examples, 1 or 2 */
    /* Units that it measures besides the one of its own name; "cut.*": any name in place of *; NULL
     * after the last. Nullable */
    const char *const *units;
    uint32_t nulls; /* null values of its measurements: LRA_NULL_BIT() of each kind */
    const lra_part_setting *settings; /* a name of NULL after the last. Nullable */
    /* Reason why it is undefined for this run; NULL: it is defined. Nullable: always defined */
    const char *(*undefined)(const lra_influence *p);
    /* A hint for the user of a run for which it is undefined; NULL: none. Nullable */
    const char *(*hint)(const lra_influence *p);
    /* Checks the options of the part. Nullable */
    int (*check)(const lra_influence *p, lra_err *e);
    /* True: the units of a file are measured again, with equal settings, too. Nullable */
    bool (*outdated)(const lra_influence *p, const lra_probe_result *old);
    /* A perturbation, or both functions: the cost in passes of one example through the network; the
     * measurement. */
    const lra_perturbation *perturbation;
    double (*passes)(const lra_influence *p, int64_t examples);
    int (*measure)(lra_influence *p, int64_t examples, lra_err *e);
} lra_influence_part;
#define LRA_NULL_BIT(kind) (UINT32_C(1) << (kind))

#define LRA_PART(name)         extern const lra_influence_part lra_part_##name;
#define LRA_PART_OPTIONS(name) extern const lra_option lra_part_##name##_options[];
#include "probes/influence/parts.def"

/* ---- shared by the parts -------------------------------------------------------------------- */

/* Gains of restricted outputs by ascending x: row (points, n) and full (n) are of the rows index[i]
 * of the test split. */
void lra_influence_gain(const lra_influence *p, int64_t n, const int64_t *index, int n_points,
                        const double *x, const lra_sums *row, const lra_sums *full, lra_gain *out);
/* Gain of the first restriction of row (2, n) minus that of the second, paired. */
lra_estimate lra_influence_difference(const lra_influence *p, int64_t n, const int64_t *index,
                                      const lra_sums *row, const lra_sums *full);
/* Writes arrays x, gain, value (points, 3: value and interval) of a gain, and the measurements
 * PREFIX50 .. PREFIX99 of `unit`, and AREA if it is not NULL. Nullable: prefix, area */
void lra_influence_add_gain(lra_influence *p, lra_probe_unit *u, const char *prefix,
                            const char *area, const lra_gain *g, int64_t n);
/* The measurement PREFIX of a share of lra_gain_shares. Its interval begins one token above the
 * next smaller restriction; if only the complete input keeps the share, the value is the largest
 * restriction, as a bound (flag censored). */
lra_measurement lra_influence_least(const char *prefix, int share, const lra_gain *g, int64_t n);
/* The same, only the measurements. */
void lra_influence_add_least(lra_probe_unit *u, const char *prefix, const char *area,
                             const lra_gain *g, int64_t n);
/* The measurement named PREFIX MORE (concatenated) of n examples, with an x in tokens; INFINITY:
 * not reached. */
lra_measurement lra_influence_threshold(const char *prefix, const char *more, const lra_estimate *x,
                                        int64_t n);
/* The profile's curves and measurements. */
typedef struct lra_profile lra_profile;
void lra_influence_add_curves(lra_probe_unit *u, const lra_profile *p);
/* Reason why tokens cannot be given explicit position ids (lra_network_spec.placed); NULL: they
 * can. */
const char *lra_influence_unplaced(const lra_influence *p);
/* Value of the setting NAME-equal: the inputs that the uniform baseline covers, "past" of a causal
 * model, else "both". Older files cover both sides of a causal model. */
void lra_influence_sides(const lra_influence *p, char text[LRA_SETTING_TEXT]);
#define LRA_UNIFORM_SETTING(name)                                                                  \
    {                                                                                              \
        name "-equal", "both", lra_influence_sides                                                 \
    }
/* Number of rows of the test split, at most `examples`. */
int64_t lra_influence_rows(const lra_influence *p, int64_t examples);

#endif
