/* Encodes examples of own data as rows, and scans all examples once for their properties. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/bytes.h"
#include "datasets/own/examples.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

/* Ensures that the arrays of x->row can hold n time steps. */
static void reserve(lra_own_examples *x, int64_t n)
{
    if (n <= x->capacity) return;
    x->capacity = 2 * n;
    size_t numbers = (size_t)x->capacity * (size_t)x->row.width;
    if (x->own.input == LRA_OWN_VALUES)
        x->row.value = lra_resize(x->row.value, numbers * sizeof *x->row.value);
    else
        x->row.token = lra_resize(x->row.token, numbers * sizeof *x->row.token);
}

/* Returns the number of time steps of example i, without padding if there is a column of
 * lengths. */
static int64_t steps_of(const lra_own_file *f, int64_t i)
{
    if (f->lengths) return (int64_t)f->lengths->number[i];
    return f->input->start[i + 1] - f->input->start[i];
}

/* Encodes the first length - 1 bytes of the text and <eos>. */
static int encode_text(lra_own_examples *x, const lra_own_file *f, int64_t i)
{
    int64_t from = f->input->start[i], n = f->input->start[i + 1] - from;
    if (n > x->length - 1) n = x->length - 1;
    reserve(x, n + 1);
    for (int64_t k = 0; k < n; k++)
        x->row.token[k] = (uint16_t)(LRA_BYTES_FIRST + (unsigned char)f->input->text[from + k]);
    x->row.token[n] = LRA_BYTES_EOS;
    x->row.n = n + 1;
    return 0;
}

static int encode_tokens(lra_own_examples *x, const lra_own_file *f, int64_t i, lra_err *e)
{
    int64_t n = steps_of(f, i);
    const int64_t *id = f->input->id + f->input->start[i];
    if (n == 0) return lra_own_fail(f, i, e, "no tokens in column '%s'", f->input->name);
    if (n > x->length) n = x->length;
    reserve(x, n);
    x->row.n = n;
    for (int64_t k = 0; k < n; k++) {
        if (id[k] < 0 || id[k] >= x->own.vocab)
            return lra_own_fail(f, i, e, "token %" PRId64 " is %" PRId64 ", expected 0 to %d",
                                k + 1, id[k], x->own.vocab - 1);
        x->row.token[k * x->row.width] = (uint16_t)(id[k] & 0xFFFF);
        if (x->row.width == 2) x->row.token[2 * k + 1] = (uint16_t)(id[k] >> 16);
    }
    return 0;
}

static int encode_values(lra_own_examples *x, const lra_own_file *f, int64_t i, lra_err *e)
{
    int64_t n = steps_of(f, i), width = x->row.width, from = f->input->start[i] * width;
    if (n == 0) return lra_own_fail(f, i, e, "no values in column '%s'", f->input->name);
    if (n > x->length) n = x->length;
    reserve(x, n);
    x->row.n = n;
    for (int64_t k = 0; k < n * width; k++) {
        float v = f->input->value[from + k];
        if (!isfinite(v))
            return lra_own_fail(f, i, e, "value %" PRId64 " of column '%s' is not finite", k + 1,
                                f->input->name);
        /* stores -0 as 0, so that equal numbers have equal bits */
        x->row.value[k] = v == 0 ? 0 : v;
    }
    return 0;
}

