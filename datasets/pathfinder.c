/* Pathfinder: decides whether two markers are joined by a path of dashes. Two classes.
 * An image is a function of (data-seed, level, size, number) alone. Every level has `images`
 * images, divided into 80, 10 and 10 % by torch's random_split with seed 42, as in the public
 * pipelines.
 * sets=three trains on the training parts of all levels; validation and test use the hard level.
 * The input of a model at a pixel is (x/255 - 1/2) / (1/2), one number, row by row.
 * path-x and path-x-256 are the hard level with 128 x 128 and 256 x 256 pixels: 16,384 and 65,536
 * tokens.
 * Source: Linsley et al. 2018; Tay et al. 2021; three sets: the locality paper.
 * Images are not checked for repetitions; no two of 60,000 easy images were equal.
 * Known: labels are fair coins. The distance of the markers alone predicts about 58.7 % of easy
 * labels, 54.6 % of intermediate labels, and hard labels hardly better than chance. */
#include "datasets/pathfinder/pathfinder.h"

#include <math.h>
#include <string.h>

#include "datasets/formats/image_show.h"
#include "datasets/loader/augment.h"
#include "datasets/loader/split.h"
#include "datasets/pathfinder/file.h"
#include "datasets/pathfinder/marker.h"
#include "datasets/pathfinder/write.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"

enum { SPLIT_SEED = 42 };

/* ---- make ------------------------------------------------------------------------------------ */

static int validate(const lra_config *c, lra_err *e)
{
    lra_pathfinder_spec s;
    return lra_pathfinder_spec_read(c, &s, e) == 0 ? 0 : LRA_USAGE;
}

static void resize(lra_config *c, int64_t n)
{
    lra_config_set_int(c, "images", n);
}

static lra_pathfinder *generator(const lra_pathfinder_spec *s, int level)
{
    int dashes = s->dashes > 0 ? s->dashes : lra_pathfinder_level_paddles[level];
    return lra_pathfinder_new(s->size, dashes, s->n_distractors, s->uniform);
}

/* ---- splits ---------------------------------------------------------------------------------- */

static void divide(int64_t n, int64_t part[LRA_N_SPLITS])
{
    part[LRA_VAL_SPLIT] = part[LRA_TEST_SPLIT] = (int64_t)floor(0.1 * (double)n);
    part[LRA_TRAIN_SPLIT] = n - part[LRA_VAL_SPLIT] - part[LRA_TEST_SPLIT];
}

/* Returns a permutation of the image numbers, split by split, which the caller frees. */
static int64_t *order_of(int64_t n)
{
    int64_t *order = lra_alloc_array((size_t)n + 1, sizeof *order);
    lra_split_torch(SPLIT_SEED, n, order);
    return order;
}

/* Draws images order[0..n-1] and appends them to the rows of `to`. */
static int draw(const lra_pathfinder *g, uint64_t seed, const int64_t *order, int64_t n,
                lra_sequences *to, lra_err *e)
{
    int64_t window = lra_pathfinder_size_of(g)->window, pixels = window * window;
    uint16_t *token = lra_sequences_extend(to, n, pixels, 1, e);
    int32_t *label = to->label + to->n - n;
    if (!token) return LRA_FAILED;
#pragma omp parallel
    {
        lra_pathfinder_sheet *sheet = lra_pathfinder_sheet_new(g);
        uint8_t *pixel = lra_alloc((size_t)pixels);
#pragma omp for schedule(dynamic, 16)
        for (int64_t i = 0; i < n; i++) {
            if (lra_stop_signal()) continue;
            label[i] = lra_pathfinder_image(g, sheet, seed, (uint64_t)order[i], pixel, NULL);
            for (int64_t k = 0; k < pixels; k++) token[i * pixels + k] = pixel[k];
        }
        lra_free(pixel);
        lra_pathfinder_sheet_free(sheet);
    }
    return lra_stop_signal() ? lra_fail(e, "stopped while images were generated") : 0;
}

