/* Builds batches: order, buckets, padding. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/loader/fill.h"
#include "datasets/loader/permute.h"
#include "datasets/loader/split.h"
#include "datasets/loader/stream.h"
#include "kernels/base/core/mem.h"

/* LARGE: number of tokens of a batch above which a helper thread saves more time than waking it
 * costs (about 10 us). */
enum {
    WINDOW = 64,
    LARGE = 1 << 15,
    SUBSET_SEED = 42,
    ORDER_STREAM = 0x4F52,
    SAMPLE_STREAM = 0x5341
};

/* ---- the loader ------------------------------------------------------------------------------ */

static void wait_for_helper(lra_loader *l);
static void fill_ahead(lra_loader *l, int64_t i);
static void stop_helper(lra_loader *l);

/* An entry of lra_loader.order and the length of its row, for sorting. */
typedef struct {
    int64_t length, entry;
} keyed;

static int by_length(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Allocates arrays for a copy of the longest row, which the augmentation modifies. */
static void new_copy(lra_loader *l)
{
    int64_t longest = 1;
    for (int64_t i = 0; i < l->rows->n; i++) {
        int64_t n = l->rows->start[i + 1] - l->rows->start[i];
        if (n > longest) longest = n;
    }
    size_t numbers = (size_t)(longest * l->rows->width);
    size_t targets = (size_t)((l->rows->step_targets ? longest : 1) * l->rows->n_targets);
    if (l->rows->token) l->copy.token = lra_alloc_array(numbers, sizeof *l->copy.token);
    if (l->rows->value) l->copy.value = lra_alloc_array(numbers, sizeof *l->copy.value);
    if (targets) l->copy.target = lra_alloc_array(targets, sizeof *l->copy.target);
}

/* Allocates the arrays for targets of masked inputs. */
static void new_masked(const lra_loader *l, lra_batch *b, size_t steps)
{
    size_t values = steps * (size_t)l->data->task->input.channels;
    if (l->spec.masking.kind == LRA_MASK_NONE) return;
    if (lra_mask_predicts_tokens(l->data)) b->word = lra_alloc_array(steps, sizeof *b->word);
    if (values == 0) return;
    b->value_target = lra_alloc_array(values, sizeof *b->value_target);
    b->value_mask = lra_alloc_array(values, sizeof *b->value_mask);
}

static void free_buffer(lra_batch *b)
{
    lra_free(b->token);
    lra_free(b->value);
    lra_free(b->length);
    lra_free(b->label);
    lra_free(b->target);
    lra_free(b->target_mask);
    lra_free(b->row);
    lra_free(b->word);
    lra_free(b->value_target);
    lra_free(b->value_mask);
}

static void new_buffer(const lra_loader *l, lra_batch *b)
{
    const lra_task *t = l->data->task;
    int64_t T = l->buckets.length[l->buckets.n - 1], B = l->batch;
    b->n = t->goal == LRA_GOAL_PAIR ? 2 * B : B;
    size_t steps = (size_t)(b->n * T);
    size_t channels = (size_t)lra_mask_channels(l->data, l->spec.masking);
    if (t->input.channels) b->value = lra_alloc_array(steps * channels, sizeof(float));
    if (!t->input.channels || l->spec.levels) b->token = lra_alloc_array(steps, sizeof(int32_t));
    b->row = lra_alloc_array((size_t)B, sizeof *b->row);
    new_masked(l, b, steps);
    b->length = lra_alloc_array((size_t)b->n, sizeof(int32_t));
    b->label = lra_alloc_array(t->goal == LRA_GOAL_NEXT ? steps : (size_t)B, sizeof(int32_t));
    size_t targets = (size_t)((t->goal == LRA_GOAL_TOKENS ? B * T : B) * t->n_targets);
    if (!targets) return;
    b->target = lra_alloc_array(targets, sizeof(float));
    b->target_mask = lra_alloc_array(targets, sizeof(float));
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Selects `wanted` rows with the label frequencies of all rows: the shuffled rows are sorted by
 * label, and every (n / wanted)-th one is taken. */
static void stratify(lra_loader *l, int64_t wanted)
{
    int64_t n = l->n_rows;
    keyed *order = lra_alloc_array((size_t)n + 1, sizeof *order);
    int64_t *shuffled = lra_alloc_array((size_t)n + 1, sizeof *shuffled);
    memcpy(shuffled, l->all, (size_t)n * sizeof *shuffled);
    for (int64_t i = 0; i < n; i++) order[i] = (keyed){l->rows->label[shuffled[i]], i};
    qsort(order, (size_t)n, sizeof *order, by_length);
    for (int64_t i = 0; i < wanted; i++)
        l->all[i] = shuffled[order[(2 * i + 1) * n / (2 * wanted)].entry];
    lra_free(order);
    lra_free(shuffled);
}

/* Draws a sample that is the same for all runs on these data: the first rows of a Fisher-Yates
 * shuffle, or a stratified selection from all shuffled rows. */
static void draw_sample(lra_loader *l)
{
    int64_t n = l->n_rows, wanted = l->spec.sample;
    bool strata = l->spec.stratified && l->rows->label && !lra_loader_is_stream(l);
    lra_rng rng = lra_rng_new(strtoull(l->data->fingerprint, NULL, 16), SAMPLE_STREAM,
                              l->spec.sample_seed);
    if (wanted <= 0 || wanted >= n) return;
    /* a stratified selection reads all rows: shuffles those after the first `wanted`, too */
    for (int64_t i = wanted; i < n && strata; i++) {
        int64_t other = (int64_t)lra_rng_below(&rng, (uint32_t)(i + 1)), row = l->all[i];
        l->all[i] = l->all[other];
        l->all[other] = row;
    }
    for (int64_t i = 0; i < wanted; i++) {
        int64_t other = i + lra_rng_below(&rng, (uint32_t)(n - i)), row = l->all[i];
        l->all[i] = l->all[other];
        l->all[other] = row;
    }
    if (strata) stratify(l, wanted);
    qsort(l->all, (size_t)wanted, sizeof *l->all, ascending);
    l->n_rows = wanted;
}

/* Selects the rows in use: all, a fraction or a sample; ascending. */
static void choose_rows(lra_loader *l)
{
    bool windows = lra_loader_is_stream(l) && !l->spec.training;
    int64_t n = windows ? lra_stream_windows(l) : l->rows->n;
    int64_t *order = lra_alloc_array((size_t)n + 1, sizeof *order);
    l->n_rows = n;
    l->all = lra_alloc_array((size_t)n + 1, sizeof *l->all);
    for (int64_t i = 0; i < n; i++) l->all[i] = i;
    if (l->spec.fraction > 0 && !windows) {
        bool *used = lra_alloc_array((size_t)n + 1, sizeof *used);
        lra_split_numpy(SUBSET_SEED, n, order);
        l->n_rows = 0;
        int64_t chosen = (int64_t)floor(l->spec.fraction * (double)n + 1e-9);
        for (int64_t i = 0; i < chosen && i < n; i++) used[order[i]] = true;
        for (int64_t i = 0; i < n; i++)
            if (used[i]) l->all[l->n_rows++] = i;
        lra_free(used);
    }
    lra_free(order);
    if (!l->spec.training) draw_sample(l);
}

/* Computes the number of batches of an epoch, and allocates their order. */
static void count_batches(lra_loader *l)
{
    const lra_loader_spec *s = &l->spec;
    int64_t unit = l->batch * l->group, n = s->same_steps && l->n_rows ? l->rows->n : l->n_rows;
    l->n_batches = !s->training              ? (l->n_rows + l->batch - 1) / l->batch
                   : lra_loader_is_stream(l) ? lra_stream_windows(l) / l->batch
                                             : n / unit * l->group;
    int64_t used = l->n_batches * l->batch;
    bool again = s->training && s->same_steps && l->n_rows;
    l->passes = again ? (used + l->n_rows - 1) / l->n_rows : 1;
    int64_t all = l->passes * l->n_rows > used ? l->passes * l->n_rows : used;
    l->order = lra_alloc_array((size_t)all + 1, sizeof *l->order);
}

lra_loader *lra_loader_new(const lra_loader_spec *s)
{
    lra_loader *l = lra_alloc(sizeof *l);
    l->spec = *s, l->data = s->data, l->rows = &s->data->split[s->split];
    l->buckets = *s->buckets, l->batch = s->batch;
    l->spec.augment = s->augment && s->data->task->data.augment;
    l->group = s->training && s->group > 1 ? s->group : 1;
    bool asks_levels = s->masking.kind && s->data->task->input.channels &&
                       lra_mask_predicts_tokens(s->data);
    l->spec.levels = s->levels || asks_levels;
    if (s->permuted) l->label_from = lra_label_permutation(l->rows->n, s->seed, s->split);
    choose_rows(l);
    count_batches(l);
    l->shift = lra_alloc_array((size_t)(s->batch * l->group), sizeof *l->shift);
    for (int k = 0; k < LRA_LOADER_BUFFERS; k++) new_buffer(l, &l->buffer[k]);
    if (l->spec.augment) new_copy(l);
    l->large = s->training && !s->alone && s->batch * l->buckets.length[l->buckets.n - 1] >= LARGE;
    l->ahead = -1;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    lra_loader_epoch(l, 0);
    return l;
}

void lra_loader_free(lra_loader *l)
{
    if (!l) return;
    stop_helper(l);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    lra_free(l->all);
    lra_free(l->label_from);
    lra_free(l->order);
    lra_free(l->shift);
    for (int k = 0; k < LRA_LOADER_BUFFERS; k++) free_buffer(&l->buffer[k]);
    lra_free(l->copy.token);
    lra_free(l->copy.value);
    lra_free(l->copy.target);
    lra_free(l);
}

int64_t lra_loader_rows(const lra_loader *l)
{
    return lra_loader_is_stream(l) && l->spec.training ? lra_stream_windows(l) : l->n_rows;
}

const int64_t *lra_loader_used(const lra_loader *l)
{
    return l->all;
}

int64_t lra_loader_batches(const lra_loader *l)
{
    return l->n_batches;
}

/* Sorts order[from .. from+n-1] by row length. */
static void sort_rows(lra_loader *l, int64_t from, int64_t n)
{
    keyed *k = lra_alloc_array((size_t)n + 1, sizeof *k);
    for (int64_t i = 0; i < n; i++)
        k[i] = (keyed){lra_sequences_length(l->rows, lra_loader_row(l, l->order[from + i])),
                       l->order[from + i]};
    qsort(k, (size_t)n, sizeof *k, by_length);
    for (int64_t i = 0; i < n; i++) l->order[from + i] = k[i].entry;
    lra_free(k);
}

static void shuffle_batches(lra_loader *l, lra_rng *rng)
{
    int64_t unit = l->batch * l->group;
    size_t size = (size_t)unit * sizeof *l->order;
    int64_t *copy = lra_alloc(size + 1);
    for (int64_t i = l->n_batches / l->group - 1; i > 0; i--) {
        int64_t *a = l->order + i * unit;
        int64_t *b = l->order + (int64_t)lra_rng_below(rng, (uint32_t)i + 1) * unit;
        memcpy(copy, a, size);
        memmove(a, b, size);
        memcpy(b, copy, size);
    }
    lra_free(copy);
}

/* Writes the entries of one pass over the rows, in random order. */
static void shuffle_rows(lra_loader *l, int64_t pass, lra_rng *rng)
{
    int64_t n = l->n_rows, *order = l->order + pass * n;
    for (int64_t i = 0; i < n; i++) order[i] = l->all[i] + pass * l->rows->n;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t other = lra_rng_below(rng, (uint32_t)i + 1), entry = order[i];
        order[i] = order[other];
        order[other] = entry;
    }
}

void lra_loader_epoch(lra_loader *l, int64_t epoch)
{
    int64_t window = WINDOW * l->batch * l->group, used = l->n_batches * l->batch;
    wait_for_helper(l);
    l->ahead = -1;
    l->epoch = epoch;
    if (lra_loader_is_stream(l)) {
        lra_stream_epoch(l);
        return;
    }
    if (!l->spec.training) {
        for (int64_t i = 0; i < used; i++) l->order[i] = i < l->n_rows ? l->all[i] : -1;
        sort_rows(l, 0, l->n_rows);
        return;
    }
    lra_rng rng = lra_rng_new(l->spec.seed, ORDER_STREAM, (uint64_t)epoch);
    for (int64_t pass = 0; pass < l->passes; pass++) shuffle_rows(l, pass, &rng);
    for (int64_t from = 0; from < used; from += window)
        sort_rows(l, from, used - from < window ? used - from : window);
    shuffle_batches(l, &rng);
}

static void fill(lra_loader *l, lra_batch *b, int64_t i)
{
    if (lra_loader_is_stream(l))
        lra_stream_fill(l, b, i);
    else
        lra_loader_fill(l, b, i);
}

static int next_buffer(const lra_loader *l)
{
    return (l->current + 1) % LRA_LOADER_BUFFERS;
}

/* ---- the helper fills the next buffer while a step runs; batches do not depend on it --------- */

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
        fill(l, &l->buffer[next_buffer(l)], l->ahead);
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

/* Starts the helper thread with all signals blocked: the training thread handles signals. Returns
 * false if there is no helper thread; batches are then built on request. */
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
    l->current = next_buffer(l);
    if (l->ahead != i) fill(l, &l->buffer[l->current], i);
    if (l->large && i + 1 < l->n_batches) fill_ahead(l, i + 1);
    return &l->buffer[l->current];
}

double lra_loader_padding(const lra_loader *l)
{
    double real = 0, padded = 0;
    if (lra_loader_is_stream(l)) return 0;
    for (int64_t i = 0; i < l->n_batches; i++) {
        const int64_t *entry = l->order + i * l->batch;
        int64_t T = l->buckets.length[lra_loader_bucket(l, entry)];
        padded += (double)(l->buffer[0].n * T);
        for (int64_t k = 0; k < l->batch; k++) {
            int64_t row = lra_loader_row(l, entry[k]);
            if (row >= 0) real += (double)(l->rows->start[row + 1] - l->rows->start[row]);
        }
    }
    return padded > 0 ? 1 - real / padded : 0;
}
