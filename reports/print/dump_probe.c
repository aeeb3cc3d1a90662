/* Prints the measurements of a probe on a run. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "reports/print/dump.h"

/* ---- text ------------------------------------------------------------------------------------ */

static void line(FILE *out, const char *name, const char *text)
{
    char *safe = lra_make_printable(lra_copy_text(text));
    fprintf(out, "  %-18s%s\n", name, safe);
    lra_free(safe);
}

static void lines(FILE *out, const char *name, const char *text)
{
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        char *one = lra_format("%.*s", (int)n, at);
        line(out, at == text ? name : "", one);
        lra_free(one);
        at += n + (at[n] == '\n');
    }
}

static char *flags_of(const lra_measurement *f)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (int i = 0; lra_measurement_flag_name(i); i++)
        if (f->flags >> i & 1)
            lra_text_add(&t, "%s%s", t.n ? " " : "", lra_measurement_flag_name(i));
    return t.s;
}

static void show_measurement(const lra_probe_unit *u, const lra_measurement *f, FILE *out)
{
    char *flags = flags_of(f), *interval = isnan(f->lo) && isnan(f->hi)
                                               ? lra_copy_text("")
                                               : lra_format(" (%.6g to %.6g)", f->lo, f->hi);
    char *text = lra_format("%-24s %.6g%s %s%s%s", f->id, f->value, interval,
                            strcmp(f->unit, "1") == 0 ? "" : f->unit, *flags ? ", " : "", flags);
    size_t n = strlen(text);
    while (n && text[n - 1] == ' ') text[--n] = 0;
    line(out, u->name, text);
    lra_free(text);
    lra_free(interval);
    lra_free(flags);
}

void lra_probe_result_show(const lra_probe_result *r, FILE *out)
{
    char *title = lra_format("%s of %s %s, preset %s, seed %" PRId64 ", %s%s", r->probe, r->task,
                             r->model, r->preset, r->seed, r->precision,
                             r->unsealed ? ", unsealed: values may have been changed" : "");
    fprintf(out, "%s\n", lra_make_printable(title));
    lra_free(title);
    line(out, "run", r->run);
    if (*r->user_label) line(out, "label", r->user_label);
    line(out, "data", r->fingerprint);
    lines(out, "measured with", r->settings);
    lines(out, "settings", r->config);
    for (int u = 0; u < r->n_units; u++)
        for (int f = 0; f < r->unit[u]->n_measurements; f++)
            show_measurement(r->unit[u], &r->unit[u]->measurement[f], out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *json_measurement(const lra_probe_unit *u, const lra_measurement *f)
{
    char *flags = flags_of(f);
    json_t *j = json_pack("{s:s,s:s,s:o,s:o,s:o,s:s,s:s}", "part", u->name, "id", f->id, "value",
                          number(f->value), "lo", number(f->lo), "hi", number(f->hi), "unit",
                          f->unit, "flags", flags);
    for (int k = 0; k < LRA_NULLS; k++) {
        char key[32];
        snprintf(key, sizeof key, "null_%s", lra_null_names[k]);
        json_object_set_new(j, key, number(f->null[k]));
    }
    lra_free(flags);
    return j;
}

json_t *lra_probe_result_json(const lra_probe_result *r)
{
    json_t *measurements = json_array();
    for (int u = 0; u < r->n_units; u++)
        for (int f = 0; f < r->unit[u]->n_measurements; f++)
            json_array_append_new(measurements,
                                  json_measurement(r->unit[u], &r->unit[u]->measurement[f]));
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:b,s:s,s:s,s:o}", "probe", r->probe, "task",
                     r->task, "model", r->model, "preset", r->preset, "precision", r->precision,
                     "run", r->run, "fingerprint", r->fingerprint, "seed", (json_int_t)r->seed,
                     "unsealed", r->unsealed, "settings", r->settings, "config", r->config,
                     "findings", measurements);
}
