/* Batches: order, buckets, padding. */
#include "datasets/batch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

/* LARGE: tokens of a batch from which on a helper saves more than waking it costs (some 10 us). */
enum { WINDOW = 64, LARGE = 1 << 15, ORDER_STREAM = 0x4F52, AUGMENT_STREAM = 0x4155 };

/* ---- buckets ---------------------------------------------------------------------------------------- */

/* Dynamic programming over multiples of the unit: cost of a bucket that ends at j and starts after i is
 * (number of rows with i < length <= j) * j. */
lra_buckets lra_buckets_find(const lra_dataset *d)
{
    int64_t unit = d->max_length > 512  ? 64
                   : d->max_length > 64 ? 8
                                        : 2,
            n = (d->max_length + unit - 1) / unit;
    int64_t *below = lra_alloc_array((size_t)n + 1, sizeof *below); /* rows of at most i units */
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT];
    for (int64_t i = 0; i < train->n; i++)
        below[(train->start[i + 1] - train->start[i] + unit - 1) / unit]++;
    for (int64_t i = 1; i <= n; i++) below[i] += below[i - 1];

    size_t cells = (size_t)(LRA_MAX_BUCKETS + 1) * (size_t)(n + 1);
    double *cost = lra_alloc_array(cells, sizeof *cost);
    int64_t *from = lra_alloc_array(cells, sizeof *from);
    for (int64_t j = 1; j <= n; j++) cost[j] = 1e300; /* no bucket holds no row */
    for (int64_t k = 1; k <= LRA_MAX_BUCKETS; k++)
        for (int64_t j = 0; j <= n; j++) {
            double *best = &cost[k * (n + 1) + j];
            *best = cost[(k - 1) * (n + 1) + j];
            from[k * (n + 1) + j] = j;
            for (int64_t i = 0; i < j; i++) {
                double c = cost[(k - 1) * (n + 1) + i] + (double)((below[j] - below[i]) * j);
                if (c < *best) *best = c, from[k * (n + 1) + j] = i;
            }
        }
    lra_buckets b = {0};
    int64_t ends[LRA_MAX_BUCKETS], at = n;
    for (int64_t k = LRA_MAX_BUCKETS; k > 0 && at > 0; k--) {
        int64_t before = from[k * (n + 1) + at];
        if (before == at) continue;
        ends[b.n++] = at * unit;
        at = before;
    }
    for (int i = 0; i < b.n; i++) b.length[i] = ends[b.n - 1 - i];
    lra_free(below);
    lra_free(cost);
    lra_free(from);
    return b;
}

/* ---- the loader ------------------------------------------------------------------------------------- */

struct lra_loader {
    const lra_task *task;
    const lra_sequences *rows;
    lra_buckets buckets;
    int64_t batch, n_batches, epoch;
    uint64_t seed;
    bool training, augment;
    int64_t *order; /* (n_batches * batch) rows, -1: none */
    uint16_t *row;  /* one, for the augmentation */

