/* Computes the summary of a ListOps breakdown, and reads probe files of any kind
 * (listops_summary.h). */
#include "reports/results/listops_summary.h"

#include <ctype.h>
#include <string.h>

#include "analysis/interval.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/h5.h"

/* Adds the accuracy of predictions on the rows with this root operator; root -1: on all rows. */
static void add_accuracy(lra_probe_result *to, const char *unit, const lra_listops *r,
                         const int32_t *predicted, int root)
{
    int64_t n = 0, right = 0;
    for (int64_t i = 0; i < r->n; i++) {
        bool counted = root < 0 || r->root[i] == root;
        n += counted, right += counted && predicted[i] == r->label[i];
    }
    if (n == 0) return;
    lra_measurement m[2] = {lra_measurement_of("accuracy", (double)right / (double)n),
                            lra_measurement_of("rows", (double)n)};
    lra_estimate wilson = lra_wilson((double)right, (double)n, 0.95);
    m[0].lo = wilson.lo, m[0].hi = wilson.hi, m[0].examples = m[1].examples = n;
    m[0].flags |= LRA_ONE_SEED;
    lra_probe_unit_measurements(lra_probe_unit_new(to, unit), 2, m);
}

lra_probe_result *lra_listops_summary(const lra_listops *r)
{
    lra_result run = {.task = r->task,
                      .model = r->model,
                      .preset = r->preset,
                      .precision = r->precision,
                      .fingerprint = r->fingerprint,
                      .run = r->run,
                      .config = r->config,
                      .user_label = r->user_label,
                      .seed = r->seed,
                      .kernel = r->kernel,
                      .reach = r->reach,
                      .max_length = r->max_length};
    lra_origin origin;
    lra_origin_copy(&origin, &r->origin);
    lra_probe_result *all = lra_probe_result_new("listops", &run, &origin);
    all->unsealed = r->unsealed;
    add_accuracy(all, "model", r, r->predicted, -1);
    for (int k = 0; k < LRA_LISTOPS_ROOTS; k++) {
        char *unit = lra_format("root.%s", lra_listops_root_names[k]);
        for (char *c = unit; *c; c++) *c = (char)tolower((unsigned char)*c);
        add_accuracy(all, unit, r, r->predicted, k);
        lra_free(unit);
    }
    for (int h = 0; h < r->n_heuristics; h++)
        add_accuracy(all, r->heuristic_name[h], r, r->heuristic[h], -1);
    return all;
}

static lra_probe_result *read_summary(const char *path, lra_err *e)
{
    lra_listops *r = lra_listops_result_read(path, e);
    lra_probe_result *all = r ? lra_listops_summary(r) : NULL;
    lra_listops_result_free(r);
    return all;
}

lra_probe_result *lra_probe_file_read(const char *path, bool *is_probe, lra_err *e)
{
    lra_err ignored;
    lra_h5 *f = lra_h5_open(path, "probe", &ignored);
    char *probe = f ? lra_h5_attr_text(f, "/", "probe", &ignored) : NULL;
    *is_probe = f != NULL;
    lra_h5_close(f);
    bool listops = probe && strcmp(probe, "listops") == 0;
    lra_free(probe);
    if (!*is_probe) return NULL;
    return listops ? read_summary(path, e) : lra_probe_result_read(path, NULL, e);
}
