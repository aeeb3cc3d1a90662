/* A part of `lra-probe influence`: one measurement procedure, which is announced, measured and
 * saved separately. A part is a record in a file of this folder and a line in parts.def; the record
 * declares everything that the program knows about the part. A part that evaluates the model on
 * perturbed inputs declares the perturbation (perturb.h) and needs no procedure. */
#ifndef LRA_PROBES_INFLUENCE_PART_H
#define LRA_PROBES_INFLUENCE_PART_H

#include <jansson.h>

#include "analysis/gain.h"
#include "kernels/base/cli/options.h"
#include "models/training/loaded_model.h"
#include "probes/influence/perturb.h"
#include "probes/shared/steps.h"
#include "probes/run/finished_run.h"
#include "probes/shared/subject.h"
#include "reports/results/probe_result.h"

/* A run of the built-in engine, for parts that change its graphs. */
typedef struct {
    lra_train_spec spec;
    lra_device device;
} lra_engine_run;

/* A measurement of one model. Parts that only send requests to the model use the members subject
 * and result. */
typedef struct {
    lra_subject subject;
    const lra_result *result;    /* metric, labels and predictions of the test rows */
    const lra_options *options;  /* parsed options of the command. Nullable: defaults */
    lra_engine_run *engine;      /* Nullable: the model is no run of the built-in engine */
    const lra_finished_run *run; /* the run that `engine` loaded. Nullable */
    /* Returns the reason why a part is not measured, or NULL. Nullable */
    const char *(*refused)(const void *context, const char *part);
    const void *refused_context;
    const lra_model_checks *checks; /* checks of an external model, for the file. Nullable */
    /* Pairs of a name and a reason (NULL: none) of requested parts with files of their own, for the
     * list of parts that are left out; ends with NULL. Nullable */
    const char *const *other_parts;
    json_t *planned;         /* receives the plan of each model. Nullable */
    const char *folder, *to; /* folders of an earlier influence.h5, and of the new one */
    bool unsaved;            /* true: no file is read or written; for the plan of an audit */
    lra_steps steps;
    lra_probe_result *out; /* result to which the measured units are added */
} lra_influence;

/* A setting, besides the number of examples, on which the measurements of a part depend. Its value
 * is a line NAME=VALUE of the file. If the value in the file differs from the current one, the part
 * is measured again. */
enum { LRA_SETTING_TEXT = 32 };
typedef struct {
    const char *name;
    const char *absent; /* value that is assumed for files without the line */
    void (*value)(const lra_influence *p, char text[LRA_SETTING_TEXT]);
} lra_part_setting;

typedef struct lra_influence_part {
    const char *name, *summary;
    int64_t examples; /* default number of examples of the test split */
    /* the same for models that answer requests, which are slower; 0: `examples` */
    int64_t examples_by_requests;
    int64_t least; /* minimum number of examples, 1 or 2 */
    /* Units of the part, besides the unit named like the part; in "cut.*" the asterisk stands for
     * any text. Ends with NULL. Nullable */
    const char *const *units;
    /* bit mask of the null values that its measurements can have (LRA_NULL_BIT()) */
    uint32_t nulls;
    /* settings on which the measurements depend; ends with a record whose name is NULL. Nullable */
    const lra_part_setting *settings;
    uint32_t needs; /* LRA_ANSWERS_.. bits of the requests of the part */
    bool engine;    /* the part changes graphs of the built-in engine */
    /* Reason why the part is undefined for this run, or NULL if it is defined. Nullable: always
     * defined */
    const char *(*undefined)(const lra_influence *p);
    /* Hint that is printed if the part is undefined for a run, or NULL. Nullable */
    const char *(*hint)(const lra_influence *p);
    /* Checks the command-line options of the part. Nullable */
    int (*check)(const lra_influence *p, lra_err *e);
    /* True if the units in the file must be measured again although the settings are equal.
     * Nullable */
    bool (*outdated)(const lra_influence *p, const lra_probe_result *old);
    /* Either a perturbation, or both functions. passes(): cost as the number of forward passes of
     * one example; measure(): the measurement. */
    const lra_perturbation *perturbation;
    double (*passes)(const lra_influence *p, int64_t examples);
    int (*measure)(lra_influence *p, int64_t examples, lra_err *e);
} lra_influence_part;
#define LRA_NULL_BIT(kind) (UINT32_C(1) << (kind))

