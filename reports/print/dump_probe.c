/* Prints the measurements of a probe on a run (dump.h). */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/print/dump.h"
#include "reports/print/dump_parts.h"

/* ---- text ------------------------------------------------------------------------------------ */

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
    bool number = strcmp(f->unit, "1") == 0;
    char *text = lra_format("%-24s %.6g%s%s%s%s%s", f->id, f->value, interval, number ? "" : " ",
                            number ? "" : f->unit, *flags ? ", " : "", flags);
    lra_dump_line(out, u->name, text);
    lra_free(text);
    lra_free(interval);
    lra_free(flags);
}

static void show_checks(const lra_model_checks *c, FILE *out)
{
    for (int i = 0; i < c->n; i++) {
        const lra_model_check *r = &c->row[i];
        char *text = lra_format("%-20s %-7s %s", r->name, lra_check_outcome_names[r->outcome],
                                r->found);
        lra_dump_line(out, i ? "" : "checks", text);
        lra_free(text);
    }
}

void lra_probe_result_show(const lra_probe_result *r, FILE *out)
{
    char *what = lra_format("%s of ", r->probe);
    lra_dump_title(out, what, r->task, r->model, r->preset, r->seed, r->precision, r->unsealed);
    lra_free(what);
    lra_dump_line(out, "run", r->run);
    if (*r->user_label) lra_dump_line(out, "label", r->user_label);
    lra_dump_line(out, "data", r->fingerprint);
    lra_dump_lines(out, "measured with", r->settings);
    lra_dump_lines(out, "settings", r->config);
    show_checks(&r->checks, out);
    for (int u = 0; u < r->n_units; u++)
        for (int f = 0; f < r->unit[u]->n_measurements; f++)
            show_measurement(r->unit[u], &r->unit[u]->measurement[f], out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_measurement(const lra_probe_unit *u, const lra_measurement *f)
{
    char *flags = flags_of(f);
    json_t *j = json_pack("{s:s,s:s,s:o,s:o,s:o,s:s,s:s}", "part", u->name, "id", f->id, "value",
                          lra_dump_number(f->value), "lo", lra_dump_number(f->lo), "hi",
                          lra_dump_number(f->hi), "unit", f->unit, "flags", flags);
    for (int k = 0; k < LRA_NULLS; k++) {
        char key[32];
        snprintf(key, sizeof key, "null_%s", lra_null_names[k]);
        json_object_set_new(j, key, lra_dump_number(f->null[k]));
    }
    lra_free(flags);
    return j;
}

static json_t *json_checks(const lra_model_checks *c)
{
    json_t *all = json_array();
    for (int i = 0; i < c->n; i++) {
        const lra_model_check *r = &c->row[i];
        json_array_append_new(all, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "check", r->name,
                                             "outcome", lra_check_outcome_names[r->outcome],
                                             "result", r->found, "meaning", r->meaning, "remedy",
                                             r->remedy, "disables", r->disables));
    }
    return all;
}

json_t *lra_probe_result_json(const lra_probe_result *r)
{
    json_t *measurements = json_array();
    for (int u = 0; u < r->n_units; u++)
        for (int f = 0; f < r->unit[u]->n_measurements; f++)
            json_array_append_new(measurements,
                                  json_measurement(r->unit[u], &r->unit[u]->measurement[f]));
    json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:b,s:s,s:s}", "probe", r->probe,
                          "task", r->task, "model", r->model, "preset", r->preset, "precision",
                          r->precision, "run", r->run, "fingerprint", r->fingerprint, "seed",
                          (json_int_t)r->seed, "unsealed", r->unsealed, "settings", r->settings,
                          "config", r->config);
    json_object_set_new(j, "label", *r->user_label ? lra_dump_text(r->user_label) : json_null());
    json_object_set_new(j, "findings", measurements);
    if (r->checks.n) json_object_set_new(j, "checks", json_checks(&r->checks));
    return j;
}
