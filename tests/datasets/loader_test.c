/* labels: quick timeout: 600 */
/* Batches of every task, objective and augmentation are bitwise equal for any number of threads,
 * with and without a helper, in any order of batches and of epochs, and for a loader that starts in
 * the middle. For tasks whose data can only be imported, rows of the same shape are generated
 * here. */
#include "tests/fixtures/test.h"

#include <omp.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

enum {
    B = 2,
    EPOCHS = 3,
    MOST = 8,
    WAYS = 3,
    LARGE = 1 << 15 /* number of tokens from which on a helper is used */
};

/* ---- data ------------------------------------------------------------------------------------ */

/* Lengths of the rows generated for tasks that can only be imported: fixed, or up to `length`. */
static const struct {
    const char *task;
    int64_t length;
    int width;
    bool equal;
} shapes[] = {
    {"text", 90, 1, false},        {"file", 90, 1, false},
    {"retrieval", 90, 1, false},   {"text8", 700, 1, true},
    {"enwik8", 700, 1, true},      {"wikitext-103", 400, 2, true},
    {"image", 1024, 3, true},      {"image-tokens", 1024, 1, true},
    {"scifar", 1024, 3, true},     {"smnist", 784, 1, true},
    {"pmnist", 784, 1, true},      {"speech-commands", 16000, 1, true},
    {"bidmc-hr", 4000, 2, true},   {"bidmc-rr", 4000, 2, true},
    {"bidmc-spo2", 4000, 2, true},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static const lra_task *made_up; /* the task for which rows are generated */

static int shape_of(const lra_task *t)
{
    int k = 0;
    while (k < N_SHAPES && strcmp(shapes[k].task, t->name) != 0) k++;
    return k;
}

static void make_row(const lra_task *t, int k, lra_rng *rng, lra_row *row)
{
    bool words = t->input.vocab > 0;
    row->n = shapes[k].equal ? shapes[k].length : shapes[k].length / 2 + lra_rng_below(rng, 40);
    row->middle = t->goal == LRA_GOAL_PAIR ? row->n / 3 : 0;
    row->label = t->n_classes ? (int32_t)lra_rng_below(rng, (uint32_t)t->n_classes) : 0;
    for (int64_t i = 0; i < row->n * row->width; i++) {
        uint32_t vocab = (uint32_t)(t->input.vocab > 65536 ? 65536 : t->input.vocab);
        if (t->input.vocab > 65536 && i % 2) vocab = 4; /* this token is the upper half of an id */
        if (words) row->token[i] = (uint16_t)lra_rng_below(rng, vocab);
        if (!words) row->value[i] = (float)lra_rng_u01(rng);
    }
    if (row->n_targets) row->target[0] = (float)lra_rng_u01(rng);
}

static int make_rows(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    const lra_task *t = made_up;
    int k = shape_of(t);
    size_t numbers = (size_t)(shapes[k].length * shapes[k].width);
    float target;
    lra_row row = {.width = shapes[k].width, .n_targets = t->n_targets, .target = &target};
    if (t->input.vocab) row.token = lra_alloc_array(numbers, sizeof *row.token);
    if (!t->input.vocab) row.value = lra_alloc_array(numbers, sizeof *row.value);
    if (!row.n_targets) row.target = NULL;
    uint64_t index = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int i = t->goal == LRA_GOAL_NEXT ? 1 : 7; i > 0; i--) {
            lra_rng rng = lra_rng_new(1, 2, index++);
            make_row(t, k, &rng, &row);
            lra_sequences_add(&split[s], &row);
        }
    lra_free(row.token);
    lra_free(row.value);
    return 0;
}

static lra_dataset *open_data(const lra_task *t)
{
    static lra_task copy;
    lra_err e = {{0}};
    lra_config *c = lra_task_config(t, "quick", &e);
    if (t->data.make && t->data.resize) t->data.resize(c, 10);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (lra_config_has(c, lra_split_names[s])) lra_config_set(c, lra_split_names[s], "7");
    copy = *t;
    made_up = t;
    if (!t->data.make && shape_of(t) == N_SHAPES) fail_msg("'%s' has no rows here", t->name);
    if (!t->data.make) copy.data.make = make_rows;
    lra_dataset *d = lra_dataset_make(t->data.make ? t : &copy, c, &e);
    if (!d) fail_msg("%s: %s", t->name, e.msg);
    lra_config_free(c);
    return d;
}

/* ---- batches --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, int64_t n, size_t size)
{
    uint64_t pair[2] = {hash, bytes ? lra_hash64(bytes, (size_t)n * size) : 0};
    return lra_hash64(pair, sizeof pair);
}

/* Returns a hash of all arrays of the batches. */
static uint64_t hash_of(const lra_loader_spec *s, const lra_batch *b)
{
    const lra_task *t = s->data->task;
    bool stream = t->goal == LRA_GOAL_NEXT;
    int64_t T = stream ? s->data->max_length : s->buckets->length[b->bucket];
    int64_t steps = b->n * T, C = t->input.channels, seen = lra_mask_channels(s->data, s->masking);
    int64_t targets = (t->goal == LRA_GOAL_TOKENS ? B * T : B) * t->n_targets;
    uint64_t h = mix((uint64_t)b->bucket, b->token, steps, sizeof *b->token);
    h = mix(h, b->value, steps * seen, sizeof *b->value);
    h = mix(h, b->length, b->n, sizeof *b->length);
    h = mix(h, b->label, stream ? steps : B, sizeof *b->label);
    h = mix(h, b->target, targets, sizeof *b->target);
    h = mix(h, b->target_mask, targets, sizeof *b->target_mask);
    h = mix(h, b->row, B, sizeof *b->row);
    h = mix(h, b->word, steps, sizeof *b->word);
    h = mix(h, b->value_target, steps * C, sizeof *b->value_target);
    return mix(h, b->value_mask, steps * C, sizeof *b->value_mask);
}