#define LRA_PART(name)         extern const lra_influence_part lra_part_##name;
#define LRA_PART_OPTIONS(name) extern const lra_option lra_part_##name##_options[];
#include "probes/influence/parts.def"

/* ---- shared by the parts -------------------------------------------------------------------- */

/* Reason why gains are undefined for the subject whatever the model predicts (the rows have no
 * labels, or a check found the outputs in another order than the labels); NULL if they are
 * defined. */
const char *lra_influence_no_gains(const lra_influence *p);
/* Computes gains by ascending x. row (points, n) and full (n): restricted and unrestricted outputs
 * of the rows index[0..n-1] of the test split. */
void lra_influence_gain(const lra_influence *p, int64_t n, const int64_t *index, int n_points,
                        const double *x, const lra_sums *row, const lra_sums *full, lra_gain *out);
/* Gain of the first restriction, row (2, n), minus that of the second, paired over rows. */
lra_estimate lra_influence_difference(const lra_influence *p, int64_t n, const int64_t *index,
                                      const lra_sums *row, const lra_sums *full);
/* Writes the curve of a gain as arrays x (points), gain and value (points, 3: estimate, lower and
 * upper end), and the measurements PREFIX50 .. PREFIX99 and AREA of the unit. Nullable: prefix,
 * area */
void lra_influence_add_gain(lra_influence *p, lra_probe_unit *u, const char *prefix,
                            const char *area, const lra_gain *g, int64_t n);
/* Returns the first point that keeps a share q of the gain, if the gap to the previous x is still
 * larger than one token and than 1/16 of that x; else 0. */
int lra_influence_coarse(const lra_gain *g, double q);
/* The measurement of the smallest x that keeps share number `share` of lra_gain_shares; its id is
 * PREFIX and the percentage. Its interval begins one token above the next smaller restriction. If
 * only the complete input keeps the share, the value is the largest restriction, as a lower bound
 * (flag censored). */
lra_measurement lra_influence_least(const char *prefix, int share, const lra_gain *g, int64_t n);
/* Writes the same measurements as lra_influence_add_gain(), without the arrays. */
void lra_influence_add_least(lra_probe_unit *u, const char *prefix, const char *area,
                             const lra_gain *g, int64_t n);
/* The measurement with id PREFIX MORE (concatenated) of a threshold x in tokens over n examples.
 * INFINITY: the threshold is not reached (flag censored). */
lra_measurement lra_influence_threshold(const char *prefix, const char *more, const lra_estimate *x,
                                        int64_t n);
/* Adds the curves of a distance profile to a unit. */
typedef struct lra_profile lra_profile;
void lra_influence_add_curves(lra_probe_unit *u, const lra_profile *p);
/* Reason why tokens cannot have explicit position ids (lra_network_spec.explicit_positions), or
 * NULL if they can. */
const char *lra_influence_no_position_ids(const lra_influence *p);
/* Value of the setting NAME-equal: which inputs the uniform baseline covers, "past" for a causal
 * model, else "both". In files without the setting, the baseline of a causal model also covers
 * later inputs. */
void lra_influence_sides(const lra_influence *p, char text[LRA_SETTING_TEXT]);
#define LRA_UNIFORM_SETTING(name)                                                                  \
    {                                                                                              \
        name "-equal", "both", lra_influence_sides                                                 \
    }
/* Value of the setting NAME-donors: the number of rows that exchange tokens (lra_subject.donors);
 * "batch" for runs of this program, which use their training batch. Files without the setting used
 * the batch of the command. */
void lra_influence_donors(const lra_influence *p, char text[LRA_SETTING_TEXT]);
#define LRA_DONORS_SETTING(name)                                                                   \
    {                                                                                              \
        name "-donors", "batch", lra_influence_donors                                              \
    }
/* True if the model can be measured with initial weights; otherwise null values of initial weights
 * and differences from them are left out. */
bool lra_influence_has_initial(const lra_influence *p);
/* Number of sets of weights: 2, or 1 without initial weights. */
double lra_influence_weights(const lra_influence *p);
/* min(rows of the test split, examples); all rows if examples is 0. */
int64_t lra_influence_rows(const lra_influence *p, int64_t examples);

#endif
