/* Options: every accepted form, and the exact message for every error. */
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/cli/options.h"

static const char *key_name(int i)
{
    static const char *const names[] = {"width", "rate", "depth"};
    return i < 3 ? names[i] : NULL;
}

static const lra_option own[] = {
    {"seeds", 's', LRA_OPTION_INT, "3", 1, 100, NULL, "N", "number of seeds", NULL},
    {"rate", 0, LRA_OPTION_REAL, "0.004", 0, 1, NULL, "X", "learning rate", NULL},
    {"kernels", 'k', LRA_OPTION_INTS, "1,3,5", 1, 255, NULL, "LIST", "kernel sizes", NULL},
    {"task", 't', LRA_OPTION_TEXT, NULL, 0, 0, NULL, "NAME", "benchmark task", NULL},
    {NULL, 0, LRA_OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL, NULL},
};
static const lra_option shared[] = {
    {"device", 0, LRA_OPTION_CHOICE, "auto", 0, 0, "auto|cpu|cuda", "NAME", "where to run", NULL},
    {"set", 0, LRA_OPTION_REPEAT, NULL, 0, 0, NULL, "KEY=VALUE", "a model's setting", key_name},
    {"quiet", 'q', LRA_OPTION_FLAG, NULL, 0, 0, NULL, NULL, "errors only", NULL},
    {NULL, 0, LRA_OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL, NULL},
};
static const lra_option *const tables[] = {own, shared, NULL};
static const lra_command command = {"lra-probe x", "Does x.", "RUN...", "  lra-probe x a\n  y",
                                    NULL,          1,         2,        tables};
static lra_err err;

/* Parses words that are separated by blanks; the options point into `text`, which must outlive
 * them. */
static lra_options *parse(char *text)
{
    char *argv[16];
    int argc = 0;
    for (char *at = text; *at && argc < 16;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at) *at++ = 0;
    }
    err.msg[0] = 0;
    return lra_options_parse(&command, argc, argv, &err);
}

TEST(defaults_come_from_the_table)
{
    char text[] = "run1";
    int64_t k[8];
    lra_options *o = parse(text);
    assert_non_null(o);
    assert_int_equal(lra_option_int(o, "seeds"), 3);
    assert_true(lra_option_real(o, "rate") == 0.004);
    assert_int_equal(lra_option_ints(o, "kernels", k, 8), 3);
    assert_int_equal(k[2], 5);
    assert_null(lra_option_text(o, "task"));
    assert_string_equal(lra_option_text(o, "device"), "auto");
    assert_null(lra_option_repeat(o, "set", 0));
    assert_false(lra_option_flag(o, "quiet"));
    assert_false(lra_option_given(o, "seeds"));
    assert_string_equal(lra_option_arg(o, 0), "run1");
    assert_null(lra_option_arg(o, 1));
    lra_options_free(o);
}

TEST(every_form_is_accepted)
{
    char text[] = "a --seeds=7 -k 31,61 -tlistops --set w=1 --device cpu -q --set=d=2 --rate 1e-3 "
                  "-- --b";
    int64_t k[8];
    lra_options *o = parse(text);
    assert_non_null(o);
    assert_int_equal(lra_option_int(o, "seeds"), 7);
    assert_true(lra_option_given(o, "seeds"));
    assert_int_equal(lra_option_ints(o, "kernels", k, 8), 2);
    assert_int_equal(k[1], 61);
    assert_int_equal(lra_option_ints(o, "kernels", k, 1), 1);
    assert_string_equal(lra_option_text(o, "task"), "listops");
    assert_string_equal(lra_option_repeat(o, "set", 0), "w=1");
    assert_string_equal(lra_option_repeat(o, "set", 1), "d=2");
    assert_null(lra_option_repeat(o, "set", 2));
    assert_string_equal(lra_option_text(o, "device"), "cpu");
    assert_true(lra_option_flag(o, "quiet"));
    assert_true(lra_option_real(o, "rate") == 1e-3);
    assert_int_equal(lra_option_n_args(o), 2);
    assert_string_equal(lra_option_arg(o, 1), "--b");
    lra_options_free(o);
    char last[] = "a --seeds 7 --seeds 8";
    o = parse(last);
    assert_non_null(o);
    assert_int_equal(lra_option_int(o, "seeds"), 8);
    lra_options_free(o);
}

/* An option has priority over a key of the same name. */
TEST(keys_are_short_for_set)
{
    char text[] = "--width 64 a --rate=0.5 --set depth=2 --width=-1";
    static const char *const expected[] = {"width=64", "depth=2", "width=-1"};
    lra_options *o = parse(text);
    assert_non_null(o);
    for (int i = 0; i < 3; i++) assert_string_equal(lra_option_repeat(o, "set", i), expected[i]);
    assert_null(lra_option_repeat(o, "set", 3));
    assert_true(lra_option_real(o, "rate") == 0.5);
    assert_int_equal(lra_option_n_args(o), 1);
    lra_options_free(o);
}