static int make(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    lra_pathfinder_spec s;
    int64_t part[LRA_N_SPLITS];
    if (lra_pathfinder_spec_read(c, &s, e) != 0) return LRA_USAGE;
    int64_t *order = order_of(s.images);
    int rc = 0;
    divide(s.images, part);
    for (int k = 0; k < s.n_sets && rc == 0; k++) {
        lra_pathfinder *g = generator(&s, s.set[k]);
        bool last = k == s.n_sets - 1;
        for (int64_t at = 0, p = 0; p < (last ? LRA_N_SPLITS : 1) && rc == 0; at += part[p++])
            rc = draw(g, s.seed, order + at, part[p], &split[p], e);
        lra_pathfinder_free(g);
    }
    lra_free(order);
    return rc;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int make_files(const lra_config *c, const char *folder, bool again, lra_err *e)
{
    lra_pathfinder_spec s;
    if (lra_pathfinder_spec_read(c, &s, e) != 0) return LRA_USAGE;
    int rc = 0;
    lra_signals_hold(); /* signals wait until a batch of images is complete */
    for (int k = 0; k < s.n_sets && rc == 0; k++) {
        lra_pathfinder *g = generator(&s, s.set[k]);
        char *level = lra_format("%s/pathfinder%d/%s", folder, s.size->window,
                                 lra_pathfinder_level_folders[s.set[k]]);
        for (int64_t first = 0; first < s.images && rc == 0; first += LRA_PATHFINDER_BATCH) {
            int64_t n = s.images - first, batch = first / LRA_PATHFINDER_BATCH;
            if (n > LRA_PATHFINDER_BATCH) n = LRA_PATHFINDER_BATCH;
            char *done = lra_format("%s/metadata/%lld.npy", level, (long long)batch);
            if (again || !lra_file_exists(done))
                rc = lra_pathfinder_write_batch(g, level, batch, s.seed, first, n, e);
            if (rc == 0 && lra_stop_signal())
                rc = lra_fail(e, "stopped after %lld images of '%s'; the same command resumes",
                              (long long)(first + n), level);
            lra_free(done);
        }
        lra_free(level);
        lra_pathfinder_free(g);
    }
    lra_signals_release();
    return rc;
}

/* Reports which files are used and which are skipped. */
static void report(const lra_pathfinder_set *set, const char *level)
{
    if (set->n < set->n_listed)
        lra_warn("%s: %lld images listed, %lld missing, %lld empty, %lld undecodable%s%s: excluded",
                 level, (long long)set->n_listed, (long long)set->n_absent, (long long)set->n_empty,
                 (long long)set->n_broken, set->n_broken ? ", first: " : "", set->first_broken);
    if (set->n_doubled)
        lra_warn("%s: the archive contains %lld files twice; the last copy is used", level,
                 (long long)set->n_doubled);
    if (set->n_copies > 1)
        lra_warn("%s occurs %d times, %s; '%s' is used", level, set->n_copies,
                 set->equal ? "with the same files" : "with other files", set->folder);
}

/* Appends n images, order[0..n-1] of the level, to a split. */
static int append(const lra_pathfinder_set *set, const int64_t *order, int64_t n, lra_sequences *to,
                  lra_err *e)
{
    int64_t pixels = (int64_t)set->window * set->window;
    uint16_t *token = lra_sequences_extend(to, n, pixels, 1, e);
    if (!token) return LRA_FAILED;
    int32_t *label = to->label + to->n - n;
#pragma omp parallel
    {
        uint8_t *pixel = lra_alloc((size_t)pixels);
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < n; i++) {
            lra_pathfinder_decode(set, order[i], pixel);
            for (int64_t k = 0; k < pixels; k++) token[i * pixels + k] = pixel[k];
            label[i] = set->label[order[i]];
        }
        lra_free(pixel);
    }
    return 0;
}

/* Appends the images of one level to the splits: the training part, and if `last` also validation
 * and test. */
static int import_level(const lra_pathfinder_set *set, int level, bool last,
                        lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    int64_t part[LRA_N_SPLITS];
    report(set, lra_pathfinder_level_names[level]);
    if (set->n < LRA_PATHFINDER_MIN_IMAGES)
        return lra_fail(e, "'%s' has %lld images, expected at least %d", set->folder,
                        (long long)set->n, LRA_PATHFINDER_MIN_IMAGES);
    int64_t *order = order_of(set->n);
    int rc = 0;
    divide(set->n, part);
    for (int64_t at = 0, p = 0; p < (last ? LRA_N_SPLITS : 1) && rc == 0; at += part[p++])
        rc = append(set, order + at, part[p], &split[p], e);
    lra_free(order);
    return rc;
}

