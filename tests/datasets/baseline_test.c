/* Which baseline a ladder is compared with: the best one that ignores the order of the input. The
 * oracle, which reads the dependency itself, the shallow evaluators and the constant prediction are
 * not used. */
#include "tests/fixtures/test.h"

#include "reports/results/result.h"

enum { N = 4 };
static int32_t label[N] = {0, 1, 0, 1}, right[N] = {0, 1, 0, 1}, half[N] = {0, 0, 0, 0},
               most[N] = {0, 1, 0, 0};

TEST(the_oracle_is_no_simple_baseline)
{
    char *names[] = {(char[]){"constant"}, (char[]){"bag-of-tokens"}, (char[]){"pairs-below"},
                     (char[]){"oracle"}, (char[]){"shallow-a-5"}};
    int32_t *predicted[] = {right, half, most, right, right};
    lra_result r = {.n = N, .label = label, .n_baselines = 5};
    for (int b = 0; b < 5; b++) r.baseline_name[b] = names[b], r.baseline[b] = predicted[b];
    double accuracy = 0;
    assert_string_equal(lra_result_simple_baseline(&r, &accuracy), "pairs-below");
    assert_true(accuracy == 0.75);
    r.baseline_name[1] = r.baseline_name[2] = names[3];
    assert_null(lra_result_simple_baseline(&r, &accuracy));
}
