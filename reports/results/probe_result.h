/* Results of a probe on one run: for each unit (a layer, a head, the model) arrays for figures and
 * measurements for tables.  One HDF5 file, RUN/PROBE.h5 (kernels, attention, influence); FORMAT.md
 * describes it.
 *   r = lra_probe_result_new("kernels", run's result, &origin);
 *   u = lra_probe_unit_new(r, "layer0.head3");
 *   lra_probe_unit_array(u, "mass", 1, (int64_t[]){T}, mass);
 *   lra_probe_unit_measurements(u, n, measurements);
 *   lra_probe_result_write(path, r, &e); */
#ifndef LRA_REPORTS_RESULTS_PROBE_RESULT_H
#define LRA_REPORTS_RESULTS_PROBE_RESULT_H

#include "analysis/measurement.h"
#include "reports/results/model_checks.h"
#include "reports/results/result.h"

enum {
    LRA_PROBE_RANK = 3,
    LRA_PROBE_UNITS = 1 << 14,
    LRA_PROBE_ARRAYS = 64,
    LRA_PROBE_MEASUREMENTS = 1 << 20
};

typedef struct {
    /* name, for example "mass"; characters a-z 0-9 and -_.:+, as in all names of this file */
    char *name;
    int rank;
    int64_t dims[LRA_PROBE_RANK];
    float *value; /* values; NAN: undefined */
} lra_probe_array;

/* Curves over the points of the array `x` of a unit: arrays (points, 3) of value and interval. */
enum { LRA_PROBE_CURVES = 5 };
extern const struct lra_probe_curve {
    const char *name, *unit; /* name of the array and its unit, for example "gain", "1" */
} lra_probe_curves[LRA_PROBE_CURVES];

typedef struct {
    char *name;
    int n_arrays, n_measurements;
    lra_probe_array *array;
    lra_measurement *measurement; /* measurements with different ids */
} lra_probe_unit;

typedef struct {
    /* Identity of the run, as in result.h; texts are owned. */
    char *probe, *task, *model, *preset, *precision, *fingerprint, *run;
    char *config;
    char *user_label; /* value of --label; "": none */
    /* "key=value" lines that record how the run was measured (examples, split, budget, ...) */
    char *settings;
    /* "part: reason" lines: parts that were requested but not measured; "": none, or an older file */
    char *left_out;
    lra_model_checks checks; /* of an external model; none: not checked, or an older file */
    lra_origin origin;       /* origin of this file (not of the run) */
    bool unsealed;
    int64_t seed, kernel, reach, max_length;
    int64_t grid; /* pixels in a row of the image; 0: inputs are not images */
    int n_units;
    lra_probe_unit **unit;
} lra_probe_result;

/* Creates a result with the identity of a run; takes ownership of the texts of the origin. */
lra_probe_result *lra_probe_result_new(const char *probe, const lra_result *run,
                                       const lra_origin *origin);
/* Adds a line "key=value" to the settings. */
void lra_probe_result_set(lra_probe_result *r, const char *key, const char *fmt, ...)
    LRA_PRINTF(3, 4);
/* Removes all units after the first n. */
void lra_probe_result_cut(lra_probe_result *r, int n);
/* Replaces the line of a part in `left_out`. reason: one line; NULL: removes the line. */
void lra_probe_result_leave_out(lra_probe_result *r, const char *part, const char *reason);
/* Adds a unit. r owns it, and its address stays valid. */
lra_probe_unit *lra_probe_unit_new(lra_probe_result *r, const char *name);
/* Add copies of an array and of measurements to the unit. */
void lra_probe_unit_array(lra_probe_unit *u, const char *name, int rank, const int64_t *dims,
                          const double *value);
void lra_probe_unit_measurements(lra_probe_unit *u, int n, const lra_measurement *list);

int lra_probe_result_write(const char *path, const lra_probe_result *r, lra_err *e);
/* Reads a probe file. probe: the expected probe. Nullable: any probe except 'listops', whose file
 * format is different. */
lra_probe_result *lra_probe_result_read(const char *path, const char *probe, lra_err *e);
void lra_probe_result_free(lra_probe_result *r); /* Nullable: r */

/* Find a unit, an array or a measurement by name; NULL: there is none. */
const lra_probe_unit *lra_probe_unit_find(const lra_probe_result *r, const char *name);
const lra_probe_array *lra_probe_array_find(const lra_probe_unit *u, const char *name);
const lra_measurement *lra_probe_measurement(const lra_probe_unit *u, const char *id);

/* Identity of a cell, without the seed: the probe, the model, its data and its configuration, as
 * text. The caller frees it. */
char *lra_probe_identity(const lra_probe_result *r);

/* Loads every PROBE.h5 of n places (result_files.h); each configuration with each seed is loaded
 * once (load_files.h). Returns their number (0 if there are none), or -1. The caller frees the list
 * with lra_probe_results_free(). */
int lra_probe_results_load(int n, const char *const *place, const char *probe,
                           lra_probe_result ***list, lra_err *e);
void lra_probe_results_free(lra_probe_result **list, int n);

#endif
