/* The settings of training.  Defaults: the locality paper's schedule and ListOps run. */
#include "models/training/objective.h"
#include "models/training/settings.h"

const lra_key lra_train_keys[] = {
    LRA_TEXT_KEY("objective", "classify", "OBJECTIVE", "what is trained on"),
    LRA_TEXT_KEY("schedule", "plateau", "SCHEDULE", "the rate after the warm-up"),
    LRA_INT_FIELD(lra_train_spec, batch, "batch", "32", 1, 1 << 20, "examples of a step"),
    LRA_INT_FIELD(lra_train_spec, accumulate, "accumulate", "1", 1, 1 << 16,
                  "batches whose gradients make one update"),
    LRA_INT_FIELD(lra_train_spec, schedule.epochs, "epochs", "120", 1, 1e6,
                  "passes over the training rows"),
    LRA_INT_FIELD(lra_train_spec, early_stop, "early-stop", "0", 0, 1e6,
                  "training ends after so many epochs without a better one; 0: never"),
    LRA_REAL_FIELD(lra_train_spec, schedule.rate, "rate", "0.001", 1e-12, 10, "peak learning rate"),
    LRA_REAL_FIELD(lra_train_spec, schedule.warmup, "warmup", "0.01", 0, 1e9,
                   "linear rise to the rate; below 1: share of all steps, else steps"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.decay, "decay", "0.1", 0, 10,
                   "weight decay, decoupled"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.clip, "clip", "1", 0, 1e9,
                   "greatest norm of the gradients; 0: not clipped"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.beta1, "beta1", "0.9", 0, 0.9999999,
                   "AdamW: of the mean gradient"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.beta2, "beta2", "0.999", 0, 0.9999999,
                   "AdamW: of the mean square"),
    LRA_REAL_FIELD(lra_train_spec, optimizer.eps, "eps", "1e-8", 1e-30, 1,
                   "AdamW: added to the root of the mean square"),
    LRA_CHOICE_FIELD(lra_train_spec, pool, "pool", "mean", "mean|last|max|cls",
                     "what becomes of the steps before the head"),
    LRA_FLAG_FIELD(lra_train_spec, augment, "augment", "0",
                   "rows are changed as the task knows how"),
    LRA_REAL_FIELD(lra_train_spec, fraction, "fraction", "1", 1e-9, 1,
                   "share of the training rows"),
    LRA_FLAG_FIELD(lra_train_spec, same_steps, "same-steps", "0",
                   "an epoch of a fraction has the steps of one of all rows"),
    LRA_FLAG_FIELD(lra_train_spec, permuted, "permute-labels", "0",
                   "training and validation rows have labels of others, by the seed: a null value"),
    LRA_FLAG_KEY("eval-drop-last", "0",
                 "validation and test without their last rows where these fill no batch"),
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
    if (s->fraction >= 1) s->fraction = 0; /* all rows */
}
