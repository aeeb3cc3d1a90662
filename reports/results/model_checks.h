/* The check table of an external model, as stored with its measurements by lra-probe audit: for
 * each check its outcome and what it found. In a file these are texts with one line per check,
 * /check/name, outcome, found, meaning, remedy, disables; an empty entry is "-". */
#ifndef LRA_REPORTS_RESULTS_MODEL_CHECKS_H
#define LRA_REPORTS_RESULTS_MODEL_CHECKS_H

#include "kernels/base/formats/h5.h"

typedef enum { LRA_CHECK_LEFT_OUT, LRA_CHECK_PASSED, LRA_CHECK_FAILED } lra_check_outcome;
/* Words of the outcomes in files: "skipped", "passed", "failed". */
extern const char *const lra_check_outcome_names[];

typedef struct {
    char *name;
    lra_check_outcome outcome;
    char *found; /* measured numbers, or the reason why the check was skipped */
    /* Of failed checks, else "": the usual meaning, a remedy, and the parts that the check disables,
     * separated by blanks ("all": every part; "gains": the gains of all parts; "": none) */
    char *meaning, *remedy, *disables;
} lra_model_check;

enum { LRA_MODEL_CHECKS = 64 };
typedef struct {
    int n;
    lra_model_check *row;
} lra_model_checks;

/* Adds a copy of a row; unprintable characters are replaced. Nullable: meaning, remedy, disables */
void lra_model_checks_add(lra_model_checks *c, const char *name, lra_check_outcome outcome,
                          const char *found, const char *meaning, const char *remedy,
                          const char *disables);
/* Replaces *to by a copy of `from`. */
void lra_model_checks_copy(lra_model_checks *to, const lra_model_checks *from);
/* True if both have the same checks with the same outcomes. */
bool lra_model_checks_agree(const lra_model_checks *a, const lra_model_checks *b);
void lra_model_checks_free(lra_model_checks *c);

/* Writes the texts below /check; nothing if there are no checks. */
int lra_model_checks_write(lra_h5 *f, const lra_model_checks *c, lra_err *e);
/* Reads them into *c, which is empty and which the caller frees, also after a failure. A file
 * without them leaves it empty. */
int lra_model_checks_read(lra_h5 *f, lra_model_checks *c, lra_err *e);

#endif
