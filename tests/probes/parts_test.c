/* The registry of the parts of influence, and the settings under which the file stores them. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/loader/dataset.h"
#include "kernels/base/core/mem.h"
#include "probes/influence/cache.h"
#include "probes/influence/registry.h"

/* Each record is complete and consistent. */
TEST(records_are_complete)
{
    for (int i = 0; lra_influence_part_at(i); i++) {
        const lra_influence_part *part = lra_influence_part_at(i);
        const lra_perturbation *is = part->perturbation;
        assert_true(part->name && part->summary && part->examples > 0 && part->nulls);
        assert_true(part->least == 1 || part->least == 2);
        assert_true(lra_part_has_unit(part, part->name));
        assert_false(lra_part_has_unit(part, "other"));
        for (const char *const *u = part->units; u && *u; u++)
            assert_true(strncmp(*u, part->name, strlen(part->name)) == 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(part->name, lra_influence_part_at(k)->name);
        if (!is) assert_true(part->passes && part->measure);
        if (!is) continue;
        assert_true(!part->passes && !part->measure && is->geometry && is->filler);
        assert_int_equal(part->least, is->filler->other_row ? 2 : 1);
        assert_true((is->ids.least && is->ids.area) != (is->ids.costs != NULL));
        assert_int_equal(is->ids.costs != NULL, is->geometry->permutes);
        if (!is->alternative) continue;
        assert_ptr_equal(is->alternative->perturbation->geometry, is->geometry);
        assert_ptr_not_equal(is->alternative, part);
    }
}

TEST(names_of_units)
{
    assert_true(lra_part_has_unit(&lra_part_cut, "cut.layer0"));
    assert_false(lra_part_has_unit(&lra_part_cut, "cut."));
    assert_true(lra_part_has_unit(&lra_part_field, "field.px"));
    assert_false(lra_part_has_unit(&lra_part_field, "field.layer0"));
    assert_false(lra_part_has_unit(&lra_part_drop, "drop-token"));
}

/* Part prune is available if rows are expressions, independent of the name of the task. */
TEST(prune_depends_on_the_grammar)
{
    lra_task task = {.name = "new", .data.grammar = LRA_GRAMMAR_EXPRESSION};
    lra_dataset data = {.task = &task};
    lra_influence p = {.subject.data = &data};
    assert_null(lra_part_prune.undefined(&p));
    task = (lra_task){.name = "listops-like", .data.grammar = LRA_GRAMMAR_NONE};
    assert_non_null(lra_part_prune.undefined(&p));
    task.data.grammar = LRA_GRAMMAR_DRAWING;
    assert_non_null(lra_part_prune.undefined(&p));
}

/* ---- the file -------------------------------------------------------------------------------- */

static char empty[] = "";
static lra_result result;

static lra_probe_result *new_file(void)
{
    lra_origin origin = {0};
    result = (lra_result){.task = empty,
                          .model = empty,
                          .preset = empty,
                          .precision = empty,
                          .fingerprint = empty,
                          .run = empty,
                          .config = empty};
    return lra_probe_result_new("influence", &result, &origin);
}

static lra_influence of_model(bool causal, uint64_t sample_seed)
{
    static lra_responder model[2] = {{.facts.causal = false}, {.facts.causal = true}};
    return (lra_influence){.subject = {.model = &model[causal], .sample_seed = sample_seed}};
}

/* A stored part is reused only for the settings with which it was measured. */
TEST(settings_decide)
{
    lra_probe_result *r = new_file();
    lra_influence p = of_model(false, 0), seeded = of_model(false, 7), causal = of_model(true, 0);
    lra_cache_record(r, &lra_part_jacobian, &p, 64);
    lra_cache_record(r, &lra_part_keep, &seeded, 500);
    assert_string_equal(r->settings, "jacobian-equal=both\njacobian=64\nkeep-donors=0\nkeep=500\n"
                                     "keep-sample-seed=7\n");
    assert_true(lra_cache_holds(r, &lra_part_jacobian, &p, 64));
    assert_false(lra_cache_holds(r, &lra_part_jacobian, &p, 65));
    assert_false(lra_cache_holds(r, &lra_part_jacobian, &seeded, 64));
    assert_false(lra_cache_holds(r, &lra_part_jacobian, &causal, 64));
    assert_true(lra_cache_holds(r, &lra_part_keep, &seeded, 500));
    assert_false(lra_cache_holds(r, &lra_part_keep, &p, 500));
    assert_false(lra_cache_holds(r, &lra_part_swap, &seeded, 500));
    seeded.subject.donors = 16;
    assert_false(lra_cache_holds(r, &lra_part_keep, &seeded, 500));
    lra_probe_result_free(r);
    /* a file of an older version, whose uniform baseline includes both directions */
    r = new_file();
    lra_probe_result_set(r, "field", "64");
    assert_true(lra_cache_holds(r, &lra_part_field, &p, 64));
    assert_false(lra_cache_holds(r, &lra_part_field, &causal, 64));
    lra_probe_result_free(r);
}

/* Units and settings of one part are copied, those of others are not. */
TEST(parts_are_copied)
{
    lra_probe_result *from = new_file(), *to = new_file();
    lra_influence p = of_model(false, 7);
    lra_cache_record(from, &lra_part_drop, &p, 20);
    lra_cache_record(from, &lra_part_drop_token, &p, 30);
    lra_probe_unit_new(from, "drop-token");
    lra_probe_unit_new(from, "drop");
    lra_probe_result_set(from, "shuffled", "a-run");
    lra_cache_copy(to, from, &lra_part_drop);
    lra_cache_copy_shuffled(to, from);
    assert_string_equal(to->settings,
                        "drop-donors=0\ndrop=20\ndrop-sample-seed=7\nshuffled=a-run\n");
    assert_int_equal(to->n_units, 1);
    assert_string_equal(to->unit[0]->name, "drop");
    lra_cache_sort(from);
    assert_string_equal(from->unit[0]->name, "drop");
    lra_probe_result_free(from);
    lra_probe_result_free(to);
}

/* Null values are taken only from a part with equal settings. */
TEST(shuffled_with_equal_settings)
{
    lra_probe_result *r = new_file(), *shuffled = new_file();
    lra_influence p = of_model(false, 0), seeded = of_model(false, 7);
    const lra_influence *of[] = {&p, &seeded};
    for (int k = 0; k < 2; k++) {
        lra_probe_result *f = k ? shuffled : r;
        lra_measurement x = lra_measurement_of("keep.w95", k + 1);
        lra_probe_unit_measurements(lra_probe_unit_new(f, "keep"), 1, &x);
        lra_probe_unit_measurements(lra_probe_unit_new(f, "swap"), 1, &x);
        lra_cache_record(f, &lra_part_keep, &p, 500);
        lra_cache_record(f, &lra_part_swap, of[k], 500);
    }
    assert_true(lra_cache_add_shuffled(r, shuffled));
    assert_true(r->unit[0]->measurement[0].null[LRA_NULL_SHUFFLED] == 2);
    assert_false(r->unit[1]->measurement[0].null[LRA_NULL_SHUFFLED] == 2);
    assert_false(lra_cache_add_shuffled(r, shuffled));
    lra_probe_result_free(r);
    lra_probe_result_free(shuffled);
}
