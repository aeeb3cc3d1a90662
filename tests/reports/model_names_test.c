/* Names of models in tables and figures: those of the papers, including settings that are part of a
 * name; CSV has the identifiers. */
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "models/model.h"
#include "reports/views/model_names.h"

static void expect(const char *name, const char *model, const char *config, const char *wanted)
{
    char *shown = lra_model_shown(name, model, config);
    assert_string_equal(shown, wanted);
    lra_free(shown);
}

TEST(ids_become_names)
{
    expect("las", "las", "", "LaS");
    expect("l heads=2", "l", "", "L-attention heads=2");
    expect("linear-transformer", "linear-transformer", NULL, "Linear Transformer");
    expect("lstm [mine]", "lstm", "", "LSTM [mine]");
    /* Names that do not begin with the identifier, and unknown models, are not changed. */
    expect("s4d", "s4", "", "s4d");
    expect("other K = 3", "other", "", "other K = 3");
    for (int i = 0; lra_model_at(i); i++) {
        char *shown = lra_model_shown(lra_model_at(i)->name, lra_model_at(i)->name, "");
        if (strcmp(lra_model_at(i)->name, "resconv") != 0)
            assert_string_not_equal(shown, lra_model_at(i)->name);
        assert_null(strpbrk(shown, "{}"));
        lra_free(shown);
    }
}

TEST(a_setting_is_part_of_a_name)
{
    expect("s4 state=32", "s4", "", "S4 (v4) state=32");
    expect("s4", "s4", "model.version=v1\n", "S4 (v1)");
}

static char *printed(lra_table *t, const char *format)
{
    char *text = NULL;
    size_t size;
    lra_err e = {{0}};
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(lra_table_print(t, format, f, &e), 0);
    fclose(f);
    return text;
}

TEST(csv_keeps_the_id)
{
    lra_table *t = lra_table_new("t", 2, (const char *const[]){"model", "n"});
    for (int i = 0; i < 2; i++) {
        lra_table_row(t);
        lra_table_model(t, i ? "las heads=2" : "las", "las", "");
        lra_table_number(t, i, 0);
    }
    lra_table_note_models(t);
    static const char *const format[] = {"text", "markdown", "latex", "csv", "json"};
    for (int i = 0; i < 5; i++) {
        char *text = printed(t, format[i]);
        bool data = i > 2;
        assert_int_equal(strstr(text, data ? "las heads=2" : "LaS heads=2") != NULL, true);
        if (i == 0) assert_non_null(strstr(text, "CSV: LaS = las\n"));
        if (i == 3) assert_null(strstr(text, "LaS"));
        free(text);
    }
    lra_table_free(t);
}
