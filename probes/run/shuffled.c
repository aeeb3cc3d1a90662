/* Measures null values with runs on permuted labels (shuffled.h). */
#include "probes/run/shuffled.h"

#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "probes/run/origin.h"

static const char setting[] = "train.permute-labels";

int lra_shuffled_find(const lra_finished_run *run, const lra_options *o, char **folder, lra_err *e)
{
    const lra_result *r = run->result;
    char hash[17];
    *folder = NULL;
    if (strcmp(lra_option_text(o, "null"), "shuffled") != 0) return 0;
    lra_config *c = lra_config_parse(r->config, e);
    if (!c) return LRA_FAILED;
    int rc = 0;
    if (strcmp(lra_config_text_or(c, setting, "0"), "0") != 0) {
        lra_fail(e,
                 "run '%s' was itself trained on permuted labels; it has no null value 'shuffled'",
                 run->folder);
        rc = LRA_ABSENT;
    }
    lra_config_set(c, setting, "1");
    lra_config_hash(c, hash);
    lra_config_free(c);
    if (rc != 0) return rc;
    *folder = lra_format("%s/runs/%s-%s-%s", run->out, lra_task_id(run->job.task), r->model, hash);
    char *result = lra_format("%s/result.h5", *folder);
    if (!lra_file_exists(result)) {
        rc = lra_fail(
            e,
            "'%s' does not exist: repeat the command that trained '%s' with '--permute-labels 1'",
            *folder, run->folder);
        lra_free(*folder);
        *folder = NULL;
    }
    lra_free(result);
    return rc;
}

static void add_nulls(lra_probe_result *r, const lra_probe_result *from)
{
    for (int u = 0; u < r->n_units; u++) {
        lra_probe_unit *to = r->unit[u];
        const lra_probe_unit *other = lra_probe_unit_find(from, to->name);
        if (!other) continue;
        lra_measurements_null(to->n_measurements, to->measurement, other->n_measurements,
                              other->measurement, LRA_NULL_SHUFFLED);
    }
    lra_probe_result_set(r, "shuffled", "%s", from->run);
}

int lra_shuffled_add(const char *folder, const lra_options *o, lra_run_measure *measure,
                     lra_probe_result *r, lra_err *e)
{
    lra_finished_run run;
    lra_origin origin;
    int rc = lra_finished_run_open(&run, folder, NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0) {
        lra_probe_origin(&run.job.device, &origin);
        lra_probe_result *null = lra_probe_result_new(r->probe, run.result, &origin);
        rc = measure(&run, o, null, e);
        if (rc == 0) add_nulls(r, null);
        lra_probe_result_free(null);
    }
    lra_finished_run_close(&run);
    return rc;
}
