/* Checks the texts of result files (check_names.h). */
#include "reports/results/check_names.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"

enum { MOST = 64 };
static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.:+";

int lra_check_names(int n, const lra_named_text *name, lra_err *e)
{
    for (int i = 0; i < n; i++) {
        const char *text = name[i].text;
        size_t length = strlen(text);
        if (length == 0 || length > MOST || strspn(text, name_letters) != length || *text == '-')
            return lra_fail(e, "'%s' is '%.80s', expected at most %d of a-z, 0-9 and -_.:+",
                            name[i].what, text, MOST);
    }
    return 0;
}

int lra_check_run(const char *task, const char *model, const char *preset, const char *precision,
                  const char *fingerprint, const char *run, lra_err *e)
{
    const lra_named_text names[] = {{"task", task},
                                    {"model", model},
                                    {"preset", preset},
                                    {"precision", precision},
                                    {"fingerprint", fingerprint},
                                    {"run", run}};
    return lra_check_names(sizeof names / sizeof *names, names, e);
}

/* Returns the next line of a text as a copy, NULL after the last. The caller frees it. */
static char *next_line(const char **at)
{
    size_t n = strcspn(*at, "\n");
    if (!**at) return NULL;
    char *line = lra_format("%.*s", (int)n, *at);
    *at += n + ((*at)[n] == '\n');
    return line;
}

int lra_check_lines(int n, const lra_named_text *name, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        const char *at = name[i].text;
        for (char *line = next_line(&at); line; line = rc == 0 ? next_line(&at) : NULL) {
            if (!lra_printable(line))
                rc = lra_fail(e, "'%s' holds a line that is no printable UTF-8: '%.80s'",
                              name[i].what, line);
            lra_free(line);
        }
    }
    return rc;
}

int lra_check_label(const char *label, lra_err *e)
{
    if (strlen(label) <= LRA_LABEL && lra_printable(label) && !strchr(label, '\n')) return 0;
    return lra_fail(e, "the label '%.80s' is no line of printable UTF-8 of at most %d bytes", label,
                    (int)LRA_LABEL);
}

int lra_check_settings(const char *what, const char *text, lra_err *e)
{
    int rc = 0;
    for (char *line = next_line(&text); line; line = rc == 0 ? next_line(&text) : NULL) {
        size_t key = strspn(line, name_letters);
        if (key == 0 || line[key] != '=' || strchr(line, ' ') || !lra_printable(line))
            rc = lra_fail(e, "'%s' holds '%.80s', expected key=value", what, line);
        lra_free(line);
    }
    return rc;
}

int lra_check_origin(const lra_origin *o, lra_err *e)
{
    int rc = 0;
    char *text = NULL;
    for (int i = 0; rc == 0; i++) {
        const char *name = lra_origin_line(o, i, &text);
        if (!name) break;
        if (text) rc = lra_check_lines(1, &(lra_named_text){name, text}, e);
        lra_free(text);
        text = NULL;
    }
    return rc;
}

int lra_check_each(const char *what, int n, char *const *list, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++)
        rc = lra_check_names(1, &(lra_named_text){what, list[i]}, e);
    return rc;
}
