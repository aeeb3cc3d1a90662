/* A measured value as it is stored and printed: with its interval, its null values, and its numbers
 * of examples and seeds. */
#ifndef LRA_ANALYSIS_MEASUREMENT_H
#define LRA_ANALYSIS_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_MEASUREMENT_ID = 48, LRA_MEASUREMENT_UNIT = 16 };

typedef enum {
    LRA_CENSORED = 1, /* a threshold was not reached; the value is a bound */
    LRA_FLAT = 2,     /* not distinguishable from a value without dependence on distance */
    LRA_ONE_SEED = 4, /* the interval does not include the variance over seeds */
    LRA_CLIPPED = 8,
    LRA_APPROX = 16,     /* computed from a sample */
    LRA_FALLBACK = 32,   /* computed by a method other than the requested one */
    LRA_ILL_FORMED = 64, /* measured on inputs that the task does not produce */
    /* the variance over seeds exceeds that over examples, with fewer than five seeds */
    LRA_FEW_SEEDS = 128,
    /* the lower end of the interval is a bound */
    LRA_CENSORED_LO = 256,
    LRA_CENSORED_HI = 512,
    LRA_NOISE = 1024, /* a share is below 0, because of noise */
    LRA_NO_GAIN =
        2048, /* gains are undefined: no labels, or outputs in another order than labels */
    LRA_NO_MEDIAN = 4096 /* a ratio is undefined, because the median that divides it is almost 0 */
} lra_measurement_flag;
enum { LRA_MEASUREMENT_FLAGS = 13 };
/* Name of flag i, such as "censored"; NULL after the last. */
const char *lra_measurement_flag_name(int i);

/* Kinds of null values: the expected value if nothing had been learned, or if distance did not
 * matter. */
typedef enum {
    LRA_NULL_UNIFORM,
    LRA_NULL_INIT,
    LRA_NULL_SHUFFLED,
    LRA_NULL_PERM,
    LRA_NULLS
} lra_null;
extern const char *const lra_null_names[LRA_NULLS];

typedef struct {
    /* id such as "range.mean"; an id is never used again with another meaning */
    char id[LRA_MEASUREMENT_ID];
    char unit[LRA_MEASUREMENT_UNIT]; /* "tokens"; "1": a number without unit */
    double value, lo, hi;            /* value and 95 % interval; NAN: unknown */
    double null[LRA_NULLS];          /* null values; NAN: none */
    /* Numbers of examples and seeds; examples 0: computed from the model's weights, without
     * examples. */
    int64_t examples, seeds;
    int64_t undefined; /* number of excluded rows */
    uint32_t flags;
} lra_measurement;

/* Returns a measurement of one seed without interval and null values. Its unit is that of the
 * declaration in analysis/measurements.def, where every id is declared. id "": unit 1; the caller
 * sets the id. */
lra_measurement lra_measurement_of(const char *id, double value);
/* Changes the unit tokens to pixels, for distances in images; other units are unchanged. */
void lra_measurement_in_pixels(lra_measurement *f);
/* Checks unit and value of a measurement read from a file against its declaration. Ids without
 * declaration (files of other versions) are accepted. */
int lra_measurement_check(const lra_measurement *f, lra_err *e);
/* Returns the measurement with this id; NULL if the list does not contain it. */
const lra_measurement *lra_measurement_find(int n, const lra_measurement *list, const char *id);
/* Sets null values: those of kind `kind` are the values of the same ids in `from`. */
void lra_measurements_null(int n, lra_measurement *list, int n_from, const lra_measurement *from,
                           lra_null kind);
/* Combines one measurement over seeds: their mean, and the interval
 *   value +- sqrt( (mean of the half widths over examples)^2 + t(S-1)^2 s^2/S )
 * All seeds use the same examples, so that the example term does not decrease with the number of
 * seeds. NaN values are excluded from both terms; asymmetric intervals remain asymmetric. */
lra_measurement lra_measurement_of_seeds(int n_seeds, const lra_measurement *by_seed);

#endif
