/* Checks the files of a level: missing or broken images; labels, which must be balanced and must
 * agree with the images (by tracing paths); differences between the images and generated ones. If
 * there is a second copy of the level below the path (the public archive has two of pathfinder128),
 * compares their bytes and checks the labels of each copy: a public report states that the labels
 * of one are wrong. */
#include <math.h>
#include <string.h>

#include "datasets/pathfinder/file.h"
#include "datasets/pathfinder/image.h"
#include "datasets/pathfinder/pathfinder.h"
#include "datasets/pathfinder/stats.h"
#include "datasets/pathfinder/trace.h"
#include "kernels/base/core/mem.h"

/* TRACED: maximum number of pixels traced in a check, so that fewer of the larger images are
 * traced. */
enum { TRACED = 5000 * 1024, CHECK_SEED = 0x50434B };

static int64_t n_traced(int64_t n, int window)
{
    int64_t limit = TRACED / (window * window);
    return n < limit ? n : limit;
}

/* Returns the number of images to generate for comparison with n images of the files. It is 4 n,
 * because more would hardly reduce the error of the difference. It is at least 4,000 x 1,024 /
 * window^2, and at most 1,600 (above 128 px: 400) or the minimum if that is larger. An effect size
 * then has a standard error of 0.025 (128 px) or 0.05 (256 px). */
static int64_t n_generated(int64_t n, int window)
{
    int64_t least = (int64_t)4000 * 1024 / (window * window), most = window > 128 ? 400 : 1600;
    if (most < least) most = least;
    return 4 * n < least ? least : 4 * n < most ? 4 * n : most;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Counts the labels of the first n images that agree with the traced paths. */
static int64_t count_confirmed(const lra_pathfinder_spec *s, const uint8_t *pixel,
                               const int32_t *label, int64_t n)
{
    size_t pixels = (size_t)s->size->window * (size_t)s->size->window;
    int64_t right = 0;
#pragma omp parallel reduction(+ : right)
    {
        lra_pathfinder_tracer *t = lra_pathfinder_tracer_new(
            s->size, lra_pathfinder_level_paddles[s->level]);
#pragma omp for schedule(dynamic, 16)
        for (int64_t i = 0; i < n; i++)
            right += lra_pathfinder_trace(t, pixel + (size_t)i * pixels) == label[i];
        lra_pathfinder_tracer_free(t);
    }
    return right;
}

/* Tracing results on generated images, whose labels are correct: n images, of which `right`
 * agree. */
typedef struct {
    int64_t n, right;
} expectation;

/* Checks the labels of one copy of a level; names of facts start with `prefix`. Fails if the share
 * of confirmed labels is below the expectation by more than four standard errors of the difference
 * plus one image. */
static int check_labels(const lra_pathfinder_spec *s, const lra_pathfinder_set *set,
                        const uint8_t *pixel, const expectation *x, const char *prefix,
                        lra_facts *found, lra_err *e)
{
    int64_t n = n_traced(set->n, set->window), ones = 0;
    for (int64_t i = 0; i < set->n; i++) ones += set->label[i];
    double share = (double)count_confirmed(s, pixel, set->label, n) / (double)n;
    double expected = (double)(x->right + 1) / (double)(x->n + 2);
    double error = sqrt(expected * (1 - expected) * (1.0 / (double)n + 1.0 / (double)x->n));
    double least = expected - 4 * error - 1.0 / (double)n;
    lra_facts_add(found, 100 * (double)ones / (double)set->n, "%slabel 1, %%", prefix);
    lra_facts_add(found, (double)n, "%simages traced", prefix);
    lra_facts_add(found, 100 * share, "%slabels confirmed by traced paths, %%", prefix);
    lra_facts_add(found, 100 * fmax(0, least), "%sminimum expected, %%", prefix);
    if (share >= least) return 0;
    return lra_fail(e,
                    "the labels of '%s' do not fit the images: traced paths confirm %.1f %% of "
                    "%lld, expected %.1f %%, at least %.1f %%",
                    set->folder, 100 * share, (long long)n, 100 * expected, 100 * least);
}

static void check_markers(const lra_pathfinder_set *set, const double *distance, lra_facts *found)
{
    lra_distance_rule rule = {0};
    int64_t half = set->n / 2, right = 0;
    for (int64_t i = 0; i < half; i++) lra_distance_rule_add(&rule, distance[i], set->label[i]);
    lra_distance_rule_fit(&rule);
    for (int64_t i = half; i < set->n; i++)
        right += lra_distance_rule_label(&rule, distance[i]) == set->label[i];
    lra_facts_add(found, 100 * (double)right / (double)(set->n - half),
                  "labels predicted by marker distance, %%");
}

/* ---- two samples ----------------------------------------------------------------------------- */

/* Adds the measures of n images to `to`, in order, so that sums do not depend on the number of
 * threads. distance: (n) receives the marker distances. Nullable: distance. */
static void sum_up(const lra_pathfinder_size *size, const uint8_t *pixel, int64_t n,
                   lra_pathfinder_stats *to, double *distance)
{
    int pixels = size->window * size->window;
    double(*value)[LRA_PATHFINDER_N_MEASURES] = lra_alloc_array((size_t)n, sizeof *value);
#pragma omp parallel
    {
        lra_pathfinder_meter *meter = lra_pathfinder_meter_new(size);
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < n; i++) lra_pathfinder_measure(meter, pixel + i * pixels, value[i]);
        lra_pathfinder_meter_free(meter);
    }
    for (int64_t i = 0; i < n; i++) {
        lra_pathfinder_stats_add(to, pixels, pixel + i * pixels, value[i]);
        if (distance) distance[i] = value[i][LRA_PATHFINDER_DISTANCE];
    }
    lra_free(value);
}

