/* The objective `denoise`: the task's loss + 1.0 x mean cross-entropy of the masked words, in one
 * pass over the masked input. Pairs: mean over the two documents of their mean losses. Evaluation
 * has unmasked inputs. Scopes: "denoise/w", "denoise/b".
 * Source: the locality paper (multitask denoising, p = 0.30). */
#include "models/training/objective.h"

/* Adds the loss with weight 1.0. The two documents of a pair have equal weight, whatever their
 * numbers of masked words. */
static void add_loss(lra_network *k, int64_t n_words)
{
    static const char *const names[] = {"word", "second_word"};
    lra_tensor *logits = lra_network_linear(k->features, "denoise", n_words);
    int64_t n = k->n / k->B;
    for (int64_t i = 0; i < n; i++) {
        k->word[i] = lra_input(k->graph, names[i], LRA_I32, LRA_SHAPE(k->B, k->T));
        lra_tensor *own = n == 1 ? logits : lra_slice(logits, 0, i * k->B, k->B);
        lra_tensor *loss = lra_cross_entropy(own, k->word[i]);
        k->loss = lra_add(k->loss, n == 1 ? loss : lra_affine(loss, 1.0 / (double)n, 0));
    }
}

const lra_objective lra_objective_denoise = {
    .name = "denoise",
    .paper = "the locality paper",
    .summary = "the loss of the task, and reconstruction of masked input words",
    .training = LRA_MASK_DENOISE,
    .keys = lra_objective_picking,
    .add_loss = add_loss};
