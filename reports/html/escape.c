/* Escapes texts for HTML pages (escape.h). */
#include "reports/html/escape.h"

#include <ctype.h>
#include <string.h>

#include "kernels/base/core/printable.h"

static void add_character(lra_text *to, char c)
{
    switch (c) {
    case '&': lra_text_add(to, "&amp;"); break;
    case '<': lra_text_add(to, "&lt;"); break;
    case '>': lra_text_add(to, "&gt;"); break;
    case '"': lra_text_add(to, "&quot;"); break;
    case '\'': lra_text_add(to, "&#39;"); break;
    default: lra_text_bytes(to, &c, 1);
    }
}

void lra_html_text(lra_text *to, const char *text)
{
    char *printable = lra_make_printable(lra_copy_text(text));
    for (const char *at = printable; *at; at++) add_character(to, *at);
    lra_free(printable);
}

void lra_html_wrap(lra_text *to, const char *before, const char *text, const char *after)
{
    lra_text_add(to, "%s", before);
    lra_html_text(to, text);
    lra_text_add(to, "%s", after);
}

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

void lra_html_number(lra_text *to, const char *text)
{
    static const char minus[] = "\xE2\x88\x92", dash[] = "\xE2\x80\x93";
    char *printable = lra_make_printable(lra_copy_text(text));
    for (const char *at = printable; *at; at++) {
        char before = at > printable ? at[-1] : ' ';
        bool digit_after = is_digit(at[1]) || (at[1] == '.' && is_digit(at[2]));
        if (*at != '-')
            add_character(to, *at);
        else if (digit_after && strchr(" (<>=", before))
            lra_text_add(to, "%s", minus);
        else if ((at == printable && (!at[1] || at[1] == ' ')) || (digit_after && is_digit(before)))
            lra_text_add(to, "%s", dash);
        else
            lra_text_add(to, "-");
    }
    lra_free(printable);
}

void lra_html_wrap_number(lra_text *to, const char *before, const char *text, const char *after)
{
    lra_text_add(to, "%s", before);
    lra_html_number(to, text);
    lra_text_add(to, "%s", after);
}

void lra_html_json(lra_text *to, const char *json)
{
    for (; *json; json++) {
        if (strchr("<>&", *json))
            lra_text_add(to, "\\u%04x", (unsigned)(unsigned char)*json);
        else
            lra_text_bytes(to, json, 1);
    }
}