int lra_own_encode(lra_own_examples *x, const lra_own_file *f, int64_t i, lra_err *e)
{
    if (x->own.input == LRA_OWN_TEXT) return encode_text(x, f, i);
    return x->own.input == LRA_OWN_TOKENS ? encode_tokens(x, f, i, e) : encode_values(x, f, i, e);
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* Returns the largest token id of all inputs after truncation. */
static int64_t largest_id(const lra_own_examples *x)
{
    int64_t largest = 0;
    for (int k = 0; k < x->n_files; k++)
        for (int64_t i = 0; i < x->file[k].columns.n; i++) {
            const lra_data_column *c = x->file[k].input;
            int64_t n = steps_of(&x->file[k], i);
            for (int64_t j = 0; j < n && j < x->length; j++)
                if (c->id[c->start[i] + j] > largest) largest = c->id[c->start[i] + j];
        }
    return largest;
}

static int set_vocabulary(lra_own_examples *x, int64_t vocab, lra_err *e)
{
    lra_own *own = &x->own;
    if (own->input != LRA_OWN_TOKENS && vocab)
        return lra_fail_usage(e, "--vocab applies to tokens; the inputs are %s",
                              own->input == LRA_OWN_TEXT ? "text" : "values");
    if (own->input == LRA_OWN_TEXT) own->vocab = LRA_BYTES_VOCAB;
    if (own->input == LRA_OWN_TOKENS) {
        int64_t largest = largest_id(x);
        if (largest >= LRA_OWN_VOCAB)
            return lra_fail(e, "column '%s' has the token %" PRId64 ", expected at most %d",
                            own->input_column, largest, LRA_OWN_VOCAB - 1);
        own->vocab = (int)(vocab ? vocab : largest + 1);
    }
    return 0;
}

static int set_width(lra_own_examples *x, lra_err *e)
{
    const lra_data_column *c = x->file[0].input;
    x->own.width = 1;
    if (x->own.input == LRA_OWN_VALUES) x->own.width = c->width;
    for (int k = 1; k < x->n_files && x->own.input == LRA_OWN_VALUES; k++) {
        int width = x->file[k].input->width;
        if (width != x->own.width)
            return lra_own_fail(&x->file[k], 0, e, "%d values per step, in another file %d", width,
                                x->own.width);
    }
    if (x->own.width > LRA_OWN_WIDTH)
        return lra_fail(e, "column '%s' has %d values per step, expected at most %d", c->name,
                        x->own.width, (int)LRA_OWN_WIDTH);
    bool tokens = x->own.input == LRA_OWN_TOKENS;
    x->row.width = tokens ? lra_token_width(x->own.vocab) : x->own.width;
    return 0;
}

/* True if the input is longer than the key `length` allows. */
static bool is_truncated(const lra_own_examples *x, const lra_own_file *f, int64_t i)
{
    return steps_of(f, i) > x->length - (x->own.input == LRA_OWN_TEXT);
}

typedef struct {
    uint64_t hash;
    double label;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash > y->hash ? 1 : -1;
    return (x->label > y->label) - (x->label < y->label);
}

/* Counts examples with the same input as an earlier one (n_repeated), and examples whose input also
 * occurs with another label (n_contradicted). */
static void count_repeated(lra_own_examples *x)
{
    keyed *all = lra_alloc_array((size_t)x->n + 1, sizeof *all);
    for (int64_t i = 0; i < x->n; i++)
        all[i] = (keyed){x->hash[i], x->label ? x->label[i] : x->target ? (double)x->target[i] : 0};
    qsort(all, (size_t)x->n, sizeof *all, by_key);
    for (int64_t from = 0, to; from < x->n; from = to) {
        for (to = from + 1; to < x->n && all[to].hash == all[from].hash;) to++;
        x->own.n_repeated += to - from - 1;
        if (all[from].label != all[to - 1].label) x->own.n_contradicted += to - from;
    }
    lra_free(all);
}

int lra_own_scan(lra_own_examples *x, int64_t vocab, lra_err *e)
{
    if (set_vocabulary(x, vocab, e) != 0 || set_width(x, e) != 0) return LRA_FAILED;
    x->hash = lra_alloc_array((size_t)x->n + 1, sizeof *x->hash);
    for (int k = 0; k < x->n_files; k++)
        for (int64_t i = 0; i < x->file[k].columns.n; i++) {
            const lra_own_file *f = &x->file[k];
            if (lra_own_encode(x, f, i, e) != 0) return LRA_FAILED;
            size_t n = (size_t)(x->row.n * x->row.width);
            x->hash[f->first + i] = x->row.value
                                        ? lra_hash64(x->row.value, n * sizeof *x->row.value)
                                        : lra_hash64(x->row.token, n * sizeof *x->row.token);
            x->own.n_truncated += is_truncated(x, f, i);
            x->own.n_empty += x->own.input == LRA_OWN_TEXT && x->row.n == 1;
        }
    count_repeated(x);
    return 0;
}
