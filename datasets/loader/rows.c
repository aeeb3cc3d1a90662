/* Rows of a split, stored in growing arrays. */
#include "datasets/loader/rows.h"

#include <string.h>

#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"

const char *const lra_split_names[LRA_N_SPLITS] = {"train", "val", "test"};

lra_row lra_sequences_row(const lra_sequences *r, int64_t i)
{
    int64_t from = r->start[i];
    lra_row row = {.n = r->start[i + 1] - from,
                   .width = r->width,
                   .n_targets = r->n_targets,
                   .step_targets = r->step_targets,
                   .label = r->label[i],
                   .middle = r->middle ? r->middle[i] : 0};
    if (r->token) row.token = r->token + from * r->width;
    if (r->value) row.value = r->value + from * r->width;
    if (r->target) row.target = r->target + (r->step_targets ? from : i) * r->n_targets;
    return row;
}

/* Resizes the arrays to this many rows and tokens (`steps`); `kind` is a row that shows which
 * arrays exist. */
static void grow(lra_sequences *r, const lra_row *kind, int64_t rows, int64_t steps)
{
    size_t numbers = (size_t)steps * (size_t)r->width;
    int64_t targets = (r->step_targets ? steps : rows) * r->n_targets;
    r->start = lra_resize(r->start, (size_t)(rows + 1) * sizeof *r->start);
    r->label = lra_resize(r->label, (size_t)rows * sizeof *r->label);
    r->start[0] = 0;
    if (kind->token) r->token = lra_resize(r->token, numbers * sizeof *r->token);
    if (kind->value) r->value = lra_resize(r->value, numbers * sizeof *r->value);
    if (kind->target) r->target = lra_resize(r->target, (size_t)targets * sizeof *r->target);
    if (kind->middle) r->middle = lra_resize(r->middle, (size_t)rows * sizeof *r->middle);
    r->row_capacity = rows, r->step_capacity = steps;
}

/* The first row determines width, number of targets and arrays; every other row must agree. */
static void check_kind(lra_sequences *r, const lra_row *row)
{
    if (r->width == 0) {
        r->width = row->width, r->n_targets = row->n_targets, r->step_targets = row->step_targets;
        return;
    }
    if (row->width != r->width || row->n_targets != r->n_targets ||
        (r->n && (!row->token != !r->token || !row->middle != !r->middle)))
        LRA_BUG("a row of another kind: %d numbers per position, other rows have %d", row->width,
                r->width);
}

void lra_sequences_add(lra_sequences *r, const lra_row *row)
{
    check_kind(r, row);
    int64_t used = r->n ? r->start[r->n] : 0, rows = r->row_capacity, steps = r->step_capacity;
    if (r->n == rows) rows = rows ? 2 * rows : 1024;
    if (used + row->n > steps) steps = 2 * (used + row->n) + 4096;
    if (rows != r->row_capacity || steps != r->step_capacity) grow(r, row, rows, steps);
    r->start[r->n + 1] = used + row->n;
    r->label[r->n] = row->label;
    if (row->middle) r->middle[r->n] = row->middle;
    lra_row to = lra_sequences_row(r, r->n++);
    size_t numbers = (size_t)(row->n * row->width);
    size_t targets = (size_t)((row->step_targets ? row->n : 1) * row->n_targets);
    if (row->token) memcpy(to.token, row->token, numbers * sizeof *to.token);
    if (row->value) memcpy(to.value, row->value, numbers * sizeof *to.value);
    if (row->target) memcpy(to.target, row->target, targets * sizeof *to.target);
}

void lra_sequences_add_tokens(lra_sequences *r, const uint16_t *token, int64_t n, int32_t label)
{
    lra_row row = {.n = n, .width = 1, .label = label};
    row.token = (uint16_t *)(uintptr_t)token; /* lra_sequences_add() does not write to the tokens */
    lra_sequences_add(r, &row);
}

uint16_t *lra_sequences_extend(lra_sequences *r, int64_t n, int64_t length, int width, lra_err *e)
{
    int64_t rows = r->n + n, used = r->n ? r->start[r->n] : 0;
    double needed = (double)(n * length) * width * sizeof *r->token, free = lra_memory_free();
    char text[2][32];
    if (free > 0 && needed > free) {
        lra_fail(e, "%lld rows of %lld need %s, %s free", (long long)n, (long long)length,
                 lra_size_text(text[0], needed), lra_size_text(text[1], free));
        return NULL;
    }
    uint16_t some = 0;
    lra_row kind = {.width = width, .token = &some};
    check_kind(r, &kind);
    grow(r, &kind, rows, used + n * length);
    for (int64_t i = r->n; i < rows; i++) r->start[i + 1] = r->start[i] + length;
    r->n = rows;
    return r->token + used * width;
}

void lra_sequences_free(lra_sequences *r)
{
    lra_free(r->start);
    lra_free(r->token);
    lra_free(r->value);
    lra_free(r->label);
    lra_free(r->target);
    lra_free(r->middle);
    *r = (lra_sequences){0};
}

double lra_sequences_majority(const lra_sequences *r, int n_classes, int32_t *label)
{
    int64_t *count = lra_alloc_array((size_t)n_classes, sizeof *count);
    for (int64_t i = 0; i < r->n; i++) count[r->label[i]]++;
    *label = 0;
    for (int k = 1; k < n_classes; k++)
        if (count[k] > count[*label]) *label = k;
    double share = r->n ? (double)count[*label] / (double)r->n : 0;
    lra_free(count);
    return share;
}

int64_t lra_sequences_length(const lra_sequences *r, int64_t i)
{
    int64_t n = r->start[i + 1] - r->start[i], first = r->middle ? r->middle[i] : 0;
    return n - first > first ? n - first : first;
}
