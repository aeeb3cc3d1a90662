/* The grammar of texts in result files. */
#include "reports/check_names.h"

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/printable.h"

enum { MOST = 64 };
static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.:+";

/* A text and what it is called in messages. */
typedef struct {
    const char *what, *text;
} named;

static int check_names(int n, const named *name, lra_err *e)
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

/* The next line of a text as one of its own, NULL after the last; caller frees. */
static char *next_line(const char **at)
{
    size_t n = strcspn(*at, "\n");
    if (!**at) return NULL;
    char *line = lra_format("%.*s", (int)n, *at);
    *at += n + ((*at)[n] == '\n');
    return line;
}

static int check_lines(int n, const named *name, lra_err *e)
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

/* "key=value": the key is a name, the value printable and without blanks. */
static int check_settings(const char *what, const char *text, lra_err *e)
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

/* Where, by what and when: what is recorded of it. */
static int check_origin(const lra_origin *o, lra_err *e)
{
    int rc = 0;
    char *text = NULL;
    for (int i = 0; rc == 0; i++) {
        const char *name = lra_origin_line(o, i, &text);
        if (!name) break;
        if (text) rc = check_lines(1, &(named){name, text}, e);
        lra_free(text);
        text = NULL;
    }
    return rc;
}

static int check_each(const char *what, int n, char *const *list, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) rc = check_names(1, &(named){what, list[i]}, e);
    return rc;
}

int lra_result_names_check(const lra_result *r, lra_err *e)
{
    const named names[] = {{"task", r->task},
                           {"model", r->model},
                           {"preset", r->preset},
                           {"precision", r->precision},
                           {"fingerprint", r->fingerprint},
                           {"run", r->run}};
    const named lines[] = {{"ladder", r->ladder}, {"/deviations", r->deviations}};
    int rc = check_names(sizeof names / sizeof *names, names, e);
    if (rc == 0) rc = check_lines(sizeof lines / sizeof *lines, lines, e);
    if (rc == 0) rc = check_origin(&r->origin, e);
    if (rc == 0) rc = check_settings("/config", r->config, e);
    if (rc == 0) rc = check_settings("/task_parameters", r->task_parameters, e);
    return rc == 0 ? check_each("/baseline", r->n_baselines, r->baseline_name, e) : rc;
}

int lra_listops_names_check(const lra_listops *r, lra_err *e)
{
    const named names[] = {{"task", r->task},
                           {"model", r->model},
                           {"preset", r->preset},
                           {"precision", r->precision},
                           {"fingerprint", r->fingerprint},
                           {"run", r->run}};
    int rc = check_names(sizeof names / sizeof *names, names, e);
    if (rc == 0) rc = check_origin(&r->origin, e);
    if (rc == 0) rc = check_settings("/config", r->config, e);
    return rc == 0 ? check_each("/heuristic", r->n_heuristics, r->heuristic_name, e) : rc;
}
