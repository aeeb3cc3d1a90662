/* Declarations of all measurements (analysis/measurements.def): unit, range, direction, null value,
 * head and meaning of an id.  Tables, notes, CSV columns, checks on reading and the list in
 * reports/FORMAT.md are made from them. */
#ifndef LRA_ANALYSIS_MEASUREMENT_INFO_H
#define LRA_ANALYSIS_MEASUREMENT_INFO_H

#include <stdbool.h>
#include <stdint.h>

/* Range of values: SHARE 0 to 1; RATIO at least 0; SIGNED -1 to 1; DISTANCE 0 to the length of the
 * input; REAL unbounded. */
typedef enum {
    LRA_RANGE_SHARE,
    LRA_RANGE_RATIO,
    LRA_RANGE_SIGNED,
    LRA_RANGE_DISTANCE,
    LRA_RANGE_REAL,
    LRA_RANGES
} lra_measurement_range;
extern const char *const lra_measurement_range_names[LRA_RANGES];

/* Direction of more local values. */
typedef enum { LRA_LOCAL_NONE, LRA_LOCAL_LOWER, LRA_LOCAL_HIGHER } lra_local_direction;

typedef struct {
    const char *id;   /* pattern: "dist.qP", "heads.NAME" */
    const char *unit; /* "tokens", "1" */
    lra_measurement_range range;
    lra_local_direction direction;
    const char *null;     /* meaning of the null value; "": none */
    const char *head;     /* of its column, a pattern like the id */
    const char *sentence; /* its meaning */
} lra_measurement_info;

/* A prefix or suffix of ids: the same measurement of something else. */
typedef struct {
    const char *text; /* "value.", ".px" */
    bool suffix;
    const char *head;     /* addition to the head, before it or after it */
    const char *sentence; /* its meaning */
} lra_measurement_modifier;

/* Declaration i, in the order of the file; NULL after the last. */
const lra_measurement_info *lra_measurement_info_at(int i);
const lra_measurement_modifier *lra_measurement_modifier_at(int i);
/* Finds the declaration of an id, whatever its modifiers; NULL: it is not declared.  Nullable:
 * modifiers, the set of those found, bit i for lra_measurement_modifier_at(i). */
const lra_measurement_info *lra_measurement_info_find(const char *id, uint32_t *modifiers);
/* Column head of an id: "d95" of "dist.q95"; the caller frees it.  An id without declaration is its
 * own head. */
char *lra_measurement_head(const char *id);
/* Column key of an id in CSV and JSON: dots become underscores; the caller frees it. */
char *lra_measurement_key(const char *id);
/* Bounds of the value for inputs of length T; infinite where there are none. */
void lra_measurement_bounds(const char *id, double T, double *least, double *most);
/* Decimals that suit a unit: 3 of shares, ratios, bits and nats; -1: none for integers, else 1. */
int lra_unit_decimals(const char *unit);
/* Unit as it is printed; "" for numbers without unit. */
const char *lra_unit_text(const char *unit);

#endif
