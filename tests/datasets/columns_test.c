/* Files of examples: columns of csv, tsv and JSON lines, and the messages of rejected files. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/formats/delimited.h"
#include "datasets/formats/json_lines.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/real_data.h"

GROUP(make_folder, remove_folder);

/* ---- helpers ------------------------------------------------------------------------------- */

static int parse(const char *format, const char *bytes, size_t n, lra_data_columns *c, lra_err *e)
{
    /* memory of exactly n bytes, so that the address sanitizer detects reads beyond them */
    char *exact = lra_alloc(n);
    if (n) memcpy(exact, bytes, n);
    int rc = strcmp(format, "jsonl") == 0
                 ? lra_json_lines_parse(exact, n, "x", c, e)
                 : lra_delimited_parse(exact, n, "x", strcmp(format, "tsv") == 0 ? '\t' : ',', NULL,
                                       c, e);
    lra_free(exact);
    return rc;
}

static lra_data_columns read_text(const char *format, const char *text)
{
    lra_err e = {{0}};
    lra_data_columns c;
    if (parse(format, text, strlen(text), &c, &e) != 0) fail_msg("%s", e.msg);
    return c;
}

/* Checks that the text is rejected with this message. */
static void refuses_bytes(const char *format, const char *text, size_t n, const char *message)
{
    lra_err e = {{0}};
    lra_data_columns c;
    if (parse(format, text, n, &c, &e) == 0) fail_msg("accepted: %s", text);
    assert_string_equal(e.msg, message);
    assert_null(c.column);
    lra_data_columns_free(&c);
}

static void refuses(const char *format, const char *text, const char *message)
{
    refuses_bytes(format, text, strlen(text), message);
}

static const lra_data_column *get(const lra_data_columns *c, const char *name)
{
    lra_err e = {{0}};
    const lra_data_column *column = lra_data_columns_find(c, name, "x", &e);
    NOT_NULL(column);
    return column;
}

static void is_text(const lra_data_columns *c, const char *name, int64_t row, const char *text)
{
    const lra_data_column *t = get(c, name);
    assert_int_equal(t->kind, LRA_DATA_COLUMN_TEXT);
    int64_t n = t->start[row + 1] - t->start[row];
    assert_int_equal(n, strlen(text));
    assert_memory_equal(t->text + t->start[row], text, (size_t)n);
}

static void is_number(const lra_data_columns *c, const char *name, int64_t row, double value)
{
    const lra_data_column *t = get(c, name);
    assert_int_equal(t->kind, LRA_DATA_COLUMN_NUMBER);
    if (!(t->number[row] == value || (isnan(value) && isnan(t->number[row]))))
        fail_msg("%s of row %d is %g, expected %g", name, (int)row, t->number[row], value);
}

static void is_ids(const lra_data_columns *c, const char *name, int64_t row, int n,
                   const int64_t *ids)
{
    const lra_data_column *t = get(c, name);
    assert_int_equal(t->kind, LRA_DATA_COLUMN_IDS);
    assert_int_equal(t->start[row + 1] - t->start[row], n);
    for (int i = 0; i < n; i++) assert_int_equal(t->id[t->start[row] + i], ids[i]);
}

static void is_values(const lra_data_columns *c, const char *name, int64_t row, int steps,
                      int width, const float *values)
{
    const lra_data_column *t = get(c, name);
    assert_int_equal(t->kind, LRA_DATA_COLUMN_VALUES);
    assert_int_equal(t->width, width);
    assert_int_equal(t->start[row + 1] - t->start[row], steps);
    for (int i = 0; i < steps * width; i++) {
        float v = t->value[t->start[row] * width + i];
        if (!(v == values[i] || (isnan(v) && isnan(values[i]))))
            fail_msg("value %d of row %d is %g", i, (int)row, (double)v);
    }
}

/* ---- csv and tsv --------------------------------------------------------------------------- */

