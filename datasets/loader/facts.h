/* Facts about official files, printed for users: names and values. */
#ifndef LRA_DATASETS_LOADER_FACTS_H
#define LRA_DATASETS_LOADER_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Facts found by a check of official files: names and values, in order. */
enum { LRA_MAX_FACTS = 128 };
typedef struct {
    int n;
    char name[LRA_MAX_FACTS][48];
    double value[LRA_MAX_FACTS];
    /* the value counts a defect of the files that did not stop the import */
    bool defect[LRA_MAX_FACTS];
} lra_facts;

/* Adds a fact; the name is a format as for printf. */
void lra_facts_add(lra_facts *f, double value, const char *name, ...) LRA_PRINTF(3, 4);
void lra_facts_defect(lra_facts *f, int64_t count, const char *name, ...) LRA_PRINTF(3, 4);

#endif
