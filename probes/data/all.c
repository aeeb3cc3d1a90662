/* Checks all official files below a folder.
 *
 * For each task that can be imported, its reader tries the folder, then the folders below it in
 * order of depth, until it finds files. These are examined with the task's default parameters.
 * Nothing is written. */
#include "probes/data/all.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "datasets/loader/dataset.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/core/warnings.h"
#include "probes/data/examine.h"
#include "probes/shared/official_folders.h"
#include "reports/print/table.h"

typedef struct {
    const lra_task *task;
    int rc;            /* result code; LRA_ABSENT: no files were found */
    const char *place; /* folder of the files; not owned */
    lra_examination found;
    lra_err why;
    lra_text warnings; /* warnings of the import, one per line */
} verdict;

/* ---- one task -------------------------------------------------------------------------------- */

static int check_task(const lra_official_folders *p, verdict *v, lra_err *e)
{
    const lra_task *t = v->task;
    lra_config *c = lra_keys_config(t->keys);
    if (!c) return LRA_FAILED;
    v->rc = LRA_ABSENT;
    for (int i = 0; i < p->n && v->rc == LRA_ABSENT && !lra_stop_signal(); i++) {
        v->place = p->path[i];
        lra_text_free(&v->warnings);
        lra_warn_into(&v->warnings);
        v->rc = lra_data_examine(t, c, v->place, &v->found, &v->why);
    }
    lra_warn_into(NULL);
    lra_config_free(c);
    if (lra_stop_signal()) return lra_fail(e, "stopped while checking '%s'", t->name);
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void add_row(lra_table *t, const verdict *v, const char *folder)
{
    bool there = v->rc != LRA_ABSENT, good = v->rc == 0;
    const char *below = there ? v->place + strlen(folder) : "-";
    lra_table_row(t);
    lra_table_cell(t, "%s", v->task->name);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (good)
            lra_table_value(t, (double)v->found.n[s], "%" PRId64, v->found.n[s]);
        else
            lra_table_cell(t, "-");
    if (good && v->task->n_classes)
        lra_table_value(t, v->task->n_classes, "%d", v->task->n_classes);
    else
        lra_table_cell(t, "-");
    if (good && v->found.vocab)
        lra_table_value(t, v->found.vocab, "%d", v->found.vocab);
    else
        lra_table_cell(t, "-");
    if (good)
        lra_table_value(t, (double)v->found.defects, "%" PRId64, v->found.defects);
    else
        lra_table_cell(t, "-");
    lra_table_cell(t, "%s",
                   !there             ? "not found"
                   : !good            ? "failed"
                   : v->found.defects ? "usable"
                                      : "good");
    lra_table_cell(t, "%s", *below == '/' ? below + 1 : *below ? below : ".");
    lra_table_cell(t, "%s", !good ? v->why.msg : v->warnings.s ? v->warnings.s : "");
}

/* Adds the error, or else the warnings, as notes below the table. */
static void add_notes(lra_table *t, const verdict *v)
{
    if (v->rc != 0 && v->rc != LRA_ABSENT) lra_table_note(t, "%s\t%s", v->task->name, v->why.msg);
    for (const char *at = v->rc == 0 && v->warnings.s ? v->warnings.s : ""; *at;) {
        int n = (int)strcspn(at, "\n");
        lra_table_note(t, "%s\t%.*s", v->task->name, n, at);
        at += n + 1;
    }
}

static int print(const verdict *list, int n, const char *folder, bool json, lra_err *e)
{
    static const char *const head[] = {"task",       "train",   "val",     "test",  "classes",
                                       "vocabulary", "defects", "verdict", "where", ""};
    static const char *const key[] = {"task",       "train",   "val",     "test",  "classes",
                                      "vocabulary", "defects", "verdict", "where", "message"};
    char *title = lra_format("Official files below '%s'", folder);
    lra_table *t = lra_table_new(title, sizeof head / sizeof *head, head);
    lra_table_keys(t, key);
    bool streams = false;
    for (int i = 0; i < n; i++) {
        add_row(t, &list[i], folder);
        streams = streams || (list[i].rc == 0 && list[i].task->goal == LRA_GOAL_NEXT);
        add_notes(t, &list[i]);
    }
    lra_table_note(t, "rows\trows of each split%s",
                   streams ? "; for tasks that are one token stream, its tokens" : "");
    lra_table_note(
        t, "defects\tdefects of the files that were excluded or repaired; 'lra-probe data TASK "
           "--check DIR' lists them");
    int rc = lra_table_print(t, json ? "json" : "text", stdout, e);
    lra_table_free(t);
    lra_free(title);
    return rc;
}

int lra_data_check_all(const char *folder, bool json, lra_err *e)
{
    lra_official_folders p = {.n = 0};
    int n = 0, found = 0, failed = 0, rc = 0;
    if (!lra_is_folder(folder))
        return lra_fail(e, "'%s' is not a folder; expected a folder with official files below it",
                        folder);
    while (lra_task_at(n)) n++;
    verdict *list = lra_alloc_array((size_t)n, sizeof *list);
    lra_official_folders_find(&p, folder);
    n = 0;
    for (int i = 0; lra_task_at(i) && rc == 0; i++) {
        /* own data have no official files */
        if (!lra_task_at(i)->files.import || lra_task_at(i)->resolve) continue;
        verdict *v = &list[n++];
        v->task = lra_task_at(i);
        lra_note("searching for %s", v->task->name);
        rc = check_task(&p, v, e);
        found += v->rc != LRA_ABSENT, failed += v->rc != LRA_ABSENT && v->rc != 0;
        if (v->rc == LRA_ABSENT) lra_detail("%s", v->why.msg);
    }
    if (rc == 0 && found == 0)
        rc = lra_fail(
            e,
            "no official files of any task in '%s' or %d levels below; 'lra-probe list tasks' "
            "lists the tasks",
            folder, (int)LRA_OFFICIAL_LEVELS);
    if (rc == 0) rc = print(list, n, folder, json, e);
    if (rc == 0 && failed)
        rc = lra_fail(e, "%d of the %d data sets found cannot be used", failed, found);
    lra_official_folders_free(&p);
    for (int i = 0; i < n; i++) {
        lra_text_free(&list[i].warnings);
        lra_examination_free(&list[i].found);
    }
    lra_free(list);
    return rc;
}
