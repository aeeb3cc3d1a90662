/* Results of a probe on one run: for each unit (a layer, a head, the model) arrays for figures and
 * measurements for tables.  One HDF5 file, RUN/PROBE.h5 (kernels, attention, influence); FORMAT.md
 * describes it.
 *   r = lra_probe_result_new("kernels", run's result, &origin);
 *   u = lra_probe_unit_new(r, "layer0.head3");
 *   lra_probe_unit_array(u, "mass", 1, (int64_t[]){T}, mass);  lra_probe_unit_measurements(u, n, measurements);
 *   lra_probe_result_write(path, r, &e); */
#ifndef LRA_REPORTS_RESULTS_PROBE_RESULT_H
#define LRA_REPORTS_RESULTS_PROBE_RESULT_H

#include "analysis/measurement.h"
#include "reports/results/result.h"

enum {
    LRA_PROBE_RANK = 3,
    LRA_PROBE_UNITS = 1 << 14,
    LRA_PROBE_ARRAYS = 64,
    LRA_PROBE_FINDINGS = 1 << 20
};

typedef struct {
    char *name; /* "mass": a-z 0-9 and -_.:+, as all names here */
    int rank;
    int64_t dims[LRA_PROBE_RANK];
    float *value; /* NAN: undefined */
} lra_probe_array;

/* Curves over the points of the array `x` of a unit: value and interval, (points, 3). */
enum { LRA_PROBE_CURVES = 4 };
extern const struct lra_probe_curve {
    const char *name, *unit; /* "gain", "1" */
} lra_probe_curves[LRA_PROBE_CURVES];

typedef struct {
    char *name;
    int n_arrays, n_measurements;
    lra_probe_array *array;
    lra_measurement *measurement; /* ids differ */
} lra_probe_unit;

typedef struct {
    /* Identity of the run, as in result.h; texts are owned. */
    char *probe, *task, *model, *preset, *precision, *fingerprint, *run;
    char *config;
    char *user_label;  /* the user's name of the run; "": none */
    char *settings;    /* "key=value" lines: how it was measured (examples, split, budget, ...) */
    lra_origin origin; /* of this file */
    bool unsealed;
    int64_t seed, kernel, reach, max_length;
    int64_t grid; /* pixels in a row of the image; 0: none */
    int n_units;
    lra_probe_unit **unit;
} lra_probe_result;

/* Copies the identity from the run's result; takes ownership of the texts of the origin. */
lra_probe_result *lra_probe_result_new(const char *probe, const lra_result *run,
                                       const lra_origin *origin);
/* Adds a line "key=value" to the settings. */
void lra_probe_result_set(lra_probe_result *r, const char *key, const char *fmt, ...)
    LRA_PRINTF(3, 4);
/* Adds a unit, which is owned by r; its address stays valid. */
lra_probe_unit *lra_probe_unit_new(lra_probe_result *r, const char *name);
/* Adds copies to the unit. */
void lra_probe_unit_array(lra_probe_unit *u, const char *name, int rank, const int64_t *dims,
                          const double *value);
void lra_probe_unit_measurements(lra_probe_unit *u, int n, const lra_measurement *list);

int lra_probe_result_write(const char *path, const lra_probe_result *r, lra_err *e);
/* probe: the expected probe.  Nullable: any probe except 'listops', which has another file
 * format. */
lra_probe_result *lra_probe_result_read(const char *path, const char *probe, lra_err *e);
void lra_probe_result_free(lra_probe_result *r); /* Nullable: r */

/* NULL: there is none. */
const lra_probe_unit *lra_probe_unit_find(const lra_probe_result *r, const char *name);
const lra_probe_array *lra_probe_array_find(const lra_probe_unit *u, const char *name);
const lra_measurement *lra_probe_measurement(const lra_probe_unit *u, const char *id);

/* Identity of a cell, without the seed: the probe, the model, its data and configuration; the
 * caller frees it. */
char *lra_probe_identity(const lra_probe_result *r);

/* Loads every PROBE.h5 of n places (result_files.h), each configuration with each seed once
 * (load_files.h); returns their number (0: there are none), or -1.
 * The caller frees the list with lra_probe_results_free(). */
int lra_probe_results_load(int n, const char *const *place, const char *probe,
                           lra_probe_result ***list, lra_err *e);
void lra_probe_results_free(lra_probe_result **list, int n);

#endif
