/* A subcommand of lra-probe. To add one: a file and one line in probes.def. */
#ifndef LRA_PROBES_PROBE_H
#define LRA_PROBES_PROBE_H

#include "kernels/base/cli/program.h"

typedef lra_subcommand lra_probe;

#define LRA_PROBE(name) extern const lra_probe lra_probe_##name;
#include "probes/probes.def"
#undef LRA_PROBE
const lra_probe *lra_probe_at(int i); /* Command number i; NULL after the last. */
extern const lra_program lra_probe_program;

#endif
