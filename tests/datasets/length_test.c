/* Evaluation at other lengths: rows generated again give the same predictions as rows of a run at
 * that length; a model that cannot be built for longer inputs gives a reason. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "models/training/checkpoint.h"
#include "probes/influence/length.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/subject.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/tiny_run.h"

enum { ROWS = 9 };

static int set_up(void **state)
{
    const char *model = "layers=2 width=4 hidden=6 kernel=3";
    return make_folder(state) != 0 || tiny_train(folder, model, 1) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    tiny_forget();
    return remove_folder(state);
}

/* Makes ListOps data of 8 < T < 32 tokens, or of 16 < T < 64 from another seed. */
static lra_dataset *by_hand(const char *lengths, int64_t longest)
{
    lra_err e = {{0}};
    lra_config *c = lra_config_copy(trained.run.task);
    lra_keys_apply(lra_task_listops.keys, c, lengths);
    lra_keys_apply(lra_task_listops.keys, c, "train=1 val=1 test=9 data-seed=1");
    lra_dataset *d = lra_dataset_make(&lra_task_listops, c, &e);
    NOT_NULL(d);
    if (longest) d->longest = longest;
    lra_config_free(c);
    return d;
}

static int ask(const lra_train_spec *run, int64_t length, lra_sums *row, lra_err *e)
{
    lra_subject subject = subject_of(run, &trained.device);
    int rc = lra_length_evaluate(&subject, length, ROWS, NULL, row, e);
    close_subject(&subject);
    return rc;
}

static void same_as_by_hand(const lra_train_spec *run, int64_t length, lra_dataset *d)
{
    lra_err e = {{0}};
    lra_sums row[ROWS], own[ROWS];
    lra_train_spec other = *run;
    other.data = d;
    OK(lra_evaluate(&other, &trained.device, LRA_BEST_WEIGHTS, LRA_TEST_SPLIT, NULL, row, &e));
    OK(ask(run, length, own, &e));
    for (int i = 0; i < ROWS; i++) {
        assert_true(own[i].n == 1 && own[i].loss == row[i].loss && own[i].right == row[i].right);
        assert_true(own[i].loss != trained.report.row[i % TINY_ROWS].loss);
    }
    lra_dataset_free(d);
}

TEST(rows_of_other_lengths)
{
    assert_string_equal(lra_length_key(trained.run.data), "max-length");
    same_as_by_hand(&trained.run.spec, 16, by_hand("min-length=4 max-length=16", 0));
    same_as_by_hand(&trained.run.spec, 32, by_hand("min-length=8 max-length=32", 0));
    same_as_by_hand(&trained.run.spec, 64, by_hand("min-length=16 max-length=64", 0));
}

/* Starts a run of another model, whose best weights are the initial ones. */
static lra_config *begin(const lra_model *m, const char *variant, lra_train_spec *spec)
{
    lra_err e = {{0}};
    lra_loaded_model o;
    lra_config *c = model_tiny(m, variant);
    *spec = trained.run.spec;
    spec->model = m, spec->model_config = c;
    assert_int_equal(lra_load_model(&o, spec, &trained.device, LRA_INITIAL_WEIGHTS, &e), 0);
    lra_loaded_buckets(&o);
    for (int i = 0; i < o.n_views; i++)
        lra_length_graph_output(o.view[i], o.view[i]->network.output);
    OK(lra_loaded_plan(&o, &e));
    assert_int_equal(lra_best_write(spec, 1, 0, o.params, &e), 0);
    lra_loaded_free(&o);
    return c;
}

TEST(longer_than_it_is_made_for)
{
    lra_err e = {{0}};
    lra_sums row[ROWS];
    lra_train_spec spec;
    lra_config *c = begin(&lra_model_transformer, "positions=learned", &spec);
    assert_int_equal(ask(&spec, 64, row, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "length 64: "));
    assert_non_null(strstr(e.msg, "positions/table' has shape (32,8), expected (64,8)"));
    same_as_by_hand(&spec, 16, by_hand("min-length=4 max-length=16", spec.data->longest));
    lra_config_free(c);
    c = begin(&lra_model_s4, "", &spec);
    assert_int_equal(ask(&spec, 64, row, &e), LRA_FAILED);
    assert_string_equal(e.msg, "length 64: model 's4', built for inputs of 64 tokens, changes the "
                               "outputs for the run's own rows");
    lra_config_free(c);
    c = begin(&lra_model_s4d, "", &spec);
    same_as_by_hand(&spec, 64, by_hand("min-length=16 max-length=64", 0));
    lra_config_free(c);
}

/* No ListOps tree has 1 < T < 4 tokens, so there are no rows of these lengths. */
TEST(lengths_that_the_task_lacks)
{
    lra_err e = {{0}};
    lra_sums row[ROWS];
    lra_dataset none = *trained.run.data;
    lra_task imported = *none.task;
    assert_true(ask(&trained.run.spec, 2, row, &e) != 0);
    assert_non_null(strstr(e.msg, "length 2: "));
    imported.data.make = NULL, none.task = &imported;
    assert_null(lra_length_key(&none));
}

GROUP(set_up, tear_down);
