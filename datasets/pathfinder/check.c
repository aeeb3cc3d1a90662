/* Checking the files of a level: which images are missing or broken, whether labels are fair coins and belong to
 * the images (paths are traced), and how far the images differ from generated ones.
 * With a second copy of the level below the path (the public archive has two of pathfinder128), whether both hold
 * the same bytes. */
#include <math.h>
#include <string.h>

#include "datasets/pathfinder/pathfinder.h"
#include "datasets/pathfinder/stats.h"
#include "datasets/pathfinder/trace.h"
#include "kernels/base/mem.h"

/* Pixels that tracing and generating may take, so that larger images are fewer. */
enum { TRACED = 5000 * 1024, GENERATED = 4000 * 1024, CHECK_SEED = 0x50434B };

static int64_t at_most(int64_t n, int64_t pixels, int window)
{
    int64_t limit = pixels / (window * window);
    return n < limit ? n : limit;
}

/* ---- labels ------------------------------------------------------------------------------------------- */

static int check_labels(const lra_pathfinder_spec *s, const lra_pathfinder_set *set,
                        const uint8_t *pixel, lra_facts *found, lra_err *e)
{
    int64_t n = at_most(set->n, TRACED, set->window), right = 0, ones = 0;
    size_t pixels = (size_t)set->window * (size_t)set->window;
    for (int64_t i = 0; i < set->n; i++) ones += set->label[i];
    lra_facts_add(found, 100 * (double)ones / (double)set->n, "label 1, %%");
#pragma omp parallel reduction(+ : right)
    {
        lra_pathfinder_tracer *t = lra_pathfinder_tracer_new(
            s->size, lra_pathfinder_level_paddles[s->level]);
#pragma omp for schedule(dynamic, 16)
        for (int64_t i = 0; i < n; i++)
            right += lra_pathfinder_trace(t, pixel + (size_t)i * pixels) == set->label[i];
        lra_pathfinder_tracer_free(t);
    }
    double share = (double)right / (double)n, error = 0.5 / sqrt((double)n);
    lra_facts_add(found, (double)n, "images traced");
    lra_facts_add(found, 100 * share, "labels that traced paths confirm, %%");
    if (share > 0.5 + 4 * error || n < 20) return 0;
    return lra_fail(
        e,
        "the labels do not fit the images: traced paths confirm %.1f %% of %lld, chance "
        "is 50 %%",
        100 * share, (long long)n);
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
                  "labels that marker distance tells, %%");
}

/* ---- two samples -------------------------------------------------------------------------------------- */

/* Adds the measures of n images in order, so that sums do not depend on the number of threads; distance: (n),
 * Nullable. */
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

static void generate(const lra_pathfinder_spec *s, int64_t n, lra_pathfinder_stats *to)
{
    size_t pixels = (size_t)s->size->window * (size_t)s->size->window;
    uint8_t *pixel = lra_alloc_array((size_t)n, pixels);
    lra_pathfinder *g = lra_pathfinder_new(s->size, lra_pathfinder_level_paddles[s->level],
                                           s->n_distractors, s->uniform);
#pragma omp parallel
    {
        lra_pathfinder_sheet *sheet = lra_pathfinder_sheet_new(g);
#pragma omp for schedule(dynamic, 16)
        for (int64_t i = 0; i < n; i++)
            lra_pathfinder_image(g, sheet, CHECK_SEED, (uint64_t)i, pixel + (size_t)i * pixels,
                                 NULL);
        lra_pathfinder_sheet_free(sheet);
    }
    sum_up(s->size, pixel, n, to, NULL);
    lra_pathfinder_free(g);
    lra_free(pixel);
}

static void compare(const lra_pathfinder_stats *files, const lra_pathfinder_stats *ours,
                    lra_facts *found)
{
    lra_facts_add(found, (double)ours->n, "generated images beside them");
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

/* ---- the files ---------------------------------------------------------------------------------------- */

static void count_images(const lra_pathfinder_set *set, lra_facts *found)
{
    lra_facts_add(found, (double)set->n_listed, "images listed");
    lra_facts_add(found, (double)set->n, "images read");
    lra_facts_defect(found, set->n_absent, "absent");
    lra_facts_defect(found, set->n_empty, "empty");
    lra_facts_defect(found, set->n_broken, "undecodable");
    lra_facts_defect(found, set->n_doubled, "twice in the archive");
    lra_facts_add(found, (double)set->n_batches, "batches");
    lra_facts_add(found, (double)set->n_gaps, "numbers missing between them");
    lra_facts_add(found, set->n_copies, "copies");
    if (set->n_copies > 1) lra_facts_add(found, set->equal, "copies are equal");
}

static int check_images(const lra_pathfinder_spec *s, const lra_pathfinder_set *set,
                        const uint8_t *pixel, lra_facts *found, lra_err *e)
{
    lra_pathfinder_stats files = {0}, ours = {0};
    double *distance = lra_alloc_array((size_t)set->n, sizeof *distance);
    sum_up(s->size, pixel, set->n, &files, distance);
    generate(s, at_most(GENERATED, GENERATED, s->size->window), &ours);
    check_markers(set, distance, found);
    compare(&files, &ours, found);
    lra_free(distance);
    return check_labels(s, set, pixel, found, e);
}

int lra_pathfinder_inspect(const lra_config *c, const char *path, lra_facts *found, lra_err *e)
{
    lra_pathfinder_spec s;
    lra_pathfinder_set set = {0};
    uint8_t *pixel = NULL;
    if (lra_pathfinder_spec_read(c, &s, e) != 0) return LRA_USAGE;
    int rc = lra_pathfinder_read(path, s.size->window, 1, &s.level, &set, e);
    if (rc == 0) {
        count_images(&set, found);
        pixel = lra_pathfinder_pixels(&set, e);
        rc = pixel ? check_images(&s, &set, pixel, found, e) : LRA_FAILED;
    }
    lra_free_large(pixel);
    lra_pathfinder_sets_free(1, &set);
    return rc;
}
