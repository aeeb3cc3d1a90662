/* Tables of settings: equal values have one canonical text; rejected values, defaults, fields. */
#include "tests/fixtures/test.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/key.h"
#include "kernels/base/core/mem.h"
#include "probes/run/key_tables.h"

typedef struct {
    int first;
    int64_t width;
    double rate;
    bool causal;
    int norm;
} fields;

static const lra_key keys[] = {
    LRA_INT_FIELD(fields, width, "width", "256", 1, 4096, "channels"),
    LRA_REAL_FIELD(fields, rate, "rate", "0.1", 0, 10, "learning rate"),
    LRA_FLAG_FIELD(fields, causal, "causal", "0", "sees the past alone"),
    LRA_CHOICE_FIELD(fields, norm, "norm", "layer", "layer|batch|none", "what is normalised"),
    LRA_TEXT_KEY("name", "x", NULL, "of it"),
    LRA_KEYS_END};

/* ---- one text for equal values --------------------------------------------------------------- */

TEST(reals_are_the_shortest_text)
{
    static const struct {
        double value;
        const char *text;
    } known[] = {{0.004, "0.004"},
                 {1.0, "1"},
                 {0, "0"},
                 {-0.0, "0"},
                 {2000, "2000"},
                 {1e-8, "1e-8"},
                 {1e-4, "0.0001"},
                 {0.00012, "0.00012"},
                 {1.5e-5, "1.5e-5"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {-2.5, "-2.5"},
                 {123456789012345, "123456789012345"},
                 {1e15, "1e15"},
                 {1e100, "1e100"},
                 {0.10000000000000002, "0.10000000000000002"},
                 {DBL_MAX, "1.7976931348623157e308"},
                 {DBL_MIN, "2.2250738585072014e-308"}};
    char text[40];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_real_text(known[i].value, text);
        assert_string_equal(text, known[i].text);
        assert_true(strtod(text, NULL) == known[i].value);
    }
}

TEST(equal_values_are_equal_text)
{
    static const char *const same[][3] = {{"rate", "4e-3", "0.004"}, {"rate", "1.0", "1"},
                                          {"rate", "0.10", "0.1"},   {"rate", "0", "-0.0"},
                                          {"width", "0064", "64"},   {"rate", "1e0", "1.000"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        lra_err e;
        const lra_key *k = lra_key_find(keys, same[i][0]);
        char *a = lra_key_text(k, same[i][1], &e), *b = lra_key_text(k, same[i][2], &e);
        assert_non_null(a);
        assert_string_equal(a, b);
        lra_free(a);
        lra_free(b);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Folders of runs are named after the hash: if it changed, everything would be trained again. It is
 * xxh3-64 of "a=1
 * rate=0.004
 * ". */
TEST(the_hash_stays)
{
    char hash[17];
    lra_config *c = lra_config_new();
    lra_config_set(c, "rate", "0.004");
    lra_config_set(c, "a", "1");
    lra_config_hash(c, hash);
    assert_string_equal(hash, "8073ea3f5c9f7bc2");
    lra_config_free(c);
}

TEST(what_is_wrong_is_said)
{
    static const char *const wrong[][2] = {
        {"widht=3", "model 'm' has no 'widht'; did you mean 'width'?"},
        {"zzzzzz=3", "model 'm' has no 'zzzzzz'"},
        {"width=many", "'width' is 'many', expected an integer from 1 to 4096"},
        {"width=1.5", "'width' is '1.5', expected an integer from 1 to 4096"},
        {"width=0", "'width' is '0', expected an integer from 1 to 4096"},
        {"rate=x", "'rate' is 'x', expected a number from 0 to 10"},
        {"rate=10.1", "'rate' is '10.1', expected a number from 0 to 10"},
        {"rate=nan", "'rate' is 'nan', expected a number from 0 to 10"},
        {"causal=2", "'causal' is '2', expected 0 or 1"},
        {"norm=", "'norm' is '', expected layer, batch or none"},
        {"norm=lay", "'norm' is 'lay', expected layer, batch or none"},
        {"norm=layer|batch", "'norm' is 'layer|batch', expected layer, batch or none"},
        {"name=a b", "'name' is 'a b', expected one word"},
        {"name=", "'name' is '', expected one word"},
        {"width", "'width' is not of the form key=value"},
        {"=3", "'=3' is not of the form key=value"},
    };
    lra_config *c = lra_keys_config(keys);
    char *before = lra_config_lines(c);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lra_err e;
        assert_int_equal(lra_keys_assign(keys, c, wrong[i][0], "model 'm'", &e), LRA_USAGE);
        assert_string_equal(e.msg, wrong[i][1]);
    }
    char *after = lra_config_lines(c);
    assert_string_equal(before, after);
    lra_free(before);
    lra_free(after);
    lra_config_free(c);
}

/* The kind of a value is that of its key: a whole number is a real number if the key is real,
 * before and after conversion to text. */
TEST(a_kind_never_depends_on_the_text)
{
    lra_err e;
    lra_config *c = lra_keys_config(keys);
    static const char *const rates[] = {"rate=0", "rate=0.1", "rate=1", "rate=1e-1", "rate=5"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        assert_int_equal(lra_keys_assign(keys, c, rates[i], "m", &e), 0);
    assert_true(lra_config_real(c, "rate") == 5);
    lra_config_free(c);
}

/* ---- tables ---------------------------------------------------------------------------------- */

TEST(values_fill_fields)
{
    fields f = {.first = 7};
    lra_config *c = lra_keys_config(keys);
    lra_keys_apply(keys, c, "norm=none causal=1 rate=2.5 width=8");
    lra_keys_fill(keys, c, &f);
    assert_int_equal(f.first, 7);
    assert_int_equal(f.width, 8);
    assert_true(f.rate == 2.5 && f.causal);
    assert_int_equal(f.norm, 2);
    lra_config_free(c);
    char *text = lra_keys_text(keys);
    assert_string_equal(text, "width=256 rate=0.1 causal=0 norm=layer name=x");
    lra_free(text);
    assert_null(lra_key_find(NULL, "width"));
}

/* All tables of this program: defaults are canonical and in range, every key has a help text, and
 * no name occurs twice among the keys of a run. */
TEST(all_tables_are_sound)
{
    lra_key_table t, other;
    int n = 0;
    for (int i = 0; lra_key_table_at(i, &t); i++)
        for (const lra_key *k = t.keys; k && k->name; k++, n++) {
            lra_err e;
            char *text = lra_key_text(k, k->value, &e);
            if (!text) fail_msg("%s %s: %s", t.kind, t.name, e.msg);
            if (strcmp(text, k->value) != 0)
                fail_msg("%s %s: default of '%s' is '%s', not '%s'", t.kind, t.name, k->name,
                         k->value, text);
            lra_free(text);
            assert_non_null(k->help);
            assert_ptr_equal(lra_key_find(t.keys, k->name), k);
            for (int j = 0; lra_key_table_at(j, &other); j++)
                if (strcmp(other.kind, t.kind) != 0 && lra_key_find(other.keys, k->name))
                    fail_msg("'%s' is a setting of %s '%s' and of %s '%s'", k->name, t.kind, t.name,
                             other.kind, other.name);
        }
    assert_true(n > 50);
}
