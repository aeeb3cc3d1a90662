/* The registry of subcommands of lra-probe. */
#include <stddef.h>

#include "probes/probe.h"

static const lra_probe *const registry[] = {
#define LRA_PROBE(name) &lra_probe_##name,
#include "probes/probes.def"
#undef LRA_PROBE
};

const lra_probe *lra_probe_at(int i)
{
    return i < (int)(sizeof registry / sizeof *registry) ? registry[i] : NULL;
}
