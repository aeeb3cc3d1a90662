/* Commands, versions and settings of all results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/facts.h"
#include "reports/views/probe_measurements.h"

enum { COLUMNS = 8 };

static void add_text(lra_table *t, const char *text)
{
    lra_table_cell(t, "%s", text && *text ? text : "-");
}

static void add_row(lra_table *t, const char *kind, const char *run, const char *model,
                    const char *task, int64_t seed, const lra_origin *o)
{
    lra_table_row(t);
    add_text(t, run);
    add_text(t, kind);
    add_text(t, strncmp(model, "user.", 5) == 0 ? model + 5 : model);
    add_text(t, task);
    lra_table_number(t, (double)seed, 0);
    add_text(t, o->date);
    add_text(t, o->level);
    add_text(t, o->command);
}

static lra_table *files_table(const lra_page *p)
{
    static const char *const head[COLUMNS] = {"run",  "file",       "model",     "task",
                                              "seed", "date (UTC)", "processor", "command"};
    const lra_report_input *in = p->all;
    lra_table *t = lra_table_new("Files and the commands that made them", COLUMNS, head);
    for (int i = 0; i < in->n; i++) {
        const lra_result *r = in->list[i];
        add_row(t, "result", r->run, r->model, r->task, r->seed, &r->origin);
    }
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_result *r = in->probes[i];
        add_row(t, r->probe, r->run, r->model, r->task, r->seed, &r->origin);
    }
    for (int i = 0; i < in->n_listops; i++) {
        const lra_listops *r = in->listops[i];
        add_row(t, "listops", r->run, r->model, r->task, r->seed, &r->origin);
    }
    return t;
}

/* ---- versions -------------------------------------------------------------------------------- */

static void add_version(const lra_origin *o, lra_word_set *programs, lra_word_set *machines)
{
    if (o->program) {
        char *text = lra_format("%s, revision %s, %s, %s, %s", o->program,
                                o->revision ? o->revision : "unknown",
                                o->compiler ? o->compiler : "compiler unknown",
                                o->build ? o->build : "", o->libraries ? o->libraries : "");
        lra_words_add(programs, text);
        lra_free(text);
    }
    if (o->device_name) {
        char *text = lra_format("%s: %s (%s)", o->device ? o->device : "device", o->device_name,
                                o->level ? o->level : "");
        lra_words_add(machines, text);
        lra_free(text);
    }
}

static void add_list(lra_text *to, const char *term, lra_word_set *set)
{
    for (int i = 0; i < set->n && i < 12; i++) {
        lra_text_add(to, "<div><dt>%s</dt>", i ? "" : term);
        lra_html_wrap(to, "<dd>", set->text[i], "</dd></div>\n");
    }
    lra_word_set_free(set);
}

static void add_versions(const lra_page *p, lra_text *to)
{
    lra_word_set programs = {0}, machines = {0}, report = {0};
    const lra_report_input *in = p->all;
    for (int i = 0; i < in->n; i++) add_version(&in->list[i]->origin, &programs, &machines);
    for (int i = 0; i < in->n_probes; i++)
        add_version(&in->probes[i]->origin, &programs, &machines);
    lra_words_add(&report, "lra-report " LRA_VERSION);
    lra_text_add(to, "<dl class=\"settings\">\n");
    add_list(to, "Programs", &programs);
    add_list(to, "Machines", &machines);
    add_list(to, "Page", &report);
    lra_html_wrap(to, "<div><dt>Command</dt><dd><code>", p->command, "</code></dd></div>\n</dl>\n");
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Adds the "key=value" lines of a configuration. */
static void add_lines(const char *lines, lra_word_set *to)
{
    for (const char *at = lines ? lines : ""; *at;) {
        size_t n = strcspn(at, "\n");
        char *line = lra_format("%.*s", (int)n, at);
        if (n) lra_words_add(to, line);
        lra_free(line);
        at += n + (at[n] == '\n');
    }
}

static bool has_line(const char *lines, const char *line)
{
    size_t size = strlen(line);
    for (const char *at = lines ? lines : ""; *at;) {
        size_t n = strcspn(at, "\n");
        if (n == size && strncmp(at, line, n) == 0) return true;
        at += n + (at[n] == '\n');
    }
    return false;
}

/* Settings of result i, or, without results, of probe result i. */
static const char *config_at(const lra_page *p, int i)
{
    return p->all->n ? p->all->list[i]->config : p->all->probes[i]->config;
}

/* Adds the settings that all runs share, and for each other key its values. */
static void add_settings(const lra_page *p, lra_text *to)
{
    lra_word_set all = {0}, common = {0}, keys = {0};
    int n = p->all->n ? p->all->n : p->all->n_probes;
    for (int i = 0; i < n; i++) add_lines(config_at(p, i), &all);
    for (int k = 0; k < all.n; k++) {
        bool shared = true;
        for (int i = 0; i < n && shared; i++) shared = has_line(config_at(p, i), all.text[k]);
        char *key = lra_format("%.*s", (int)strcspn(all.text[k], "="), all.text[k]);
        lra_words_add(shared ? &common : &keys, shared ? all.text[k] : key);
        lra_free(key);
    }
    lra_text_add(to, "<dl class=\"settings\">\n");
    for (int k = 0; k < common.n; k++) {
        char *line = common.text[k], *value = strchr(line, '=');
        *value++ = 0;
        lra_html_wrap(to, "<div><dt>", line, "</dt>");
        lra_html_wrap(to, "<dd>", value, "</dd></div>\n");
    }
    for (int k = 0; k < keys.n; k++) {
        lra_word_set values = {0};
        for (int i = 0; i < n; i++) {
            char *value = lra_page_value(config_at(p, i), keys.text[k]);
            lra_words_add(&values, value ? value : "default");
            lra_free(value);
        }
        char *list = lra_words_join(&values, 12);
        lra_html_wrap(to, "<div><dt>", keys.text[k], "</dt>");
        lra_html_wrap(to, "<dd>", list, " (differs between runs)</dd></div>\n");
        lra_free(list);
        lra_word_set_free(&values);
    }
    lra_text_add(to, "</dl>\n");
    lra_word_set_free(&all);
    lra_word_set_free(&common);
    lra_word_set_free(&keys);
}

static void write(lra_page *p, lra_text *to)
{
    lra_table *t = files_table(p);
    lra_text_add(to, "<h3>Command and versions</h3>\n");
    add_versions(p, to);
    lra_page_add_table(p, to, t, false);
    lra_text_add(to, "<h3>Settings</h3>\n");
    add_settings(p, to);
    lra_table_free(t);
}

const lra_page_section lra_section_provenance = {
    .id = "provenance", .title = "Command, versions and settings", .write = write};
