/* The settings of training. Their defaults are those of the locality paper: its schedule, and its
 * run on ListOps. */
#include "models/training/objective.h"
#include "models/training/settings.h"

const lra_key lra_train_keys[] = {
    LRA_TEXT_KEY("objective", "classify", "OBJECTIVE", "training objective"),
    LRA_TEXT_KEY("schedule", "plateau", "SCHEDULE",
                 "schedule of the learning rate after the warm-up"),
    LRA_INT_FIELD(lra_train_spec, batch, "batch", "32", 1, 1 << 20, "number of examples per step"),
    LRA_INT_FIELD(lra_train_spec, accumulate, "accumulate", "1", 1, 1 << 16,
                  "number of batches whose gradients are accumulated for one update"),
    LRA_INT_FIELD(lra_train_spec, schedule.epochs, "epochs", "120", 1, 1e6,
                  "number of passes over the training rows"),
    LRA_INT_FIELD(lra_train_spec, early_stop, "early-stop", "0", 0, 1e6,
                  "stop after this number of epochs without an improvement (0 = never)"),
    LRA_REAL_FIELD(lra_train_spec, schedule.rate, "rate", "0.001", 1e-12, 10, "peak learning rate"),
    LRA_REAL_FIELD(
        lra_train_spec, schedule.warmup, "warmup", "0.01", 0, 1e9,
        "length of the linear warm-up: a share of all steps if below 1, else a number of steps"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.decay, "decay", "0.1", 0, 10,
                   "decoupled weight decay"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.clip, "clip", "1", 0, 1e9,
                   "maximum norm of the gradients (0 = no clipping)"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.beta1, "beta1", "0.9", 0, 0.9999999,
                   "AdamW: decay rate of the mean gradient"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.beta2, "beta2", "0.999", 0, 0.9999999,
                   "AdamW: decay rate of the mean squared gradient"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.eps, "eps", "1e-8", 1e-30, 1,
                   "AdamW: constant added to the root of the mean squared gradient"),
    LRA_CHOICE_FIELD(lra_train_spec, pool, "pool", "mean", "mean|last|max|cls",
                     "pooling of the positions before the output head"),
    LRA_FLAG_FIELD(lra_train_spec, augment, "augment", "0",
                   "augment the training rows as the task defines"),
    LRA_REAL_FIELD(lra_train_spec, fraction, "fraction", "1", 1e-9, 1,
                   "share of the training rows that is used"),
    LRA_FLAG_FIELD(lra_train_spec, same_steps, "same-steps", "0",
                   "with fraction: an epoch has as many steps as with all rows"),
    LRA_FLAG_FIELD(lra_train_spec, permuted, "permute-labels", "0",
                   "permute the labels of training and validation rows, to measure null values"),
    LRA_FLAG_KEY("eval-drop-last", "0",
                 "drop the last validation and test rows if they do not fill a batch"),
    LRA_KEYS_END};

void lra_train_settings(lra_train_spec *s, const lra_config *c)
{
    lra_err e;
    s->objective = lra_objective_find(lra_config_text(c, "objective"), &e);
    s->schedule.kind = lra_schedule_find(lra_config_text(c, "schedule"), &e);
    if (!s->objective || !s->schedule.kind) LRA_BUG("%s", e.msg);
    lra_keys_fill(lra_train_keys, c, s);
    lra_keys_fill(s->objective->keys, c, s);
    lra_keys_fill(s->schedule.kind->keys, c, &s->schedule);
    s->optimizer.rate = s->schedule.rate;
    if (s->fraction >= 1) s->fraction = 0; /* a fraction of 1 is all rows */
}