TEST(csv_of_rfc_4180)
{
    lra_data_columns c = read_text("csv", "\xEF\xBB\xBFtext,label,\"a \"\"b\"\"\"\r\n"
                                          "\"one, two\",1,x\r\n"
                                          "\"says \"\"no\"\"\",-2.5e0,\"\"\r\n"
                                          "\"two\r\nlines\n\",,5\" pipe\r\n"
                                          "last,4,\xC3\xA9");
    assert_int_equal(c.n, 4);
    assert_int_equal(c.n_columns, 3);
    is_text(&c, "text", 0, "one, two");
    is_text(&c, "text", 1, "says \"no\"");
    is_text(&c, "text", 2, "two\r\nlines\n");
    is_text(&c, "text", 3, "last");
    is_number(&c, "label", 1, -2.5);
    is_number(&c, "label", 2, (double)NAN);
    assert_int_equal(get(&c, "label")->missing, 1);
    assert_false(get(&c, "label")->integral);
    is_text(&c, "a \"b\"", 1, "");
    is_text(&c, "a \"b\"", 2, "5\" pipe");
    is_text(&c, "a \"b\"", 3, "\xC3\xA9");
    assert_int_equal(get(&c, "a \"b\"")->missing, 1);
    lra_data_columns_free(&c);
}

TEST(csv_line_ends_and_separators)
{
    static const char *const same[] = {"a,b\n1,x\n2,y\n",
                                       "a,b\r\n1,x\r\n2,y",
                                       "a,b\r1,x\r2,y\r",
                                       "\n\na,b\n\n1,x\n\n\n2,y\n\n",
                                       "sep=;\r\na;b\r\n1;x\r\n2;y\r\n",
                                       "sep=,\na,b\n1,x\n2,y\n",
                                       " a , b\n 1 ,x\n2,y"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        lra_data_columns c = read_text("csv", same[i]);
        assert_int_equal(c.n, 2);
        is_number(&c, "a", 0, 1);
        is_number(&c, "a", 1, 2);
        assert_true(get(&c, "a")->integral);
        is_text(&c, "b", 0, "x");
        is_text(&c, "b", 1, "y");
        lra_data_columns_free(&c);
    }
    lra_data_columns c = read_text("tsv", "a\tb\n1,5\t\"x\ty\"\n");
    is_text(&c, "a", 0, "1,5");
    is_text(&c, "b", 0, "x\ty");
    lra_data_columns_free(&c);
}