static int import(const lra_config *c, const char *path, lra_dataset *d, lra_err *e)
{
    lra_pathfinder_spec s;
    lra_pathfinder_set set[LRA_PATHFINDER_LEVELS] = {{0}};
    int rc = lra_pathfinder_spec_read(c, &s, e);
    if (rc == 0) rc = lra_pathfinder_read(path, s.size->window, s.n_sets, s.set, set, e);
    for (int k = 0; k < s.n_sets && rc == 0; k++) {
        int64_t listed = set[k].n_listed;
        rc = import_level(&set[k], s.set[k], k == s.n_sets - 1, d->split, e);
        if (k == 0 || listed < d->n_official[0]) d->n_official[0] = listed;
        lra_pathfinder_sets_free(1, &set[k]);
    }
    lra_pathfinder_sets_free(LRA_PATHFINDER_LEVELS, set);
    return rc;
}

static int import_hash(const lra_config *c, const char *path, lra_digest *to, lra_err *e)
{
    lra_pathfinder_spec s;
    int rc = lra_pathfinder_spec_read(c, &s, e);
    return rc == 0 ? lra_pathfinder_hash(path, s.size->window, s.n_sets, s.set, to, e) : rc;
}

/* ---- baselines ------------------------------------------------------------------------------- */

/* Returns the distance of the two markers in each row, in pixels: (n), which the caller frees. */
static double *measure(const lra_sequences *r)
{
    double *distance = lra_alloc_array((size_t)r->n + 1, sizeof *distance);
#pragma omp parallel
    {
        lra_marker_finder *finder = NULL;
        uint8_t *pixel = NULL;
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < r->n; i++) {
            const uint16_t *token = r->token + r->start[i];
            int64_t pixels = r->start[i + 1] - r->start[i];
            int at[2][2];
            if (!finder) {
                int64_t window = (int64_t)lrint(sqrt((double)pixels));
                finder = lra_marker_finder_new(lra_pathfinder_size_find(window));
                pixel = lra_alloc((size_t)pixels);
            }
            for (int64_t k = 0; k < pixels; k++) pixel[k] = (uint8_t)token[k];
            lra_marker_find(finder, pixel, at);
            distance[i] = lra_marker_distance(at);
        }
        lra_marker_finder_free(finder);
        lra_free(pixel);
    }
    return distance;
}

/* Marks the centre pixels of both markers. */
static void marks(const lra_row *row, bool *marked)
{
    int64_t window = (int64_t)lrint(sqrt((double)row->n));
    lra_marker_finder *finder = lra_marker_finder_new(lra_pathfinder_size_find(window));
    uint8_t *pixel = lra_alloc((size_t)row->n);
    int at[2][2];
    for (int64_t k = 0; k < row->n; k++) pixel[k] = (uint8_t)row->token[k];
    lra_marker_find(finder, pixel, at);
    for (int k = 0; k < 2; k++) marked[at[k][0] * window + at[k][1]] = true;
    lra_free(pixel);
    lra_marker_finder_free(finder);
}

static void marker_distance(const lra_sequences *train, const lra_sequences *of, int32_t *predicted)
{
    lra_distance_rule rule = {0};
    double *distance = measure(train);
    for (int64_t i = 0; i < train->n; i++)
        lra_distance_rule_add(&rule, distance[i], train->label[i]);
    lra_distance_rule_fit(&rule);
    lra_free(distance);
    distance = measure(of);
    for (int64_t i = 0; i < of->n; i++) predicted[i] = lra_distance_rule_label(&rule, distance[i]);
    lra_free(distance);
}

static const char *baseline(int b, const lra_sequences *train, const lra_sequences *of,
                            int32_t *predicted)
{
    int32_t label;
    switch (b) {
    case 0:
        lra_sequences_majority(train, 2, &label);
        for (int64_t i = 0; i < of->n; i++) predicted[i] = label;
        return "constant";
    case 1: marker_distance(train, of, predicted); return "marker-distance";
    default: return NULL;
    }
}

/* ---- the tasks ------------------------------------------------------------------------------- */

static int64_t longest(const lra_config *c)
{
    int64_t size = lra_config_int(c, "size");
    return size * size;
}

#define PATHFINDER_TRAINED(quick_rows, small_rows)                                                 \
    .quick = {quick_rows, "batch=64 epochs=2 warmup=0.05 final-share=0.5 final-rate=0.1", 2},      \
    .small = {small_rows, "batch=64 epochs=4 warmup=0.02", 3},                                     \
    .paper = {NULL, "batch=128 epochs=200", 3}
