/* Results without training. */
#include "tests/made_result.h"

#include "kernels/base/mem.h"
#include "kernels/base/philox.h"

lra_result *made_result(int kernel, int reach, int seed, double share)
{
    lra_result *r = lra_alloc(sizeof *r);
    char **texts[] = {&r->task,        &r->model, &r->preset,     &r->precision,
                      &r->fingerprint, &r->run,   &r->deviations, &r->task_parameters};
    const char *text[] = {"listops",          "resconv",          "quick", "f32",
                          "0123456789abcdef", "fedcba9876543210", "",      ""};
    for (int i = 0; i < 8; i++) *texts[i] = lra_copy_text(text[i]);
    r->config = lra_format("model.kernel=%d\nseed=%d\ntask=listops\n", kernel, seed);
    r->kernel = kernel, r->reach = reach, r->seed = seed, r->max_length = MADE_LENGTH,
    r->parameters = 1000 * kernel;
    r->n_epochs = r->best_epoch = 1,
    r->history = lra_alloc_array(LRA_HISTORY_COLUMNS, sizeof(double));
    r->history[LRA_HISTORY_VAL_VALUE] = share;
    r->n = MADE_ROWS, r->n_classes = MADE_CLASSES;
    r->logits = lra_alloc_array(MADE_ROWS * MADE_CLASSES, sizeof(float));
    r->label = lra_alloc_array(MADE_ROWS, sizeof(int32_t));
    lra_rng rng = lra_rng_new((uint64_t)seed, 4, (uint64_t)kernel);
    for (int i = 0; i < MADE_ROWS; i++) {
        double place = lra_rng_u01(&rng) < 0.9 ? (i * 7 % MADE_ROWS + 0.5) / MADE_ROWS
                                               : lra_rng_u01(&rng);
        r->label[i] = i % MADE_CLASSES;
        r->logits[i * MADE_CLASSES + (place < share
                                          ? i % MADE_CLASSES
                                          : (i + 1 + i / MADE_CLASSES % 3) % MADE_CLASSES)] = 20;
    }
    return r;
}
