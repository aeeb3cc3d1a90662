/* Pages of lra-report html with hostile texts: the page shows them as text. Drawings keep only
 * shapes and texts. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/page_make.h"
#include "reports/html/svg_inline.h"
#include "reports/print/table_html.h"
#include "tests/fixtures/small_results.h"

static int count(const char *in, const char *what)
{
    int n = 0;
    for (const char *at = in; (at = strstr(at, what)) != NULL; at += strlen(what)) n++;
    return n;
}

/* ---- texts ----------------------------------------------------------------------------------- */

TEST(texts_are_escaped)
{
    static const char *const pair[][2] = {
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onload='x' ]]> &amp;", "&quot; onload=&#39;x&#39; ]]&gt; &amp;amp;"},
        {"a\xFF\xC3(\x01z", "a?"
                            "?(?z"},
        {"\xE2\x80\xAEtxt", "???txt"},
        {"caf\xC3\xA9", "caf\xC3\xA9"}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        lra_text t = {0};
        lra_html_text(&t, pair[i][0]);
        assert_string_equal(t.s, pair[i][1]);
        lra_text_free(&t);
    }
}

TEST(numbers_have_typographic_signs)
{
    static const char *const pair[][2] = {
        {"-0.34", "\xE2\x88\x92"
                  "0.34"},
        {"-", "\xE2\x80\x93"},
        {"94.3-95.2", "94.3\xE2\x80\x93"
                      "95.2"},
        {"(-1.2 to +3)", "(\xE2\x88\x92"
                         "1.2 to +3)"},
        {"n-gram, 5e-05, shallow-a-2", "n-gram, 5e-05, shallow-a-2"}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        lra_text t = {0};
        lra_html_number(&t, pair[i][0]);
        assert_string_equal(t.s, pair[i][1]);
        lra_text_free(&t);
    }
}

TEST(json_does_not_end_its_element)
{
    lra_text t = {0};
    lra_html_json(&t, "{\"a\":\"</script><!--&\"}");
    assert_string_equal(t.s, "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}");
    lra_text_free(&t);
}

/* ---- drawings -------------------------------------------------------------------------------- */

static const char drawing[] =
    "<?xml version=\"1.0\"?>\n<!DOCTYPE svg [<!ENTITY x \"y\">]>\n"
    "<svg width=\"30\" height=\"20\" viewBox=\"0 0 30 20\" onload=\"alert(1)\">\n"
    "<title>gnuplot</title><desc>by gnuplot</desc>\n"
    "<g id=\"gnuplot_canvas\">\n<rect x=\"0\" y=\"0\" width=\"30\" height=\"20\" fill=\"#ffffff\"/>\n"
    "<defs><circle id='gpDot' r='0.5'/><filter id='textbox'><feFlood flood-color='white'/></filter>"
    "</defs>\n<script>alert(2)</script><style>@import 'x'</style>\n"
    "<foreignObject><div>x</div></foreignObject>\n"
    "<g fill=\"none\" color=\"black\" stroke=\"currentColor\">\n</g>\n"
    "<g stroke=\"rgb(0, 74, 143)\" style=\"x\" onclick='y'><path d='M1,2\n\tL3,4' fill=\"#004A8F\"/>"
    "<use xlink:href='#gpDot' x='1'/><use xlink:href='http://example.org/x#y'/>"
    "<image xlink:href='file:///x.png'/><image xlink:href='data:image/png;base64,AA=='/></g>\n"
    "<a href='javascript:alert(3)'><text>in a link</text></a>\n"
    "<text>&lt;script>alert(4)&lt;/script> &amp; ]]> -3</text>\n</g>\n</svg>\n";

TEST(drawings_keep_shapes_and_texts)
{
    static const char *const gone[] = {
        "alert(1)",  "alert(2)",        "alert(3)", "onclick",     "onload",
        "@import",   "foreignObject",   "filter",   "example.org", "file:",
        "style=\"x", "gnuplot</title>", "<script",  "<a ",         "<?xml",
        "ENTITY",    "in a link",       "#ffffff",  "xlink",       "<g class=\"c0\"></g>",
        NULL};
    lra_text t = {0}, css = {0};
    lra_svg_colors colors = {0};
    lra_err e;
    OK(lra_svg_inline(&t, drawing, "figure-1", "a <title>", "b & c", &colors, &e));
    OK(lra_svg_inline(&t, drawing, "figure-2", "a", "b", &colors, &e));
    for (int i = 0; gone[i]; i++)
        if (strstr(t.s, gone[i])) fail_msg("the drawing still has '%s': %s", gone[i], t.s);
    assert_int_equal(count(t.s, "id=\"figure-1-gpDot\""), 1);
    assert_int_equal(count(t.s, "href=\"#figure-2-gpDot\""), 1);
    assert_int_equal(count(t.s, "href=\"data:image/png;base64,AA==\""), 2);
    assert_non_null(strstr(t.s, "M1,2  L3,4"));
    assert_non_null(strstr(t.s, "<title id=\"figure-1-title\">a &lt;title&gt;</title>"));
    assert_non_null(strstr(t.s, "&lt;script&gt;alert(4)&lt;/script&gt; &amp; ]]&gt; \xE2\x88\x92"
                                "3"));
    assert_int_equal(colors.n, 2); /* black, and one colour of both stroke and fill */
    lra_svg_colors_css(&colors, &css);
    assert_non_null(strstr(css.s, "--k1:#004a8f"));
    assert_non_null(strstr(css.s, "prefers-color-scheme:dark"));
    lra_text_free(&css);
    assert_int_equal(lra_svg_inline(&t, "no drawing", "x", "", "", &colors, &e), LRA_FAILED);
    lra_text_free(&t);
    lra_svg_colors_free(&colors);
}

