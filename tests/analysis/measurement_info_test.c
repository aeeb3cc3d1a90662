/* Declarations of measurements: patterns of identifiers, table heads, keys, checks; the list of
 * them in reports/FORMAT.md. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/measurement.h"
#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

TEST(ids_find_their_declaration)
{
    static const struct {
        const char *id, *declared, *head, *key; /* declared NULL: the identifier is not declared */
    } known[] = {
        {"dist.q95", "dist.qP", "d95", "dist_q95"},
        {"dist.mean.rel", "dist.mean.rel", "dist/uniform", "dist_mean_rel"},
        {"value.dist.q50", "dist.qP", "values: d50", "value_dist_q50"},
        {"range.q95.used.px", "range.q95.used", "used (px)", "range_q95_used_px"},
        {"decay.tau.mod:q1", "decay.tau", "tau (mod.) (q1)", "decay_tau_mod:q1"},
        {"tree.lift.class.parent", "tree.lift.class.NAME", "parent", "tree_lift_class_parent"},
        {"tree.lift.parent", "tree.lift.NAME", "parent (lags)", "tree_lift_parent"},
        {"tree.parent", "tree.NAME", "parent weight", "tree_parent"},
        {"length.gain.x0.25", "length.gain.xR", "gain at 0.25 T", "length_gain_x0_25"},
        {"cut.reach99", "cut.reachP", "reach 99", "cut_reach99"},
        {"shift.w1", "shift.w1", "shift (W1)", "shift_w1"},
        {"local.2.px", "local.R", "within 2 (px)", "local_2_px"},
        {"dist.q", NULL, "dist.q", "dist_q"},
        {"dist.q95x", NULL, "dist.q95x", "dist_q95x"},
        {"dist.mean.", NULL, "dist.mean.", "dist_mean_"},
        {".px", NULL, ".px", "_px"},
        {"", NULL, "", ""},
        {"x", NULL, "x", "x"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const lra_measurement_info *info = lra_measurement_info_find(known[i].id, NULL);
        if (!known[i].declared != !info) fail_msg("'%s'", known[i].id);
        if (info) assert_string_equal(info->id, known[i].declared);
        char *head = lra_measurement_head(known[i].id), *key = lra_measurement_key(known[i].id);
        assert_string_equal(head, known[i].head);
        assert_string_equal(key, known[i].key);
        lra_free(head);
        lra_free(key);
    }
}

TEST(modifiers_are_found)
{
    uint32_t set, several = 0;
    assert_non_null(lra_measurement_info_find("self", &set));
    assert_int_equal(set, 0);
    assert_non_null(lra_measurement_info_find("rollout.decay.tau:max", &set));
    for (int i = 0; lra_measurement_modifier_at(i); i++) {
        const char *text = lra_measurement_modifier_at(i)->text;
        bool is = strcmp(text, "rollout.") == 0 || strcmp(text, ":max") == 0;
        assert_int_equal(set >> i & 1, is);
        several += is;
    }
    assert_int_equal(several, 2);
}

/* Every declaration applies to some identifier: none is hidden by a pattern declared before it. */
TEST(every_declaration_is_reached)
{
    for (int i = 0; lra_measurement_info_at(i); i++) {
        const lra_measurement_info *info = lra_measurement_info_at(i);
        lra_text id = {0};
        for (const char *at = info->id; *at;) {
            if (strncmp(at, "NAME", 4) == 0)
                lra_text_add(&id, "word"), at += 4;
            else if (*at >= 'A' && *at <= 'Z')
                lra_text_add(&id, "7"), at++;
            else
                lra_text_add(&id, "%c", *at++);
        }
        assert_ptr_equal(lra_measurement_info_find(id.s, NULL), info);
        lra_text_free(&id);
    }
}

