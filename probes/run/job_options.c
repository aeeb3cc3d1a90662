/* Opens a job from the options of a command (job_options.h): settings first, then the device; data
 * are loaded later. */
#include "probes/run/job_options.h"

#include <string.h>

#include "datasets/registry.h"
#include "probes/run/device.h"
#include "probes/run/option_rows.h"
#include "probes/run/settings.h"
#include "reports/results/check_names.h"

const lra_option lra_job_options[] = {
    {.name = "task",
     .letter = 't',
     .kind = LRA_OPTION_TEXT,
     .value = "listops",
     .arg = "TASK",
     .help = "task to learn ('lra-probe list tasks')"},
    LRA_MODEL_OPTION("model architecture"),
    {.name = "preset",
     .letter = 'p',
     .kind = LRA_OPTION_TEXT,
     .value = "quick",
     .arg = "PRESET",
     .help =
         "quick = minutes on two cores; small = a real experiment; paper = the published settings, "
         "paper:locality|las|spt|lra|own = those of one paper ('lra-probe list presets')"},
    LRA_SET_OPTION("task, model or training"),
    {.name = "techniques",
     .kind = LRA_OPTION_TEXT,
     .arg = "PAPER",
     .help =
         "training techniques of a paper, at any preset: locality (augmentation, three training "
         "sets, denoising) or none (default: those of the preset's paper)"},
    {.name = "objective",
     .kind = LRA_OPTION_TEXT,
     .arg = "OBJECTIVE",
     .help =
         "training objective ('lra-probe list objectives'; default: the preset's, usually classify)"},
    {.name = "schedule",
     .kind = LRA_OPTION_TEXT,
     .arg = "SCHEDULE",
     .help =
         "schedule of the learning rate after the warm-up ('lra-probe list schedules'; default: "
         "the preset's)"},
    LRA_THREADS_OPTION("automatic"),
    LRA_DEVICE_OPTION("auto", "device: auto, cpu, cuda or cuda:N ('lra-probe list devices')"),
    {.name = "precision",
     .kind = LRA_OPTION_CHOICE,
     .value = "auto",
     .choices = "auto|f32|bf16",
     .help =
         "storage type: auto = bf16 if the device has bf16 matrix instructions, else f32; recorded "
         "with the result"},
    {.name = "label",
     .kind = LRA_OPTION_TEXT,
     .arg = "TEXT",
     .help = "name of the run, stored with the result and shown in tables and figures; for task "
             "'file': column of the labels (--task file:NAME names the data)"},
    LRA_OUT_OPTION("output folder; everything is written below it"),
    LRA_LOCK_OPTIONS,
    LRA_DATA_DIR_OPTION(
        " to import instead of generating; for task 'file': a csv, tsv, jsonl, npz or "
        "safetensors file of own data, or a folder with train and test files"),
    {.name = "checkpoint-every",
     .kind = LRA_OPTION_REAL,
     .value = "300",
     .min = 0,
     .max = 1e6,
     .arg = "SECONDS",
     .help = "maximum time between checkpoints, in seconds; one is also written after every epoch"},
    {.name = "memory",
     .kind = LRA_OPTION_INT,
     .min = 1,
     .max = 1 << 30,
     .arg = "MIB",
     .help =
         "maximum memory of a run for parameters and workspace, in MiB (default: the free memory)"},
    {.name = "recompute",
     .kind = LRA_OPTION_CHOICE,
     .value = "auto",
     .choices = "auto|nothing|cheap|layers",
     .arg = "KIND",
     .help =
         "activation checkpointing: which activations are recomputed to save memory (auto = as few "
         "as the memory allows)"},
    {.name = "debug-nodes",
     .kind = LRA_OPTION_FLAG,
     .help = "check every node of every step for non-finite values"},
    {.name = NULL}};

int lra_job_recompute(const lra_options *o)
{
    /* values of --recompute, in the order of lra_keep */
    static const char *const name[] = {"nothing", "cheap", "layers"};
    int keep = 2;
    while (keep >= 0 && strcmp(name[keep], lra_option_text(o, "recompute")) != 0) keep--;
    return keep < 0 ? LRA_RECOMPUTE_AUTO : keep;
}

int lra_job_open(lra_job *r, const lra_options *o, lra_err *e)
{
    return lra_job_open_with(r, o, NULL, e);
}

int lra_job_open_with(lra_job *r, const lra_options *o, const char *assignment, lra_err *e)
{
    *r = (lra_job){.out = lra_option_text(o, "out"), .dry = r->dry};
    r->data_dir = lra_option_text(o, "data-dir");
    r->precision = lra_option_text(o, "precision");
    r->debug_nodes = lra_option_flag(o, "debug-nodes");
    r->checkpoint_every = lra_option_real(o, "checkpoint-every");
    r->memory = 1048576.0 * (double)lra_option_int(o, "memory");
    r->recompute = lra_job_recompute(o);
    r->task_name = lra_option_text(o, "task");
    r->task = lra_task_find(r->task_name, e);
    if (!r->task) return LRA_USAGE;
    const char **label = r->task->resolve ? &r->label_column : &r->user_label;
    *label = lra_option_text(o, "label");
    if (r->user_label && lra_check_label(r->user_label, e) != 0) return LRA_USAGE;
    r->model = lra_model_find(lra_option_text(o, "model"), e);
    if (!r->model) return LRA_USAGE;
    int rc = lra_job_configure(r, o, assignment, e);
    if (rc == 0)
        rc = lra_job_device(lra_option_text(o, "device"), (int)lra_option_int(o, "threads"),
                            &r->device, &r->no_gpu, e);
    if (rc == 0) r->precision = lra_job_precision(r->precision, &r->device);
    return rc;
}
