/* JSON lines: one object per line and example; its keys are the columns.
 *   "text"                TEXT
 *   1  1.5  true          NUMBER (true is 1, false 0)
 *   [3, 1, 2]             IDS
 *   [0.5, 1]              VALUES of width 1; null in it is NAN
 *   [[1, 2], [3, 4]]      VALUES of width 2: a list of time steps, each a list of numbers
 *   null, no such key     missing; [] is an empty sequence
 * A column whose values are objects or have different kinds is REFUSED; the reason states the first
 * line that differs. Lists of integers and lists of reals together are VALUES. Blank lines are
 * skipped. Errors: lines that are not one complete object, a JSON array of objects, keys that occur
 * twice in a line, integers beyond 64 bits, NaN and Infinity, which JSON does not have. */
#ifndef LRA_DATASETS_FORMATS_JSON_LINES_H
#define LRA_DATASETS_FORMATS_JSON_LINES_H

#include "datasets/formats/columns.h"

/* Parses n bytes of memory; name: for messages. Does not set the hash. */
int lra_json_lines_parse(const char *bytes, size_t n, const char *name, lra_data_columns *out,
                         lra_err *e);

#endif
