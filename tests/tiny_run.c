/* The smallest run. */
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "tests/tiny_run.h"

int tiny_run_open(tiny_run *r, const char *folder, const char *config, const char *model,
                  lra_err *e)
{
    *r = (tiny_run){.task = lra_task_config(&lra_task_listops, "quick", e)};
    lra_config_set(r->task, "train", "24");
    lra_config_set(r->task, "val", "4");
    lra_config_set(r->task, "test", "6");
    r->model = lra_keys_config(lra_model_resconv.keys);
    lra_keys_apply(lra_model_resconv.keys, r->model, model);
    r->data = lra_dataset_open(&lra_task_listops, r->task, folder, NULL, e);
    r->spec = (lra_train_spec){.folder = folder,
                               .title = "tiny",
                               .config = config,
                               .data = r->data,
                               .model = &lra_model_resconv,
                               .model_config = r->model,
                               .type = LRA_F32,
                               .batch = 8,
                               .threads = 1,
                               .optimizer = {0.9, 0.999, 1e-8, 0.01, 1.0, 0.004}};
    return r->data && r->model ? 0 : LRA_FAILED;
}

void tiny_run_close(tiny_run *r)
{
    lra_dataset_free(r->data);
    lra_config_free(r->task);
    lra_config_free(r->model);
    *r = (tiny_run){0};
}