TEST(every_mistake_has_its_message)
{
    static const char *const cases[][2] = {
        {"a --sedes 3", "unknown option '--sedes'; did you mean '--seeds'?"},
        {"a --sedes=3", "unknown option '--sedes'; did you mean '--seeds'?"},
        /* the misspelled option is a key */
        {"a --widht 3", "unknown option '--widht'; did you mean '--width'?"},
        {"a --dpeth=3", "unknown option '--dpeth'; did you mean '--depth'?"},
        {"a --zzzzzzzz", "unknown option '--zzzzzzzz' ('lra-probe x --help' shows all)"},
        {"a -z", "unknown option '-z' ('lra-probe x --help' shows all)"},
        {"a --seeds 0", "option '--seeds' is '0', expected an integer from 1 to 100"},
        {"a --seeds 101", "option '--seeds' is '101', expected an integer from 1 to 100"},
        {"a --seeds 3x", "option '--seeds' is '3x', expected an integer from 1 to 100"},
        {"a --seeds 3,4", "option '--seeds' is '3,4', expected an integer from 1 to 100"},
        {"a --seeds=", "option '--seeds' is '', expected an integer from 1 to 100"},
        {"a -s 99999999999999999999",
         "option '--seeds' is '99999999999999999999', expected an integer from 1 to 100"},
        {"a --rate nan", "option '--rate' is 'nan', expected a number from 0 to 1"},
        {"a --rate 1.5", "option '--rate' is '1.5', expected a number from 0 to 1"},
        {"a -k 3,,5",
         "option '--kernels' is '3,,5', expected integers, separated by commas, from 1 to 255"},
        {"a -k 3,",
         "option '--kernels' is '3,', expected integers, separated by commas, from 1 to 255"},
        {"a --device gpu", "option '--device' is 'gpu', expected one of auto|cpu|cuda"},
        {"a --device cp", "option '--device' is 'cp', expected one of auto|cpu|cuda"},
        {"a --quiet=1", "option '--quiet' takes no value"},
        {"a --seeds", "option '--seeds' needs a value (N)"},
        {"a --width --seeds 3", "option '--width' needs a value"},
        {"a --width", "option '--width' needs a value"},
        {"a --task --seeds 3", "option '--task' needs a value (NAME)"},
        {"a b c", "unexpected argument 'c' (usage: lra-probe x RUN...)"},
        {"--seeds 3", "too few arguments (usage: lra-probe x RUN...)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = lra_copy_text(cases[i][0]);
        assert_null(parse(text));
        assert_string_equal(err.msg, cases[i][1]);
        lra_free(text);
    }
}

TEST(help_is_found_anywhere_but_behind_the_dashes)
{
    static const char *const cases[] = {"-h", "a --nonsense --help", "a b c d -h"};
    for (size_t i = 0; i < 3; i++) {
        char *text = lra_copy_text(cases[i]);
        lra_options *o = parse(text);
        assert_non_null(o);
        assert_true(lra_options_help_wanted(o));
        lra_options_free(o);
        lra_free(text);
    }
    char behind[] = "-- program -h"; /* arguments after -- belong to the program */
    lra_options *o = parse(behind);
    assert_non_null(o);
    assert_false(lra_options_help_wanted(o));
    assert_string_equal(lra_option_arg(o, 1), "-h");
    lra_options_free(o);
}

TEST(help_names_every_option)
{
    char text[4096];
    FILE *f = tmpfile();
    assert_non_null(f);
    lra_options_help(&command, f);
    rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    fclose(f);
    const lra_option *o = lra_option_entry(&command, 0);
    int count = 0;
    for (; o; o = lra_option_entry(&command, ++count)) {
        char *name = lra_format("--%s", o->name);
        assert_non_null(strstr(text, name));
        assert_non_null(strstr(text, o->help));
        lra_free(name);
    }
    assert_int_equal(count, 7);
    assert_non_null(strstr(text, "number of seeds [1 to 100, default 3]"));
    assert_non_null(strstr(text, "where to run [auto|cpu|cuda, default auto]"));
    assert_non_null(strstr(text, "usage: lra-probe x RUN... [options]"));
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        assert_true(strcspn(at, "\n") <= 100);
}

TEST(numbers_are_strict)
{
    static const char *const bad[] = {
        "", " 1", "1 ", "+1", "-", "0x10", "1.0", "one", "9223372036854775808"};
    int64_t i;
    double r;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) assert_false(lra_parse_int(bad[k], &i));
    assert_true(lra_parse_int("-9223372036854775808", &i));
    assert_true(i == INT64_MIN);
    static const char *const unreal[] = {"", " 1", "1 ", "inf", "-nan", "1e999", "1,5", "x"};
    for (size_t k = 0; k < sizeof unreal / sizeof *unreal; k++)
        assert_false(lra_parse_real(unreal[k], &r));
    assert_true(lra_parse_real("-2.5e-3", &r) && r == -2.5e-3);
}

TEST(the_nearest_name_is_suggested)
{
    static const char *const names[] = {"linformer", "performer", "resconv"};
    assert_string_equal(lra_nearest("linfomer", 3, names), "linformer");
    /* exchanging two letters counts as one edit */
    assert_string_equal(lra_nearest("rescnov", 3, names), "resconv");
    assert_null(lra_nearest("mamba", 3, names));
    assert_null(lra_nearest("x", 0, names));
    assert_int_equal(lra_fail_unknown(&err, "model", "linfomer", 3, names, "lra-probe list models"),
                     LRA_USAGE);
    assert_string_equal(err.msg, "unknown model 'linfomer'; did you mean 'linformer'? "
                                 "('lra-probe list models' shows all)");
}
