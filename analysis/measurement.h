/* A measured value as it is stored and printed: with its interval, its null values and the numbers
 * of examples and seeds. */
#ifndef LRA_ANALYSIS_MEASUREMENT_H
#define LRA_ANALYSIS_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_MEASUREMENT_ID = 48, LRA_MEASUREMENT_UNIT = 16 };

typedef enum {
    LRA_CENSORED = 1, /* a threshold was not reached: the value is a bound */
    LRA_FLAT = 2,     /* indistinguishable from no dependence on distance */
    LRA_ONE_SEED = 4, /* the interval does not include the variance over seeds */
    LRA_CLIPPED = 8,
    LRA_APPROX = 16,       /* sampled */
    LRA_FALLBACK = 32,     /* computed by another method than requested */
    LRA_ILL_FORMED = 64,   /* inputs that the task does not produce */
    LRA_FEW_SEEDS = 128,   /* seed variance exceeds example variance, with fewer than five seeds */
    LRA_CENSORED_LO = 256, /* the interval's lower end is not reached; its upper end */
    LRA_CENSORED_HI = 512,
    LRA_NOISE = 1024 /* a share below zero */
} lra_measurement_flag;
enum { LRA_MEASUREMENT_FLAGS = 11 };
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
    char id[LRA_MEASUREMENT_ID];     /* "range.mean": never reused with a new meaning */
    char unit[LRA_MEASUREMENT_UNIT]; /* "tokens"; "1": a number */
    double value, lo, hi;            /* 95 %; NAN: unknown */
    double null[LRA_NULLS];          /* NAN: none */
    int64_t examples, seeds;         /* examples 0: computed from the weights of the model, without
                                        examples */
    int64_t undefined;               /* rows that were left out */
    uint32_t flags;
} lra_measurement;

/* Returns a measurement without interval and null values, of one seed, in the unit that
 * analysis/measurements.def declares; every id is declared there.  id "": unit 1, the caller names
 * it. */
lra_measurement lra_measurement_of(const char *id, double value);
/* Changes the unit tokens to pixels, of distances in images; other units stay. */
void lra_measurement_in_pixels(lra_measurement *f);
/* Checks unit and value of a measurement that was read against its declaration; ids without
 * declaration (files of other versions) pass. */
int lra_measurement_check(const lra_measurement *f, lra_err *e);
/* NULL: not among them. */
const lra_measurement *lra_measurement_find(int n, const lra_measurement *list, const char *id);
/* Copies the values of the same ids as null values. */
void lra_measurements_null(int n, lra_measurement *list, int n_from, const lra_measurement *from,
                           lra_null kind);
/* Combines one measurement over seeds: their mean, and the interval
 *   value +- sqrt( (mean of the half widths over examples)^2 + t(S-1)^2 s^2/S )
 * All seeds share the examples, so that the example term does not shrink with the number of seeds.
 * NaN values are left out of both terms; asymmetric intervals remain asymmetric. */
lra_measurement lra_measurement_of_seeds(int n_seeds, const lra_measurement *by_seed);

#endif
