/* Prints lines and makes JSON values of dumps (dump_parts.h). */
#include "reports/print/dump_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"

void lra_dump_title(FILE *out, const char *what, const char *task, const char *model,
                    const char *preset, int64_t seed, const char *precision, bool unsealed)
{
    char *title = lra_format("%s%s %s, preset %s, seed %" PRId64 ", %s%s", what, task, model,
                             preset, seed, precision,
                             unsealed ? ", unsealed: values may have been changed" : "");
    fprintf(out, "%s\n", lra_make_printable(title));
    lra_free(title);
}

void lra_dump_line(FILE *out, const char *name, const char *text)
{
    char *safe = lra_make_printable(lra_copy_text(text));
    fprintf(out, "  %-17s %s\n", name, safe);
    lra_free(safe);
}

void lra_dump_lines(FILE *out, const char *name, const char *text)
{
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        char *one = lra_format("%.*s", (int)n, at);
        lra_dump_line(out, at == text ? name : "", one);
        lra_free(one);
        at += n + (at[n] == '\n');
    }
}

json_t *lra_dump_text(const char *text)
{
    if (!text) return json_null();
    char *safe = lra_make_printable(lra_copy_text(text));
    json_t *j = json_string(safe);
    lra_free(safe);
    return j;
}

json_t *lra_dump_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}
