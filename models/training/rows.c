/* Computes the contributions of single rows of a batch to the sums of a metric. */
#include "models/training/rows.h"

#include <math.h>

#include "models/training/objective.h"
#include "models/training/run_network.h"

/* Loss of a label in nats, in double: -log softmax(logits)[label]. */
static double nats(const float *logits, int64_t C, int32_t label)
{
    double most = (double)logits[0], sum = 0;
    for (int64_t c = 1; c < C; c++) most = fmax(most, (double)logits[c]);
    for (int64_t c = 0; c < C; c++) sum += exp((double)logits[c] - most);
    return log(sum) - ((double)logits[label] - most);
}

lra_sums lra_class_row(const float *logits, int64_t C, int32_t label)
{
    int64_t best = 0;
    if (label < 0) return (lra_sums){0};
    for (int64_t c = 1; c < C; c++)
        if (logits[c] > logits[best]) best = c;
    return (lra_sums){.n = 1, .right = best == label, .loss = nats(logits, C, label)};
}

static lra_sums number_row(int64_t n, const float *x, const float *target, const float *target_mask,
                           bool absolute)
{
    lra_sums s = {0};
    for (int64_t i = 0; i < n; i++) {
        double y = (double)target[i], d = (double)x[i] - y;
        if (target_mask[i] == 0) continue;
        s.n++;
        s.loss += absolute ? fabs(d) : d * d;
        s.target += y;
        s.square += y * y;
    }
    return s;
}

lra_sums lra_number_row(int64_t n, const float *x, const float *target, const float *target_mask)
{
    return number_row(n, x, target, target_mask, false);
}

static lra_sums token_row(int64_t T, const float *loss, const int32_t *label)
{
    lra_sums s = {0};
    for (int64_t t = 0; t < T; t++) {
        if (label[t] < 0) continue;
        s.n++;
        s.loss += (double)loss[t];
    }
    return s;
}

static lra_sums sequence(const lra_network_spec *k, int64_t i, int64_t T, const float *output,
                         const lra_loss_mask *a)
{
    int64_t C = k->outputs, n = k->head == LRA_HEAD_TOKENS ? C * T : C;
    switch (k->head) {
    case LRA_HEAD_CLASS:
    case LRA_HEAD_PAIR: return lra_class_row(output + i * C, C, a->label[i]);
    case LRA_HEAD_VALUE:
    case LRA_HEAD_TOKENS:
        return number_row(n, output + i * n, a->target + i * n, a->target_mask + i * n,
                          k->absolute);
    case LRA_HEAD_NEXT: return token_row(T, output + i * T, a->label + i * T);
    }
    return (lra_sums){0};
}

void lra_session_rows(const lra_train_spec *s, const lra_batch *b, int64_t n, int64_t T,
                      const float *output, lra_sums *row)
{
    lra_network_spec network = lra_session_network(s);
    const lra_loss_mask a = lra_session_loss_mask(s, b);
    int64_t parts = lra_objective_parts(lra_session_objective(s), s->data);
    for (int64_t i = 0; i < n; i++) {
        row[i] = sequence(&network, i, T, output, &a);
        for (int64_t k = 1; k < parts; k++) {
            lra_sums more = sequence(&network, k * n + i, T, output, &a);
            lra_sums_add(&row[i], &more);
        }
    }
}