/* "quick" trains for a single epoch: for the same time, more distinct images are better than a
 * second epoch. */
#define PATH_X_TRAINED(quick_rows, small_rows)                                                     \
    .quick = {quick_rows, "batch=8 epochs=1 warmup=0.05 final-share=0.34 final-rate=0.1", 2},      \
    .small = {small_rows, "batch=16 epochs=10 warmup=0.02", 2},                                    \
    .paper = {NULL, "batch=32 epochs=50", 3}

#define PATHFINDER_TASK(symbol, task, question, level, size, ...)                                  \
    const lra_task lra_task_##symbol = {                                                           \
        .name = task,                                                                              \
        .summary = question,                                                                       \
        .files.source = LRA_PATHFINDER_SOURCE,                                                     \
        .files.published = {200000},                                                               \
        .n_classes = 2,                                                                            \
        .input.vocab = 256,                                                                        \
        .data.longest = longest,                                                                   \
        .data.grammar = LRA_GRAMMAR_DRAWING,                                                       \
        .input.image = true,                                                                       \
        .input.channels = 1,                                                                       \
        .input.level_scale = 2.0 / 255,                                                            \
        .input.level_shift = -1,                                                                   \
        .input.predicts_levels = true,                                                             \
        .keys =                                                                                    \
            (const lra_key[]){                                                                     \
                LRA_CHOICE_KEY("level", level, "easy|intermediate|hard",                           \
                               "difficulty, which sets dashes and distractors"),                   \
                LRA_CHOICE_KEY("size", size, "32|64|128|256",                                      \
                               "side length of an image, in pixels"),                              \
                LRA_INT_KEY("images", "200000", LRA_PATHFINDER_MIN_IMAGES, 1 << 24,                \
                            "number of images of each level"),                                     \
                LRA_CHOICE_KEY("sets", "one", "one|three",                                         \
                               "three: train on all levels, test on hard"),                        \
                LRA_CHOICE_KEY(                                                                    \
                    "seeding", "reference", "reference|uniform",                                   \
                    "directions in which paths start: those of the reference generator, or all"),  \
                LRA_INT_KEY("distractors", "-1", -1, 100,                                          \
                            "number of distractor paths (-1 = as the level defines)"),             \
                LRA_INT_KEY("dashes", "-1", -1, LRA_PATHFINDER_HARD,                               \
                            "number of dashes of a path (-1 = as the level defines)"),             \
                LRA_DATA_SEED_KEY, LRA_KEYS_END},                                                  \
        __VA_ARGS__,                                                                               \
        .validate = validate,                                                                      \
        .data.resize = resize,                                                                     \
        .data.make = make,                                                                         \
        .files.import_keys = "level size sets",                                                    \
        .files.import = import,                                                                    \
        .files.import_hash = import_hash,                                                          \
        .data.augment = lra_augment_d4,                                                            \
        .baseline = baseline,                                                                      \
        .files.make_files = make_files,                                                            \
        .files.inspect = lra_pathfinder_inspect,                                                   \
        .text.marks = marks,                                                                       \
        .text.show = lra_image_show,                                                               \
    }

PATHFINDER_TASK(pathfinder, "pathfinder",
                "are two markers connected by a path of 14 dashes? images, two classes", "hard",
                "32", PATHFINDER_TRAINED("level=easy images=10000", "level=easy images=20000"));
PATHFINDER_TASK(pathfinder_intermediate, "pathfinder-intermediate",
                "pathfinder with paths of 9 dashes", "intermediate", "32",
                PATHFINDER_TRAINED("images=10000", "images=20000"));
PATHFINDER_TASK(pathfinder_easy, "pathfinder-easy", "pathfinder with paths of 6 dashes", "easy",
                "32", PATHFINDER_TRAINED("images=10000", "images=20000"));
PATHFINDER_TASK(path_x, "path-x", "pathfinder with 128 x 128 pixels", "hard", "128",
                PATH_X_TRAINED("level=easy images=800", "level=easy images=2000"));
PATHFINDER_TASK(path_x_256, "path-x-256", "pathfinder with 256 x 256 pixels", "hard", "256",
                PATH_X_TRAINED("level=easy images=300", "level=easy images=500"));
