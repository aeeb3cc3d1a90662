/* The parts of `lra-probe influence`, which are announced, measured and saved one by one. To add
 * one: a record in a file of this folder, and one line in parts.def. */
#ifndef LRA_PROBES_INFLUENCE_PART_H
#define LRA_PROBES_INFLUENCE_PART_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"
#include "probes/run/finished_run.h"
#include "reports/results/probe_result.h"

typedef struct {
    const lra_finished_run *run;
    lra_train_spec spec;
    lra_device device;
    lra_steps steps;
    int n_lengths; /* of part length, ascending; 0: the default */
    int64_t length[LRA_GAIN_POINTS];
    int head_groups;       /* of part heads: maximum number of head groups in a layer */
    lra_probe_result *out; /* receives the units; their names begin with that of the part */
} lra_influence;

typedef struct {
    const char *name, *summary;
    int64_t examples; /* of the test split; the default */
    /* Reason why it is undefined for this run; NULL: it is defined. */
    const char *(*undefined)(const lra_influence *p);
    double (*passes)(const lra_influence *p, int64_t examples);
    int (*measure)(lra_influence *p, int64_t examples, lra_err *e);
    int64_t least; /* minimum number of examples, 1 or 2 */
} lra_influence_part;

#define LRA_PART(name) extern const lra_influence_part lra_part_##name;
#include "probes/influence/parts.def"
#undef LRA_PART
const lra_influence_part *lra_influence_part_at(int i); /* NULL after the last */

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
/* Number of rows of the test split, at most `examples`. */
int64_t lra_influence_rows(const lra_influence *p, int64_t examples);

#endif