TEST(cut_drawings_close_their_elements)
{
    for (size_t n = 0; n < sizeof drawing; n++) {
        char *part = lra_format("%.*s", (int)n, drawing);
        lra_svg_colors colors = {0};
        lra_text t = {0};
        lra_err e;
        if (lra_svg_inline(&t, part, "x", "t", "d", &colors, &e) == 0) {
            assert_int_equal(count(t.s, "<g"), count(t.s, "</g>"));
            assert_int_equal(count(t.s, "<text"), count(t.s, "</text>"));
            assert_null(strstr(t.s, "<script"));
        }
        lra_text_free(&t);
        lra_svg_colors_free(&colors);
        lra_free(part);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

TEST(tables_have_scopes_and_aligned_numbers)
{
    static const char *const head[] = {"<b>name", "value"};
    lra_table *t = lra_table_new("a & b", 2, head);
    static const struct {
        const char *name;
        double x;
        int decimals;
    } row[] = {{"\"x\"", 1.25, 2}, {"y'", -10, 0}, {"<z>", (double)NAN, 0}};
    for (int i = 0; i < 3; i++) {
        lra_table_row(t);
        lra_table_cell(t, "%s", row[i].name);
        lra_table_number(t, row[i].x, row[i].decimals);
    }
    lra_table_note(t, "key <i>\ttext & more");
    lra_text out = {0};
    lra_table_add_html(&out, t, "table-7", true);
    assert_non_null(strstr(out.s, "<caption id=\"table-7-caption\">a &amp; b</caption>"));
    assert_non_null(strstr(out.s, "<th scope=\"col\">&lt;b&gt;name</th>"));
    assert_non_null(strstr(out.s, "<th scope=\"row\">&quot;x&quot;</th>"));
    /* after 10 there are blanks as wide as the decimal point and two digits */
    assert_non_null(strstr(out.s, "\xE2\x88\x92"
                                  "10\xE2\x80\x88\xE2\x80\x87\xE2\x80\x87</td>"));
    assert_non_null(strstr(out.s, "<td class=\"n none\">\xE2\x80\x93</td>"));
    assert_non_null(strstr(out.s, "<dt>key &lt;i&gt;</dt><dd>text &amp; more</dd>"));
    lra_text_free(&out);
    lra_table_free(t);
}

TEST(wide_tables_of_one_row_are_transposed)
{
    enum { N = 20 };
    const char *head[N];
    for (int c = 0; c < N; c++) head[c] = c ? "value" : "model";
    lra_table *t = lra_table_new("wide", N, head);
    lra_table_row(t);
    lra_table_cell(t, "net");
    for (int c = 1; c < N; c++) lra_table_number(t, -c, 0);
    lra_text out = {0};
    lra_table_add_html(&out, t, "table-1", true);
    assert_int_equal(count(out.s, "<tr>"), N);
    assert_int_equal(count(out.s, "<th scope=\"row\">"), N);
    assert_non_null(strstr(out.s, "<td>\xE2\x88\x92"
                                  "19</td>"));
    lra_text_free(&out);
    lra_table_free(t);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void change(char **text, const char *to)
{
    lra_free(*text);
    *text = lra_copy_text(to);
}

TEST(pages_show_hostile_names_as_text)
{
    static const char hostile[] = "<script>alert('x')</script> \"]]>\xFF<img src=x onerror=y>";
    enum { N = 4 };
    lra_result *list[N];
    for (int i = 0; i < N; i++) {
        list[i] = small_result("quick", i < 2 ? 3 : 5, i % 2, 30 + i);
        change(&list[i]->task_parameters, "");
        change(&list[i]->model, hostile);
        change(&list[i]->user_label, hostile);
        change(&list[i]->origin.command, hostile);
        change(&list[i]->origin.revision, hostile);
        change(&list[i]->deviations, hostile);
    }
    lra_report_input in = {.list = list, .n = N};
    lra_text page = {0};
    lra_page_make(&in, hostile, &page);
    assert_int_equal(count(page.s, "<script"), 1);
    assert_int_equal(count(page.s, "</script>"), 1);
    assert_int_equal(count(page.s, "<img"), 0);
    assert_int_equal(count(page.s, "\xFF"), 0);
    assert_int_equal(count(page.s, "<h1>"), 1);
    assert_true(count(page.s, "&lt;script&gt;alert(&#39;x&#39;)") > 3);
    assert_true(strlen(page.s) == page.n);
    lra_text_free(&page);
    small_results_free(N, list);
}
