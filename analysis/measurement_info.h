/* Declarations of all measurements (analysis/measurements.def): unit, range, direction, null value,
 * column head and meaning of an id. Tables, notes, CSV columns, checks of files and the list in
 * reports/FORMAT.md are generated from them. */
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

/* Whether lower or higher values mean a more local model. */
typedef enum { LRA_LOCAL_NONE, LRA_LOCAL_LOWER, LRA_LOCAL_HIGHER } lra_local_direction;

typedef struct {
    const char *id;   /* id or pattern of ids: "dist.qP", "heads.NAME" */
    const char *unit; /* unit: "tokens", "1" */
    lra_measurement_range range;
    lra_local_direction direction;
    const char *null;     /* meaning of the null value; "": there is no null value */
    const char *head;     /* column head, a pattern like the id */
    const char *sentence; /* meaning of the measurement */
} lra_measurement_info;

/* A prefix or suffix of ids, which denotes the same measurement of another object. */
typedef struct {
    const char *text; /* text of the modifier: "value.", ".px" */
    bool suffix;
    const char *head;     /* addition to the column head, before or after it */
    const char *sentence; /* meaning of the modifier */
} lra_measurement_modifier;

/* Declaration i, in the order of the file; NULL after the last. */
const lra_measurement_info *lra_measurement_info_at(int i);
const lra_measurement_modifier *lra_measurement_modifier_at(int i);
/* Finds the declaration of an id, ignoring its modifiers; NULL: the id is not declared. *modifiers:
 * set of the modifiers found, bit i for lra_measurement_modifier_at(i). Nullable: modifiers. */
const lra_measurement_info *lra_measurement_info_find(const char *id, uint32_t *modifiers);
/* Returns the column head of an id, "d95" for "dist.q95", which the caller frees. The head of an
 * undeclared id is the id. */
char *lra_measurement_head(const char *id);
/* Returns the column key of an id in CSV and JSON: dots become underscores. The caller frees it. */
char *lra_measurement_key(const char *id);
/* Sets the bounds of a measurement for inputs of length T; infinite if there are none. */
void lra_measurement_bounds(const char *id, double T, double *least, double *most);
/* Returns the number of decimals for a unit: 3 for shares, ratios, bits and nats; -1 (none) for
 * integers; else 1. */
int lra_unit_decimals(const char *unit);
/* Returns the unit as it is printed; "" for numbers without unit. */
const char *lra_unit_text(const char *unit);

#endif