    lra_batch buffer[2];
    int current;   /* the buffer that was given out; the helper fills the other */
    int64_t ahead; /* the batch in the other buffer, -1: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool large, started, busy, stop;
};

static void wait_for_helper(lra_loader *l);
static void fill_ahead(lra_loader *l, int64_t i);
static void stop_helper(lra_loader *l);

/* A row and its length, for sorting. */
typedef struct {
    int64_t length, row;
} keyed;

static int by_length(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int64_t length_of(const lra_loader *l, int64_t row)
{
    return l->rows->start[row + 1] - l->rows->start[row];
}

lra_loader *lra_loader_new(const lra_task *task, const lra_sequences *rows,
                           const lra_buckets *buckets, int64_t batch, uint64_t seed, bool training,
                           bool augment)
{
    lra_loader *l = lra_alloc(sizeof *l);
    l->task = task, l->rows = rows, l->buckets = *buckets, l->batch = batch;
    l->seed = seed, l->training = training, l->augment = augment && task->augment;
    l->n_batches = training ? rows->n / batch : (rows->n + batch - 1) / batch;
    int64_t longest = buckets->length[buckets->n - 1];
    int64_t all = l->n_batches * batch > rows->n ? l->n_batches * batch : rows->n;
    l->order = lra_alloc_array((size_t)all + 1, sizeof *l->order);
    for (int k = 0; k < 2; k++) {
        if (task->level_scale != 0)
            l->buffer[k].value = lra_alloc_array((size_t)(batch * longest), sizeof(float));
        else
            l->buffer[k].token = lra_alloc_array((size_t)(batch * longest), sizeof(int32_t));
        l->buffer[k].length = lra_alloc_array((size_t)batch, sizeof(int32_t));
        l->buffer[k].label = lra_alloc_array((size_t)batch, sizeof(int32_t));
    }
    l->large = training && batch * longest >= LARGE;
    l->ahead = -1;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->row = lra_alloc_array((size_t)longest, sizeof *l->row);
    lra_loader_epoch(l, 0);
    return l;
}

void lra_loader_free(lra_loader *l)
{
    if (!l) return;
    stop_helper(l);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    lra_free(l->order);
    for (int k = 0; k < 2; k++) {
        lra_free(l->buffer[k].token);
        lra_free(l->buffer[k].value);
        lra_free(l->buffer[k].length);
        lra_free(l->buffer[k].label);
    }
    lra_free(l->row);
    lra_free(l);
}

int64_t lra_loader_batches(const lra_loader *l)
{
    return l->n_batches;
}

/* Sorts order[from .. from+n-1] by length. */
static void sort_rows(lra_loader *l, int64_t from, int64_t n)
{
    keyed *k = lra_alloc_array((size_t)n + 1, sizeof *k);
    for (int64_t i = 0; i < n; i++)
        k[i] = (keyed){length_of(l, l->order[from + i]), l->order[from + i]};
    qsort(k, (size_t)n, sizeof *k, by_length);
    for (int64_t i = 0; i < n; i++) l->order[from + i] = k[i].row;
    lra_free(k);
}

static void shuffle_batches(lra_loader *l, lra_rng *rng)
{
    size_t size = (size_t)l->batch * sizeof *l->order;
    int64_t *copy = lra_alloc(size + 1);
    for (int64_t i = l->n_batches - 1; i > 0; i--) {
        int64_t *a = l->order + i * l->batch;
        int64_t *b = l->order + (int64_t)lra_rng_below(rng, (uint32_t)i + 1) * l->batch;
        memcpy(copy, a, size);
        memmove(a, b, size);
        memcpy(b, copy, size);
    }
    lra_free(copy);
}

void lra_loader_epoch(lra_loader *l, int64_t epoch)
{
    int64_t n = l->rows->n, window = WINDOW * l->batch;
    wait_for_helper(l);
    l->ahead = -1;
    l->epoch = epoch;
    for (int64_t i = 0; i < n; i++) l->order[i] = i;
    for (int64_t i = n; i < l->n_batches * l->batch; i++) l->order[i] = -1;
    if (!l->training) {
        sort_rows(l, 0, n);
        return;
    }
    lra_rng rng = lra_rng_new(l->seed, ORDER_STREAM, (uint64_t)epoch);
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t other = lra_rng_below(&rng, (uint32_t)i + 1), row = l->order[i];
        l->order[i] = l->order[other];
        l->order[other] = row;
    }
    int64_t used = l->n_batches * l->batch;
    for (int64_t from = 0; from < used; from += window)
        sort_rows(l, from, used - from < window ? used - from : window);
    shuffle_batches(l, &rng);
}

static int bucket_of(const lra_loader *l, const int64_t *rows)
{
    int64_t longest = 1;
    for (int64_t i = 0; i < l->batch; i++)
        if (rows[i] >= 0 && length_of(l, rows[i]) > longest) longest = length_of(l, rows[i]);
    int b = 0;
    while (l->buckets.length[b] < longest) b++;
    return b;
}

/* The tokens of a row, augmented; l->row holds them when they were changed. */
static const uint16_t *tokens_of(lra_loader *l, int64_t row, int64_t n)
{
    const uint16_t *from = l->rows->token + l->rows->start[row];
    if (!l->augment) return from;
    uint64_t index = (uint64_t)l->epoch * (uint64_t)l->rows->n + (uint64_t)row;
    lra_rng rng = lra_rng_new(l->seed, AUGMENT_STREAM, index);
    memcpy(l->row, from, (size_t)n * sizeof *from);
    l->task->augment(&rng, l->row, n);
    return l->row;
}

static void put_row(lra_loader *l, lra_batch *b, int64_t i, int64_t row, int64_t T)
{
    int64_t n = row < 0 ? 0 : length_of(l, row);
    const uint16_t *from = row < 0 ? NULL : tokens_of(l, row, n);
    if (b->value) {
        float *to = b->value + i * T, scale = (float)l->task->level_scale;
        float shift = (float)l->task->level_shift;
        for (int64_t t = 0; t < n; t++) to[t] = scale * (float)from[t] + shift;
        memset(to + n, 0, (size_t)(T - n) * sizeof *to);
    } else {
        int32_t *to = b->token + i * T;
        for (int64_t t = 0; t < n; t++) to[t] = from[t];
        memset(to + n, 0, (size_t)(T - n) * sizeof *to);
    }
    b->length[i] = row < 0 ? 1 : (int32_t)n;
    b->label[i] = row < 0 ? -1 : l->rows->label[row];
}

static void fill(lra_loader *l, lra_batch *b, int64_t i)
{
    b->row = l->order + i * l->batch;
    b->bucket = bucket_of(l, b->row);
    for (int64_t k = 0; k < l->batch; k++)
        put_row(l, b, k, b->row[k], l->buckets.length[b->bucket]);
}

/* ---- the helper fills the other buffer while a step runs; what a batch holds does not depend on it --- */

static void *helper(void *loader)
{
    lra_loader *l = loader;
    pthread_mutex_lock(&l->lock);
    while (!l->stop) {
        if (!l->busy) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        fill(l, &l->buffer[!l->current], l->ahead);
        pthread_mutex_lock(&l->lock);
        l->busy = false;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static void wait_for_helper(lra_loader *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->busy) pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

/* Signals are for the thread that trains.  Without a helper batches are made when they are asked for. */
static bool start_helper(lra_loader *l)
{
    sigset_t all, before;
    if (l->started) return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    l->started = pthread_create(&l->thread, NULL, helper, l) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return l->started;
}

static void fill_ahead(lra_loader *l, int64_t i)
{
    l->ahead = -1;
    if (!start_helper(l)) return;
    pthread_mutex_lock(&l->lock);
    l->ahead = i;
    l->busy = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void stop_helper(lra_loader *l)
{
    wait_for_helper(l);
    if (!l->started) return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
}

const lra_batch *lra_loader_get(lra_loader *l, int64_t i)
{
    if (i < 0 || i >= l->n_batches)
        LRA_BUG("batch %lld of %lld", (long long)i, (long long)l->n_batches);
    wait_for_helper(l);
    l->current = !l->current;
    if (l->ahead != i) fill(l, &l->buffer[l->current], i);
    if (l->large && i + 1 < l->n_batches) fill_ahead(l, i + 1);
    return &l->buffer[l->current];
}

double lra_loader_padding(const lra_loader *l)
{
    double real = 0, padded = 0;
    for (int64_t i = 0; i < l->n_batches; i++) {
        const int64_t *rows = l->order + i * l->batch;
        padded += (double)(l->batch * l->buckets.length[bucket_of(l, rows)]);
        for (int64_t k = 0; k < l->batch; k++)
            if (rows[k] >= 0) real += (double)length_of(l, rows[k]);
    }
    return padded > 0 ? 1 - real / padded : 0;
}
