/* Converts data to symbols (symbols.h). */
#include "probes/run/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { SYMBOLS = 256, WINDOW = 4096 };

/* ---- symbols --------------------------------------------------------------------------------- */

static bool of_numbers(const lra_dataset *d)
{
    return d->task->input.channels > 0 || !d->split[LRA_TRAIN_SPLIT].token;
}

static double number_at(const lra_sequences *r, int64_t step)
{
    return r->token ? (double)r->token[step * r->width] : (double)r->value[step * r->width];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_bins(const lra_sequences *train, lra_coding *c)
{
    int64_t steps = train->start[train->n], every = 1 + steps / 200000, n = 0;
    double *x = lra_alloc_array((size_t)(steps / every) + 2, sizeof *x);
    for (int64_t i = 0; i < steps; i += every) x[n++] = number_at(train, i);
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int b = 1; b < LRA_BINS; b++) {
        double edge = x[b * n / LRA_BINS];
        if (edge > (c->n_edges ? c->edge[c->n_edges - 1] : x[0])) c->edge[c->n_edges++] = edge;
    }
    lra_free(x);
}

static void find_words(const lra_dataset *d, lra_coding *c)
{
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT];
    c->vocab = d->vocab;
    c->symbol = lra_alloc((size_t)c->vocab + 1);
    if (c->vocab <= SYMBOLS) {
        for (int64_t v = 0; v < c->vocab; v++) c->symbol[v] = (uint8_t)v;
        return;
    }
    int64_t *count = lra_alloc_array((size_t)c->vocab, sizeof *count);
    for (int64_t i = 0; i < train->start[train->n]; i++)
        count[lra_token_at(train->token, train->width, i)]++;
    memset(c->symbol, SYMBOLS - 1, (size_t)c->vocab);
    for (int k = 0; k < SYMBOLS - 1; k++) {
        int64_t most = 0;
        for (int64_t v = 1; v < c->vocab; v++)
            if (count[v] > count[most]) most = v;
        c->symbol[most] = (uint8_t)k, count[most] = -1;
    }
    lra_free(count);
}

static uint8_t symbol_at(const lra_coding *c, const lra_sequences *r, int64_t step)
{
    if (!c->numbers) return c->symbol[lra_token_at(r->token, r->width, step)];
    double x = number_at(r, step);
    int b = 0;
    while (b < c->n_edges && x >= c->edge[b]) b++;
    return (uint8_t)b;
}

void lra_coding_of(const lra_dataset *d, lra_coding *c)
{
    *c = (lra_coding){.numbers = of_numbers(d)};
    if (c->numbers)
        find_bins(&d->split[LRA_TRAIN_SPLIT], c);
    else
        find_words(d, c);
}

void lra_coding_free(lra_coding *c)
{
    lra_free(c->symbol);
}

/* ---- rows ------------------------------------------------------------------------------------ */

void lra_coded_free(lra_coded *c)
{
    lra_free(c->start);
    lra_free(c->symbol);
    lra_free(c->label);
}

/* Length of the windows into which rows are cut: WINDOW tokens for a stream, else unlimited. */
static int64_t window_of(const lra_dataset *d)
{
    return d->task->goal == LRA_GOAL_NEXT ? WINDOW : INT64_MAX;
}

/* Iterates over the rows and keeps every `every`-th one; writes them to `to` if its arrays are
 * allocated. Returns the number of tokens in the kept rows. */
static int64_t walk(const lra_dataset *d, const lra_coding *by, int split, int64_t every,
                    bool first, lra_coded *to)
{
    const lra_sequences *r = &d->split[split];
    int64_t window = window_of(d), n = 0, at = 0, row = 0;
    for (int64_t i = 0; i < r->n; i++) {
        int64_t end = r->start[i + 1], next;
        if (first && r->middle) end = r->start[i] + r->middle[i];
        for (int64_t from = r->start[i]; from < end; from = next, row++) {
            next = end - from < window ? end : from + window;
            if (row % every) continue;
            for (int64_t step = from; step < next && to->symbol; step++)
                to->symbol[at + step - from] = symbol_at(by, r, step);
            at += next - from, n++;
            if (!to->symbol) continue;
            to->label[n - 1] = r->label ? r->label[i] : 0;
            to->start[n] = at;
        }
    }
    to->rows.n = n;
    return at;
}

void lra_code(const lra_dataset *d, const lra_coding *by, int split, int64_t steps, bool first,
              lra_coded *to)
{
    const lra_sequences *r = &d->split[split];
    int64_t total = r->start[r->n], every = total > steps ? (total + steps - 1) / steps : 1;
    *to = (lra_coded){.symbol = NULL};
    int64_t kept = walk(d, by, split, every, first, to);
    to->start = lra_alloc_array((size_t)to->rows.n + 1, sizeof *to->start);
    to->label = lra_alloc_array((size_t)to->rows.n + 1, sizeof *to->label);
    to->symbol = lra_alloc((size_t)kept + 1);
    walk(d, by, split, every, first, to);
    to->rows.start = to->start, to->rows.symbol = to->symbol;
}

int64_t lra_code_row(const lra_dataset *d, const lra_coding *by, int split, int64_t i,
                     uint8_t *symbol)
{
    const lra_sequences *r = &d->split[split];
    int64_t from = r->start[i], n = r->start[i + 1] - from;
    for (int64_t k = 0; k < n; k++) symbol[k] = symbol_at(by, r, from + k);
    return n;
}