TEST(csv_numbers)
{
    static const struct {
        const char *field;
        double value;
    } known[] = {{"0", 0},
                 {"-0.0", 0},
                 {"+7", 7},
                 {" 12 ", 12},
                 {"1e3", 1000},
                 {".5", .5},
                 {"5.", 5},
                 {"1E-2", .01},
                 {"0.1", .1},
                 {"123456789012345678", 123456789012345678.},
                 {"2.2250738585072011e-308", 2.2250738585072011e-308},
                 {"179769313486231570000e288", 1.7976931348623157e308},
                 {"1e400", (double)INFINITY},
                 {"-inf", -(double)INFINITY},
                 {"9007199254740993", 9007199254740992.},
                 {"0.30000000000000004", 0.30000000000000004},
                 {"NA", (double)NAN},
                 {"nan", (double)NAN},
                 {"NULL", (double)NAN},
                 {"", (double)NAN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char *text = lra_format("a,b\n1,x\n%s,y\n", known[i].field);
        lra_data_columns c = read_text("csv", text);
        is_number(&c, "a", 1, known[i].value);
        assert_int_equal(get(&c, "a")->missing, isnan(known[i].value));
        lra_data_columns_free(&c);
        lra_free(text);
    }
    static const char *const texts[] = {"1,5", "0x10",  "1e",    "e5",       ".",  "+",  "1 2",
                                        "--1", "1.2.3", "1_000", "infinite", "1f", "N/A"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = lra_format("a,b\n1,x\n\"%s\",y\n", texts[i]);
        lra_data_columns c = read_text("csv", text);
        is_text(&c, "a", 0, "1");
        is_text(&c, "a", 1, texts[i]);
        lra_data_columns_free(&c);
        lra_free(text);
    }
}

TEST(csv_names)
{
    /* the first column is the index that pandas writes */
    lra_data_columns c = read_text("csv", ",text,label\n0,good,1\n1,bad,0\n");
    is_number(&c, "column 1", 1, 1);
    lra_data_columns_free(&c);
    c = read_text("csv", ",0,1\n0,good,1\n"); /* columns whose names are numbers */
    is_text(&c, "0", 0, "good");
    lra_data_columns_free(&c);
    refuses("csv", "a,b,a\n1,2,3\n", "'x': columns 1 and 3 are both named 'a'; rename one");
    refuses("csv", "good film,1\nbad film,0\n",
            "'x' has no line of column names: line 1 has '1' in column 2; add a first line such as "
            "text,label");
    refuses("csv", "3,World,News\n",
            "'x' has no line of column names: line 1 has '3' in column 1; add a first line such as "
            "text,label");
    refuses("csv", "\"a text\nof two lines\",positive\n",
            "'x' has no line of column names: column 1 of line 1 is 'a text?of two lines'; add a "
            "first line such as text,label");
    refuses("csv", "text;label\nx;1\n",
            "'x' has one column 'text;label'; its fields seem to be separated by ';' or '|', "
            "expected ','; save it with commas and decimal points");
    refuses("csv", "text\tlabel\nx\t1\n",
            "'x' has one column 'text?label'; its fields seem to be separated by a tab, expected "
            "',' (name the file .tsv)");
    refuses("tsv", "text,label\nx,1\n",
            "'x' has one column 'text,label'; its fields seem to be separated by ',', expected a "
            "tab (name the file .csv)");
}

TEST(csv_refusals)
{
    refuses("csv", "", "'x' is empty");
    refuses("csv", "\r\n\n", "'x' is empty");
    refuses("csv", "text,label\n", "'x' has a line of names and no examples");
    refuses("csv", "text,label\n\"two\nlines\",1\na, b,2\n",
            "'x', line 4: 3 fields, the line of names has 2; a field that contains ',' or a line "
            "end is written in quotes");
    refuses("tsv", "text\tlabel\nx\n",
            "'x', line 2: 1 field, the line of names has 2; a field that contains '\\t' or a line "
            "end is written in quotes");
    refuses("csv", "text,label\nx,1\ny,\"2\n3,4\n",
            "'x', line 3, byte 3: a quoted field begins here and does not end");
    refuses("csv", "text,label\n\"x\" y,1\n",
            "'x', line 2, byte 4: text after the closing quote of a field; a quote inside a quoted "
            "field is written twice");
    refuses("csv", "text,label\nx,1\r\n\xE9t\xE9,1\n",
            "'x', line 3, byte 1: 0xE9 is not UTF-8; convert the file, for example by 'iconv -f "
            "WINDOWS-1252 -t UTF-8'");
    refuses_bytes("csv", "a,b\nx\0,1\n", 9,
                  "'x', line 2, byte 2: a NUL byte; the file is not UTF-8 text");
    refuses_bytes("csv",
                  "\xFF\xFE"
                  "a\0,\0b\0",
                  8,
                  "'x' is UTF-16 text, expected UTF-8; convert it by 'iconv -f UTF-16 -t UTF-8'");
    refuses_bytes("csv", "a\0,\0b\0\n\0", 8,
                  "'x' is UTF-16 text, expected UTF-8; convert it by 'iconv -f UTF-16LE -t UTF-8'");
    refuses(
        "tsv", "text\tlabel\n\"Yes, he said\t1\n",
        "'x', line 2, byte 1: a quoted field begins here and does not end; a tsv without quoting "
        "is converted by pandas.read_csv('IN', sep='\\t', quoting=3).to_csv('OUT.csv', "
        "index=False)");
}

/* ---- JSON lines ---------------------------------------------------------------------------- */

TEST(json_lines)
{
    lra_data_columns c = read_text(
        "jsonl", "\xEF\xBB\xBF{\"text\": \"a\\n\\u00e9\", \"label\": true, \"tokens\": [1, -2, 3], "
                 "\"x\": [0.5, 1], \"v\": [[1, 2], [3, 4.5]]}\r\n"
                 "\n"
                 "{\"tokens\": [], \"v\": [[5, null]], \"label\": null, \"late\": \"z\"}\n"
                 "  \t\n"
                 "{\"v\": [], \"text\": \"\", \"label\": 9007199254740993, \"x\": null}");
    assert_int_equal(c.n, 3);
    assert_int_equal(c.n_columns, 6);
    is_text(&c, "text", 0, "a\n\xC3\xA9");
    is_text(&c, "text", 1, "");
    is_text(&c, "text", 2, "");
    assert_int_equal(get(&c, "text")->missing, 2);
    is_number(&c, "label", 0, 1);
    is_number(&c, "label", 1, (double)NAN);
    assert_true(get(&c, "label")->integral);
    is_ids(&c, "tokens", 0, 3, (const int64_t[]){1, -2, 3});
    is_ids(&c, "tokens", 1, 0, NULL);
    is_ids(&c, "tokens", 2, 0, NULL);
    assert_int_equal(get(&c, "tokens")->missing, 2);
    is_values(&c, "x", 0, 2, 1, (const float[]){0.5f, 1});
    is_values(&c, "x", 2, 0, 1, NULL);
    is_values(&c, "v", 0, 2, 2, (const float[]){1, 2, 3, 4.5f});
    is_values(&c, "v", 1, 1, 2, (const float[]){5, NAN});
    is_values(&c, "v", 2, 0, 2, NULL);
    is_text(&c, "late", 0, "");
    is_text(&c, "late", 1, "z");
    is_text(&c, "late", 2, "");
    lra_data_columns_free(&c);
}

TEST(json_lists_of_integers_and_reals)
{
    lra_data_columns c = read_text("jsonl",
                                   "{\"x\": [1, 2]}\n{\"x\": []}\n{\"x\": [3.5]}\n{\"x\":[4]}");
    is_values(&c, "x", 0, 2, 1, (const float[]){1, 2});
    is_values(&c, "x", 1, 0, 1, NULL);
    is_values(&c, "x", 2, 1, 1, (const float[]){3.5f});
    is_values(&c, "x", 3, 1, 1, (const float[]){4});
    lra_data_columns_free(&c);
    c = read_text("jsonl", "{\"x\": [], \"y\": null}\n{\"y\": []}");
    is_ids(&c, "x", 0, 0, NULL);
    is_ids(&c, "y", 1, 0, NULL);
    lra_data_columns_free(&c);
    c = read_text("jsonl", "{\"x\": [true, false]}\n{\"x\": [9223372036854775807]}");
    is_ids(&c, "x", 0, 2, (const int64_t[]){1, 0});
    is_ids(&c, "x", 1, 1, (const int64_t[]){INT64_MAX});
    lra_data_columns_free(&c);
}

/* A column that cannot be used has a reason; other columns of the file can be used. */
TEST(json_columns_refused)
{
    static const struct {
        const char *lines, *reason;
    } known[] = {
        {"{\"x\":1}\n\n{\"x\":\"a\"}", "line 3 is text, line 1 a number"},
        {"{\"x\":\"a\"}\n{\"x\":[1]}", "line 2 is a list of integers, line 1 text"},
        {"{\"x\":[]}\n{\"x\":1}", "line 2 is a number, line 1 a list of integers"},
        {"{\"x\":1}\n{\"x\":[]}", "line 2 is a list of integers, line 1 a number"},
        {"{\"x\":[1,\"a\"]}", "line 1: a list of text, expected numbers"},
        {"{\"x\":[{}]}", "line 1: a list of objects, expected numbers"},
        {"{\"x\":[[1],[1,2]]}", "line 1: step 2 of the list differs from the first, expected "
                                "numbers, or lists of as many numbers"},
        {"{\"x\":[1,[1]]}", "line 1: step 2 of the list differs from the first, expected numbers, "
                            "or lists of as many numbers"},
        {"{\"x\":[[[1]]]}", "line 1: step 1 of the list differs from the first, expected numbers, "
                            "or lists of as many numbers"},
        {"{\"x\":[[]]}", "line 1: step 1 of the list differs from the first, expected numbers, or "
                         "lists of as many numbers"},
        {"{\"x\":[[1,2]]}\n{\"x\":[[1,2,3]]}", "line 2 has 3 numbers in each step, line 1 has 2"},
        {"{\"x\":[1]}\n{\"x\":[[1,2]]}", "line 2 is a list of numbers, line 1 a list of integers"},
        {"{\"x\":{\"a\":1}}", "line 1: an object; expected text, a number or a list"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_err e = {{0}};
        char *text = lra_format("%s\n{\"x\":{},\"y\":7}\n", known[i].lines);
        char *message = lra_format("'f', column 'x': %s", known[i].reason);
        lra_data_columns c = read_text("jsonl", text);
        assert_null(lra_data_columns_find(&c, "x", "f", &e));
        assert_string_equal(e.msg, message);
        is_number(&c, "y", c.n - 1, 7);
        lra_data_columns_free(&c);
        lra_free(message);
        lra_free(text);
    }
}

TEST(json_refusals)
{
    refuses("jsonl", "", "'x' is empty");
    refuses("jsonl", "\n \n", "'x' is empty");
    refuses("jsonl", "{}\n{}\n", "'x': its objects have no keys");
    refuses("jsonl", "{\"a\":1}\n[1]\n",
            "'x', line 2 is no object, expected {\"NAME\": VALUE, ...}");
    refuses("jsonl", "[{\"a\":1}, {\"a\":2}]\n",
            "'x' is a JSON array, expected one object per line; convert it by 'jq -c \".[]\"' or "
            "pandas.read_json(FILE).to_json(OTHER, orient='records', lines=True)");
    refuses("jsonl", "[\n{\"a\":1},\n{\"a\":2}]\n",
            "'x' is a JSON array over several lines, expected one object per line; convert it by "
            "'jq -c \".[]\"'");
    refuses("jsonl", "{\n\"a\":1\n}\n",
            "'x' is a JSON object over several lines, expected one object per line; convert it by "
            "'jq -c .'");
    refuses("jsonl", "{\"a\":1}\n{\"a\":\n2}",
            "'x', line 2, byte 5: unexpected token near end of file; expected one complete object "
            "per line");
    refuses("jsonl", "{\"a\":1e999}", "'x', line 1, byte 10: real number overflow near '1e999'");
    refuses("jsonl", "{'a':1}",
            "'x', line 1, byte 2: string or '}' expected near '''; JSON has double quotes");
    refuses("jsonl", "{\"a\":1},\n{\"a\":2}",
            "'x', line 1, byte 8: end of file expected near ','; expected one object per line, and "
            "nothing after it");
    refuses("jsonl", "{\"text\":{\"0\":\"a\"},\"label\":{\"0\":1}}",
            "'x' is one object, expected one per line and example; convert it by "
            "pandas.read_json('IN').to_json('OUT.jsonl', orient='records', lines=True)");
    refuses("jsonl", "{\"a\":1, \"a\":2}",
            "'x', line 1, byte 11: duplicate object key near '\"a\"'");
    refuses(
        "jsonl", "{\"a\":18446744073709551615}",
        "'x', line 1, byte 25: too big integer near '18446744073709551615'; integers are at most 2^63 - 1");
    refuses("jsonl", "{\"a\":NaN}",
            "'x', line 1, byte 8: invalid token near 'NaN'; JSON has no NaN or Infinity: write "
            "null");
    refuses("jsonl", "{\"a\":\"\xE9\"}",
            "'x', line 1, byte 7: 0xE9 is not UTF-8; convert the file, for example by 'iconv -f "
            "WINDOWS-1252 -t UTF-8'");
}

/* 100,000 nested brackets are rejected without deep recursion. */
TEST(json_depth)
{
    lra_err e = {{0}};
    lra_data_columns c;
    lra_text t = {0};
    lra_text_add(&t, "{\"a\":");
    for (int i = 0; i < 100000; i++) lra_text_bytes(&t, "[", 1);
    assert_int_equal(parse("jsonl", t.s, t.n, &c, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "maximum parsing depth reached"));
    lra_text_free(&t);
}

/* ---- names --------------------------------------------------------------------------------- */

TEST(find_lists_the_columns)
{
    lra_err e = {{0}};
    lra_data_columns c = read_text("csv", "review,sentiment\na,b\n");
    assert_null(lra_data_columns_find(&c, "reviews", "f.csv", &e));
    assert_string_equal(e.msg, "'f.csv' has no column 'reviews' (did you mean 'review'?); its "
                               "columns are: review, sentiment");
    assert_null(lra_data_columns_find(&c, "label", "f.csv", &e));
    assert_string_equal(e.msg, "'f.csv' has no column 'label'; its columns are: review, sentiment");
    lra_data_columns_free(&c);
}

/* ---- conversion ---------------------------------------------------------------------------- */

static void refuses_to_take(lra_data_columns *c, const char *name, lra_data_column_kind kind,
                            const char *message)
{
    lra_err e = {{0}};
    assert_null(lra_data_columns_take(c, name, kind, "f", &e));
    assert_string_equal(e.msg, message);
}

TEST(take_converts)
{
    lra_err e = {{0}};
    lra_data_columns c = read_text("jsonl",
                                   "{\"i\":[1,-2],\"f\":[3.0,4.0],\"g\":[1.5],\"h\":[[1,2]],"
                                   "\"n\":1,\"big\":[16777216.0]}\n{\"i\":[],\"f\":[]}");
    NOT_NULL(lra_data_columns_take(&c, "i", LRA_DATA_COLUMN_VALUES, "f", &e));
    is_values(&c, "i", 0, 2, 1, (const float[]){1, -2});
    NOT_NULL(lra_data_columns_take(&c, "i", LRA_DATA_COLUMN_IDS, "f", &e));
    is_ids(&c, "i", 0, 2, (const int64_t[]){1, -2});
    NOT_NULL(lra_data_columns_take(&c, "f", LRA_DATA_COLUMN_IDS, "f", &e));
    is_ids(&c, "f", 0, 2, (const int64_t[]){3, 4});
    is_ids(&c, "f", 1, 0, NULL);
    refuses_to_take(&c, "g", LRA_DATA_COLUMN_IDS,
                    "'f', column 'g', example 1: 1.5 is not an integer below 2^24");
    refuses_to_take(&c, "big", LRA_DATA_COLUMN_IDS,
                    "'f', column 'big', example 1: 1.67772e+07 is not an integer below 2^24");
    refuses_to_take(&c, "h", LRA_DATA_COLUMN_IDS,
                    "'f', column 'h' has 2 numbers in each step, expected integers");
    refuses_to_take(&c, "n", LRA_DATA_COLUMN_IDS,
                    "'f', column 'n' has a number in each example, expected a list of integers");
    refuses_to_take(&c, "h", LRA_DATA_COLUMN_TEXT,
                    "'f', column 'h' has a list of numbers in each example, expected text");
    refuses_to_take(&c, "none", LRA_DATA_COLUMN_TEXT,
                    "'f' has no column 'none'; its columns are: i, f, g, h, n, big");
    lra_data_columns_free(&c);
}

TEST(take_lists_from_text)
{
    lra_err e = {{0}};
    const char *text = "a,b,c\n\"[1, -2, 3]\",0.5 1e1,x\n,;,1\n7,\"(2,\n3)\",[1.5]\n";
    lra_data_columns c = read_text("csv", text);
    NOT_NULL(lra_data_columns_take(&c, "a", LRA_DATA_COLUMN_IDS, "f", &e));
    is_ids(&c, "a", 0, 3, (const int64_t[]){1, -2, 3});
    is_ids(&c, "a", 1, 0, NULL);
    is_ids(&c, "a", 2, 1, (const int64_t[]){7});
    refuses_to_take(&c, "b", LRA_DATA_COLUMN_IDS,
                    "'f', column 'b', example 1: its list has a number that is not an integer");
    NOT_NULL(lra_data_columns_take(&c, "b", LRA_DATA_COLUMN_VALUES, "f", &e));
    is_values(&c, "b", 0, 2, 1, (const float[]){0.5f, 10});
    is_values(&c, "b", 1, 0, 1, NULL);
    assert_int_equal(get(&c, "b")->missing, 1); /* a list that is empty counts as missing */
    is_values(&c, "b", 2, 2, 1, (const float[]){2, 3});
    refuses_to_take(&c, "c", LRA_DATA_COLUMN_VALUES,
                    "'f', column 'c', example 1: 'x' is no list of numbers");
    lra_data_columns_free(&c);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Truncated files and files with a changed byte are read or rejected with a message. */
TEST(damaged_files)
{
    static const char *const files[][2] = {
        {"csv", "t,l\r\n\"a\"\"b\",1\r\n\xC3\xA9,-2e3\n"},
        {"tsv", "\xEF\xBB\xBFt\tl\n\"\n\"\t\n"},
        {"jsonl", "{\"a\":[1,2],\"b\":\"\\u00e9\"}\n{\"a\":[0.5],\"c\":[[1,2],[3,4]]}\n"}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        size_t n = strlen(files[k][1]);
        char *copy = lra_copy_text(files[k][1]);
        for (size_t cut = 0; cut <= n; cut++) {
            for (int byte = 0; byte < 256; byte++) {
                lra_err e = {{0}};
                lra_data_columns c;
                if (cut < n) copy[cut] = (char)byte;
                if (parse(files[k][0], copy, byte ? n : cut, &c, &e) != 0) assert_true(*e.msg != 0);
                lra_data_columns_free(&c);
            }
            if (cut < n) copy[cut] = files[k][1][cut];
        }
        lra_free(copy);
    }
}
