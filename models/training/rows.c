/* What single rows of a batch add to the sums of a metric. */
#include <math.h>

#include "models/training/session.h"

/* Nats of the label in double: -log softmax(logits)[label]. */
static double nats(const float *logits, int64_t C, int32_t label)
{
    double most = (double)logits[0], sum = 0;
    for (int64_t c = 1; c < C; c++) most = fmax(most, (double)logits[c]);
    for (int64_t c = 0; c < C; c++) sum += exp((double)logits[c] - most);
    return log(sum) - ((double)logits[label] - most);
}

static lra_sums class_row(const float *logits, int64_t C, int32_t label)
{
    int64_t best = 0;
    if (label < 0) return (lra_sums){0};
    for (int64_t c = 1; c < C; c++)
        if (logits[c] > logits[best]) best = c;
    return (lra_sums){.n = 1, .right = best == label, .loss = nats(logits, C, label)};
}

static lra_sums number_row(int64_t n, const float *x, const float *target, const float *asked)
{
    lra_sums s = {0};
    for (int64_t i = 0; i < n; i++) {
        double y = (double)target[i], d = (double)x[i] - y;
        if (asked[i] == 0) continue;
        s.n++;
        s.loss += d * d;
        s.target += y;
        s.square += y * y;
    }
    return s;
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

void lra_session_rows(const lra_session *s, const lra_batch *b, lra_sums *row)
{
    lra_network_spec network = lra_session_network(s->spec);
    int64_t B = s->spec->batch, T = s->buckets.length[b->bucket], n = network.outputs;
    if (network.head == LRA_HEAD_STEPS) n *= T;
    for (int64_t i = 0; i < B; i++) {
        const float *x = s->output + i * n;
        switch (network.head) {
        case LRA_HEAD_CLASS:
        case LRA_HEAD_PAIR: row[i] = class_row(x, n, b->label[i]); break;
        case LRA_HEAD_VALUE:
        case LRA_HEAD_STEPS: row[i] = number_row(n, x, b->target + i * n, b->asked + i * n); break;
        case LRA_HEAD_NEXT: row[i] = token_row(T, s->output + i * T, b->label + i * T); break;
        }
    }
}
