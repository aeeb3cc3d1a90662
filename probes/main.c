/* lra-probe: finds the subcommand, runs it, turns its error into one line and an exit code. */
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <xxhash.h>

#include "kernels/base/h5.h"
#include "kernels/base/mem.h"
#include "kernels/base/options.h"
#include "kernels/base/process.h"
#include "kernels/base/terminal.h"
#include "kernels/base/version.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cuda/device.h"
#include "probes/probe.h"

enum { MAX_PROBES = 64 };

static void help(FILE *out)
{
    fprintf(out,
            "Measures how local a long-sequence benchmark or model is.\n\n"
            "usage: lra-probe COMMAND [options]   ('lra-probe COMMAND --help' explains one)\n\n"
            "examples:\n"
            "  lra-probe receptive-field --task listops --preset quick --out lra-out\n"
            "  lra-probe data listops --preset paper --make 100000 --out lra-out\n\ncommands:\n");
    for (int i = 0; lra_probe_at(i); i++)
        fprintf(out, "  %-18s%s\n", lra_probe_at(i)->name, lra_probe_at(i)->summary);
    fprintf(out,
            "\nexit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted (checkpoint saved)\n");
}

static const lra_probe *find(const char *name, lra_err *e)
{
    const char *names[MAX_PROBES];
    int n = 0;
    for (; n < MAX_PROBES && lra_probe_at(n); n++) {
        names[n] = lra_probe_at(n)->name;
        if (strcmp(names[n], name) == 0) return lra_probe_at(n);
    }
    lra_fail_unknown(e, "command", name, n, names, "lra-probe --help");
    return NULL;
}

static int exit_code(int rc, const lra_err *e)
{
    if (rc >= 0) return rc;
    fprintf(stderr, "lra-probe: %s\n", e->msg);
    return rc == LRA_USAGE ? 2 : 1;
}

static int version(void)
{
    lra_err e;
    if (lra_cpu_init(&e) != 0) {
        fprintf(stderr, "lra-probe: %s\n", e.msg);
        return 1;
    }
    char *libraries = lra_format("HDF5 %s, GSL %s, %s, jansson %s, xxHash %d.%d.%d; %s",
                                 lra_h5_version(), gsl_version, lra_gemm_library(), JANSSON_VERSION,
                                 XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE,
                                 lra_cuda_built());
    char *level = lra_format("%s (%s)", lra_cpu_best(), lra_cpu_name());
    lra_version_print(stdout, "lra-probe", libraries, level);
    lra_free(libraries);
    lra_free(level);
    return 0;
}

int main(int argc, char **argv)
{
    lra_err e = {{0}};
    gsl_set_error_handler_off();
    lra_signals_init();
    lra_terminal_init(LRA_LOG_NORMAL, false);
    if (argc < 2) {
        help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return version();
    }
    const lra_probe *p = find(argv[1], &e);
    int rc = p ? p->run(argc - 2, argv + 2, &e) : LRA_USAGE;
    if (fflush(stdout) != 0 && rc == 0) rc = lra_fail_errno(&e, "cannot write the output");
    return exit_code(rc, &e);
}