typedef struct {
    uint64_t batch[EPOCHS][MOST];
} hashes;

/* Hashes all batches of all epochs. way: 0: one thread, in order; 1: with a helper thread, epochs
 * in another order; 2: also batches in reverse order, with a new loader for each epoch. */
static void hash_all(lra_loader_spec s, int way, hashes *out)
{
    static const int order[WAYS][EPOCHS] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
    s.alone = way == 0;
    lra_loader *l = lra_loader_new(&s);
    for (int k = 0; k < EPOCHS; k++) {
        int epoch = order[way][k];
        if (way == 2) {
            lra_loader_free(l);
            l = lra_loader_new(&s);
        }
        lra_loader_epoch(l, epoch);
        int64_t n = lra_loader_batches(l) < MOST ? lra_loader_batches(l) : MOST;
        if (n < (s.training ? 2 : 1))
            fail_msg("%s: %lld batches", s.data->task->name, (long long)n);
        for (int64_t i = 0; i < n; i++) {
            int64_t at = way == 2 ? n - 1 - i : i;
            out->batch[epoch][at] = hash_of(&s, lra_loader_get(l, at));
        }
    }
    lra_loader_free(l);
}

/* Options of a loader. */
typedef struct {
    int split;
    bool training, augment, large, levels;
    lra_masking masking;
} view;

enum { MOST_VIEWS = 64 };

/* Lists the options to test: training with every objective, and evaluation; with small batches and
 * with batches large enough for a helper. */
static int views_of(const lra_dataset *d, view *v)
{
    lra_err e;
    int n = 0;
    for (int kind = LRA_MASK_NONE; kind <= LRA_MASK_NEXT; kind++) {
        const lra_masking m = {(lra_mask_kind)kind, 0.3};
        if (lra_mask_check(d, m, &e) != 0) continue;
        for (int large = 0; large < 2; large++)
            for (int augment = 0; augment <= (d->task->data.augment != NULL); augment++)
                v[n++] = (view){LRA_TRAIN_SPLIT, true, augment, large, false, m};
        v[n++] = (view){LRA_VAL_SPLIT, false, false, false, false, m};
    }
    if (d->task->input.channels && d->task->input.vocab)
        v[n++] = (view){LRA_TRAIN_SPLIT, true, d->task->data.augment != NULL, false, true, {0}};
    return n;
}

static void hash_views(const lra_dataset *d, int way, hashes *out)
{
    const lra_buckets natural = lra_buckets_find(d);
    int64_t last = natural.length[natural.n - 1];
    const lra_buckets wide = {1, {last > LARGE / B ? last : LARGE / B}};
    view v[MOST_VIEWS];
    int n = views_of(d, v);
    for (int k = 0; k < n; k++) {
        lra_loader_spec s = {.data = d,
                             .split = v[k].split,
                             .buckets = v[k].large ? &wide : &natural,
                             .batch = B,
                             .seed = 11,
                             .training = v[k].training,
                             .augment = v[k].augment,
                             .levels = v[k].levels,
                             .masking = v[k].masking};
        hash_all(s, way, &out[k]);
    }
}

/* Checks that epochs differ if they contain random draws. */
static void check_epochs(const lra_dataset *d, const hashes *found)
{
    view v[MOST_VIEWS];
    int n = views_of(d, v);
    for (int k = 0; k < n; k++)
        if (v[k].training &&
            memcmp(found[k].batch[0], found[k].batch[1], sizeof found[k].batch[0]) == 0)
            fail_msg("%s, view %d: two epochs are the same", d->task->name, k);
}

TEST(same_bits_any_way)
{
    static const int threads[WAYS] = {1, 2, 4};
    static hashes found[WAYS][MOST_VIEWS];
    for (int i = 0; lra_task_at(i); i++) {
        char fingerprint[17] = "";
        memset(found, 0, sizeof found);
        for (int way = 0; way < WAYS; way++) {
            omp_set_num_threads(threads[way]);
            lra_dataset *d = open_data(lra_task_at(i));
            if (way) assert_string_equal(d->fingerprint, fingerprint);
            memcpy(fingerprint, d->fingerprint, sizeof fingerprint);
            hash_views(d, way, found[way]);
            if (way == 0) check_epochs(d, found[0]);
            lra_dataset_free(d);
        }
        for (int way = 1; way < WAYS; way++)
            for (int k = 0; k < MOST_VIEWS; k++)
                if (memcmp(&found[way][k], &found[0][k], sizeof found[0][k]) != 0)
                    fail_msg("%s, view %d: %d threads give other batches", lra_task_at(i)->name, k,
                             threads[way]);
    }
}

/* Another seed gives other batches, so the comparisons above are not trivial. */
TEST(seeds_differ)
{
    for (int i = 0; lra_task_at(i); i++) {
        lra_dataset *d = open_data(lra_task_at(i));
        const lra_buckets b = lra_buckets_find(d);
        lra_loader_spec s = {.data = d, .buckets = &b, .batch = B, .seed = 1, .training = true};
        hashes one = {{{0}}}, two = {{{0}}};
        hash_all(s, 0, &one);
        s.seed = 2;
        hash_all(s, 0, &two);
        if (memcmp(&one, &two, sizeof one) == 0)
            fail_msg("%s: two seeds give the same batches", d->task->name);
        lra_dataset_free(d);
    }
}