TEST(units_and_ranges_are_checked)
{
    static const struct {
        const char *id, *unit;
        double value;
        const char *why; /* expected message; NULL: no error */
    } known[] = {{"dist.q95", "tokens", 5, NULL},
                 {"dist.q95", "pixels", 5, NULL},
                 {"dist.q95", "tokens", -1, "'dist.q95' is -1, expected 0 to T"},
                 {"dist.q95", "bits", 5, "'dist.q95' has the unit 'bits', expected 'tokens'"},
                 {"self", "1", 1.0000001, NULL},
                 {"self", "1", 1.1, "'self' is 1.1, expected 0 to 1"},
                 {"self", "pixels", 1, "'self' has the unit 'pixels', expected '1'"},
                 {"side.px", "1", -1.5, "'side.px' is -1.5, expected -1 to 1"},
                 {"decay.beta", "1", -1.5, NULL},
                 /* this gain is 1 - KL / N, and may be negative; other gains may be above 1 */
                 {"kl.auc", "1", -4.9, NULL},
                 {"keep.auc", "1", 1.2, NULL},
                 {"decay.tau", "tokens", INFINITY, NULL},
                 {"self", "1", NAN, NULL},
                 {"of.another.version", "x", -7, NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_err e = {{0}};
        lra_measurement f = {.value = known[i].value};
        snprintf(f.id, sizeof f.id, "%s", known[i].id);
        snprintf(f.unit, sizeof f.unit, "%s", known[i].unit);
        assert_int_equal(lra_measurement_check(&f, &e), known[i].why ? LRA_FAILED : 0);
        if (known[i].why) assert_string_equal(e.msg, known[i].why);
    }
}

TEST(units_are_those_declared)
{
    lra_measurement f = lra_measurement_of("value.dist.q95.px", 3),
                    g = lra_measurement_of("self", 1);
    assert_string_equal(f.unit, "tokens");
    lra_measurement_in_pixels(&f);
    lra_measurement_in_pixels(&g);
    assert_string_equal(f.unit, "pixels");
    assert_string_equal(g.unit, "1");
    assert_string_equal(lra_measurement_of("kernel.bw95:q1", 0).unit, "cycles/token");
    assert_string_equal(lra_measurement_of("", 0).unit, "1");
}

/* ---- reports/FORMAT.md ----------------------------------------------------------------------- */

static const char from[] = "<!-- analysis/measurements.def: begin -->\n",
                  to[] = "<!-- analysis/measurements.def: end -->\n";

/* Returns the lists of declarations in the format of reports/FORMAT.md. */
static char *lists(void)
{
    static const char *const local[] = {"", "lower", "higher"};
    lra_text t = {0};
    lra_text_add(&t, "| id | unit | range | more local | null value | meaning |\n"
                     "|---|---|---|---|---|---|\n");
    for (int i = 0; lra_measurement_info_at(i); i++) {
        const lra_measurement_info *m = lra_measurement_info_at(i);
        lra_text_add(&t, "| `%s` | %s | %s | %s | %s | ", m->id, m->unit,
                     lra_measurement_range_names[m->range], local[m->direction], m->null);
        for (const char *at = m->sentence; *at; at++)
            lra_text_add(&t, "%s%c", *at == '|' ? "\\" : "", *at);
        lra_text_add(&t, " |\n");
    }
    lra_text_add(&t, "\n| before or after an id | meaning |\n|---|---|\n");
    for (int i = 0; lra_measurement_modifier_at(i); i++) {
        const lra_measurement_modifier *m = lra_measurement_modifier_at(i);
        lra_text_add(&t, "| `%s%s%s` | ", m->suffix ? "ID" : "", m->text, m->suffix ? "" : "ID");
        for (const char *at = m->sentence; *at; at++)
            lra_text_add(&t, "%s%c", *at == '|' ? "\\" : "", *at);
        lra_text_add(&t, " |\n");
    }
    return t.s;
}

/* Compares the lists with reports/FORMAT.md; LRA_UPDATE_GOLDEN=1 rewrites them in the file. */
TEST(format_lists_all)
{
    lra_err e = {{0}};
    size_t n;
    const char *source = getenv("LRA_SOURCE"), *update = getenv("LRA_UPDATE_GOLDEN");
    char *path = lra_format("%s/reports/FORMAT.md", source ? source : ".");
    char *text = lra_file_read(path, 1 << 20, &n, &e), *right = lists();
    NOT_NULL(text);
    char *begin = strstr(text, from), *end = strstr(text, to);
    if (!begin || !end) fail_msg("'%s' lacks '%s'", path, begin ? to : from);
    begin += strlen(from);
    if (update && *update) {
        char *whole = lra_format("%.*s%s%s", (int)(begin - text), text, right, end);
        assert_int_equal(lra_file_write(path, whole, strlen(whole), &e), 0);
        lra_free(whole);
    } else {
        *end = 0;
        assert_string_equal(begin, right);
    }
    lra_free(right);
    lra_free_large(text);
    lra_free(path);
}
