/* What a subcommand of lra-probe is.  To add one: a file and one line in probes.def. */
#ifndef LRA_PROBES_PROBE_H
#define LRA_PROBES_PROBE_H

#include "kernels/base/err.h"

typedef struct {
    const char *name, *summary;
    /* argv: what follows the name.  0, or a negative code of err.h; positive: an exit code of its own. */
    int (*run)(int argc, char **argv, lra_err *e);
} lra_probe;

enum { LRA_EXIT_INTERRUPTED = 130, LRA_EXIT_REQUEUE = 75 };

#define LRA_PROBE(name) extern const lra_probe lra_probe_##name;
#include "probes/probes.def"
#undef LRA_PROBE
const lra_probe *lra_probe_at(int i); /* NULL after the last */

#endif
