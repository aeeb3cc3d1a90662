/* Names runs by the settings in which they differ (run_names.h). */
#include "probes/run/run_names.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/os/file.h"
#include "models/model.h"
#include "reports/views/cell_names.h"

lra_run_identity lra_run_identity_of(const lra_result *r)
{
    return (lra_run_identity){.config = lra_config_parse(r->config, NULL),
                              .lines = lra_copy_text(r->config),
                              .label = lra_copy_text(r->user_label ? r->user_label : ""),
                              .kernel = r->kernel};
}

/* The kernel in the settings, or the model's default. Returns 0 if the model's axis is another
 * key. */
static int64_t kernel_of(const lra_config *settings)
{
    const lra_model *m = lra_model_find(lra_config_text_or(settings, "model", ""), NULL);
    if (!m || !m->axis || strcmp(m->axis, "kernel") != 0) return 0;
    lra_config *defaults = lra_keys_config(m->keys);
    const char *kernel = lra_config_text(defaults, "kernel");
    double value = lra_config_real_or(settings, "model.kernel", strtod(kernel, NULL));
    lra_config_free(defaults);
    return (int64_t)value;
}

lra_run_identity lra_run_identity_of_checkpoint(const char *folder)
{
    lra_err ignored;
    lra_run_identity r = {0};
    char *path = lra_format("%s/checkpoint.h5", folder);
    lra_h5 *f = lra_file_exists(path) ? lra_h5_open(path, "checkpoint", &ignored) : NULL;
    r.lines = f ? lra_h5_get_text(f, "/config", &ignored) : NULL;
    r.config = r.lines ? lra_config_parse(r.lines, NULL) : NULL;
    if (r.config) r.kernel = kernel_of(r.config);
    if (f && lra_h5_has_attr(f, "/", "label"))
        r.label = lra_h5_attr_text(f, "/", "label", &ignored);
    if (!r.label) r.label = lra_copy_text("");
    lra_h5_close(f);
    lra_free(path);
    return r;
}

void lra_run_identity_free(lra_run_identity *r)
{
    lra_config_free(r->config);
    lra_free(r->lines);
    lra_free(r->label);
    *r = (lra_run_identity){0};
}

char **lra_run_names(int n, const lra_run_identity *all)
{
    lra_cell_identity *identity = lra_alloc_array((size_t)n + 1, sizeof *identity);
    char **name = lra_alloc_array((size_t)n + 1, sizeof *name);
    int m = 0;
    for (int i = 0; i < n; i++)
        if (all[i].config)
            identity[m++] = (lra_cell_identity){lra_config_text_or(all[i].config, "model", "?"),
                                                lra_config_text_or(all[i].config, "task", "?"),
                                                all[i].lines, all[i].kernel, all[i].label};
    char **cell = lra_cell_names(m, identity);
    for (int i = 0, k = 0; i < n; i++) {
        if (!all[i].config) continue;
        name[i] = lra_make_printable(lra_format("%s %s seed %s", identity[k].task, cell[k],
                                                lra_config_text_or(all[i].config, "seed", "?")));
        k++;
    }
    lra_names_free(cell, m);
    lra_free(identity);
    return name;
}