/* Generates n images, adds their measures to `to`, and traces some of them. */
static expectation generate(const lra_pathfinder_spec *s, int64_t n, lra_pathfinder_stats *to)
{
    size_t pixels = (size_t)s->size->window * (size_t)s->size->window;
    uint8_t *pixel = lra_alloc_array((size_t)n, pixels);
    int32_t *label = lra_alloc_array((size_t)n, sizeof *label);
    lra_pathfinder *g = lra_pathfinder_new(s->size, lra_pathfinder_level_paddles[s->level],
                                           s->n_distractors, s->uniform);
#pragma omp parallel
    {
        lra_pathfinder_sheet *sheet = lra_pathfinder_sheet_new(g);
#pragma omp for schedule(dynamic, 16)
        for (int64_t i = 0; i < n; i++)
            label[i] = lra_pathfinder_image(g, sheet, CHECK_SEED, (uint64_t)i,
                                            pixel + (size_t)i * pixels, NULL);
        lra_pathfinder_sheet_free(sheet);
    }
    /* At most 2,000 generated images are traced; the standard error in check_labels() includes that
     * of their share. */
    expectation x = {.n = n_traced(n < 2000 ? n : 2000, s->size->window)};
    sum_up(s->size, pixel, n, to, NULL);
    x.right = count_confirmed(s, pixel, label, x.n);
    lra_pathfinder_free(g);
    lra_free(label);
    lra_free(pixel);
    return x;
}

static void compare(const lra_pathfinder_stats *files, const lra_pathfinder_stats *ours,
                    lra_facts *found)
{
    lra_facts_add(found, (double)ours->n, "generated images for comparison");
    for (int k = 0; k < LRA_PATHFINDER_N_MEASURES; k++) {
        double error, effect = lra_pathfinder_effect(files, ours, k, &error);
        const char *name = lra_pathfinder_measures[k];
        lra_facts_add(found, lra_pathfinder_mean(files, k), "%s", name);
        lra_facts_add(found, lra_pathfinder_mean(ours, k), "%s, generated", name);
        lra_facts_add(found, effect, "%s, effect size", name);
        lra_facts_add(found, error, "%s, its standard error", name);
    }
    lra_facts_add(found, lra_pathfinder_grey_distance(files, ours), "grey levels, total variation");
}

/* ---- the files ------------------------------------------------------------------------------- */

static void count_images(const lra_pathfinder_set *set, lra_facts *found)
{
    lra_facts_add(found, (double)set->n_listed, "images listed");
    lra_facts_add(found, (double)set->n, "images read");
    lra_facts_defect(found, set->n_absent, "absent");
    lra_facts_defect(found, set->n_empty, "empty");
    lra_facts_defect(found, set->n_broken, "undecodable");
    lra_facts_defect(found, set->n_doubled, "twice in the archive");
    lra_facts_add(found, (double)set->n_batches, "batches");
    lra_facts_add(found, (double)set->n_gaps, "missing numbers in between");
    lra_facts_add(found, set->n_copies, "copies");
    if (set->n_copies > 1) lra_facts_add(found, set->equal, "copies are equal");
}

static int check_images(const lra_pathfinder_spec *s, const lra_pathfinder_set *set,
                        const uint8_t *pixel, expectation *x, lra_facts *found, lra_err *e)
{
    lra_pathfinder_stats files = {0}, ours = {0};
    double *distance = lra_alloc_array((size_t)set->n, sizeof *distance);
    sum_up(s->size, pixel, set->n, &files, distance);
    *x = generate(s, n_generated(set->n, s->size->window), &ours);
    check_markers(set, distance, found);
    compare(&files, &ours, found);
    lra_facts_add(found, 100 * (double)x->right / (double)x->n,
                  "generated labels confirmed by traced paths, %%");
    lra_free(distance);
    return check_labels(s, set, pixel, x, "", found, e);
}

/* Checks images and labels of the first copy, and only the labels of other copies that differ from
 * it. */
static int check_copies(const lra_pathfinder_spec *s, const lra_pathfinder_set *set, int n,
                        lra_facts *found, lra_err *e)
{
    expectation x = {0};
    int rc = 0;
    for (int k = 0; k < n; k++) {
        if (k > 0 && set[k].hash == set[0].hash) continue;
        lra_err why = {{0}};
        uint8_t *pixel = lra_pathfinder_pixels(&set[k], &why);
        char *prefix = lra_format("copy %d, ", k + 1);
        if (k > 0) lra_facts_add(found, (double)set[k].n, "%simages read", prefix);
        int copy = !pixel   ? LRA_FAILED
                   : k == 0 ? check_images(s, set, pixel, &x, found, &why)
                            : check_labels(s, &set[k], pixel, &x, prefix, found, &why);
        lra_free(prefix);
        lra_free_large(pixel);
        if (copy != 0 && rc == 0) rc = lra_fail(e, "%s", why.msg);
    }
    return rc;
}

int lra_pathfinder_inspect(const lra_config *c, const char *path, lra_facts *found, lra_err *e)
{
    lra_pathfinder_spec s;
    lra_pathfinder_set *set;
    int n;
    if (lra_pathfinder_spec_read(c, &s, e) != 0) return LRA_USAGE;
    int rc = lra_pathfinder_read_copies(path, s.size->window, s.level, &n, &set, e);
    if (rc == 0) {
        count_images(&set[0], found);
        rc = check_copies(&s, set, n, found, e);
    }
    lra_pathfinder_sets_free(n, set);
    lra_free(set);
    return rc;
}
