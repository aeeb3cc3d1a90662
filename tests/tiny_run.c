/* The smallest run. */
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/log.h"
#include "kernels/base/terminal.h"
#include "kernels/cpu/device.h"
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

tiny_trained trained;

int tiny_train(const char *folder, const char *model, int epochs)
{
    lra_err e = {{0}};
    lra_terminal_init(LRA_LOG_QUIET, true);
    int rc = lra_cpu_device(&trained.device, 1, &e);
    if (rc == 0) rc = tiny_run_open(&trained.run, folder, "x=1\n", model, &e);
    trained.run.spec.schedule = (lra_schedule){
        .rate = 0.02, .epochs = epochs, .factor = 0.5, .patience = 9};
    trained.run.spec.checkpoint_every = 1e6;
    if (rc == 0) rc = lra_train(&trained.run.spec, &trained.device, &trained.report, &e);
    if (rc != 0) lra_warn("%s", e.msg);
    return rc;
}

void tiny_forget(void)
{
    lra_train_report_free(&trained.report);
    tiny_run_close(&trained.run);
}
