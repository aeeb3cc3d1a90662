/* Writes the decay of each channel as CSV (channels_csv.h). */
#include "probes/kernels/channels_csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/decay.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

/* Value of a channel in an array of the unit, or NAN if the array does not exist. */
static double at(const lra_probe_unit *u, const char *name, int64_t channel)
{
    const lra_probe_array *a = lra_probe_array_find(u, name);
    return a && a->rank == 1 && channel < a->dims[0] ? (double)a->value[channel] : NAN;
}

static void add_number(FILE *to, double x)
{
    if (isnan(x))
        fprintf(to, ",");
    else
        fprintf(to, ",%.9g", x);
}

static void add_decay(FILE *to, const lra_probe_unit *u, const char *state, int64_t channel)
{
    char *kind = lra_format("channel.decay.kind%s", state),
         *tau = lra_format("channel.decay.tau%s", state),
         *beta = lra_format("channel.decay.beta%s", state);
    double k = at(u, kind, channel);
    fprintf(to, ",%s",
            isnan(k)               ? ""
            : k == LRA_DECAY_EXP   ? "exponential"
            : k == LRA_DECAY_POWER ? "power"
                                   : "none");
    add_number(to, at(u, tau, channel));
    add_number(to, at(u, beta, channel));
    lra_free(kind);
    lra_free(tau);
    lra_free(beta);
}

static void add_unit(FILE *to, const lra_probe_result *r, const lra_probe_unit *u)
{
    const lra_probe_array *a = lra_probe_array_find(u, "channel.decay.kind");
    for (int64_t c = 0; a && a->rank == 1 && c < a->dims[0]; c++) {
        fprintf(to, "%s,%s,%s,%" PRId64 ",%s,%" PRId64, r->run, r->task, r->model, r->seed, u->name,
                c);
        add_decay(to, u, "", c);
        add_decay(to, u, "0", c);
        fprintf(to, "\n");
    }
}

int lra_channels_csv(const char *path, int n, lra_probe_result *const *list, lra_err *e)
{
    lra_file *w = lra_file_create(path, e);
    if (!w) return LRA_FAILED;
    FILE *to = lra_file_stream(w);
    fprintf(to, "run,task,model,seed,layer,channel,kind,tau,beta,kind_initial,tau_initial,"
                "beta_initial\n");
    for (int i = 0; i < n; i++)
        for (int u = 0; u < list[i]->n_units; u++) add_unit(to, list[i], list[i]->unit[u]);
    return lra_file_commit(w, e);
}
