/* Writes and reads the cells of sweeps (plan_file.h). */
#include "probes/run/plan_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/file.h"

enum { MOST_BYTES = 1 << 24, MOST_CELLS = 1 << 17 };

/* The last two parts of the folder of a result file: "runs/NAME". */
static char *place_of(const char *result)
{
    const char *end = strrchr(result, '/'), *from = end;
    for (int slashes = 0; from > result; from--)
        if (from[-1] == '/' && ++slashes == 2) break;
    return lra_format("%.*s", (int)(end - from), from);
}

static json_t *json_of(int n, const lra_run_cell *cell)
{
    json_t *cells = json_array();
    for (int i = 0; i < n; i++) {
        char *name = lra_make_printable(lra_copy_text(cell[i].name));
        char *run = cell[i].result ? place_of(cell[i].result) : NULL;
        json_array_append_new(cells, json_pack("{s:s, s:s?, s:f}", "name", name, "run", run,
                                               "seconds", cell[i].seconds));
        lra_free(name);
        lra_free(run);
    }
    return json_pack("{s:i, s:o}", "schema", 1, "cells", cells);
}

/* Hash of the cells whose result files are known from the start: of the trials, if there are
 * any. */
static uint64_t hash_of(int n, const lra_run_cell *cell)
{
    lra_text of = {0};
    bool trials = false;
    for (int i = 0; i < n; i++) trials = trials || cell[i].diverges;
    lra_text_add(&of, "%d\n", n);
    for (int i = 0; i < n; i++)
        if (cell[i].result && (cell[i].diverges || !trials))
            lra_text_add(&of, "%s\n", cell[i].result);
    uint64_t hash = lra_hash64(of.s, of.n);
    lra_text_free(&of);
    return hash;
}

char *lra_plan_file_write(const char *out, int n, const lra_run_cell *cell)
{
    lra_err ignored;
    char *folder = lra_format("%s/sweeps", out);
    char *path = lra_format("%s/%016" PRIx64 ".json", folder, hash_of(n, cell));
    json_t *o = json_of(n, cell);
    char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
    if (text && lra_folder_make(folder, &ignored) == 0)
        lra_file_write(path, text, strlen(text), &ignored);
    free(text);
    json_decref(o);
    lra_free(folder);
    return path;
}

void lra_plan_file_remove(const char *path)
{
    lra_err ignored;
    char *folder = lra_format("%.*s", (int)(strrchr(path, '/') - path), path);
    lra_file_remove(path, &ignored);
    rmdir(folder); /* fails, as it should, if other sweeps have files */
    lra_free(folder);
}

typedef struct {
    lra_planned_cell *cell;
    int n;
} planned;

/* True for "runs/NAME" and "trials/NAME". */
static bool is_place(const char *run)
{
    const char *slash = strchr(run, '/');
    bool known = strncmp(run, "runs/", 5) == 0 || strncmp(run, "trials/", 7) == 0;
    return known && slash[1] && slash[1] != '.' && !strchr(slash + 1, '/') && lra_printable(run);
}

static void add_cells(planned *p, const char *out, const json_t *o)
{
    const json_t *cells = json_object_get(o, "cells");
    for (size_t i = 0; i < json_array_size(cells) && p->n < MOST_CELLS; i++) {
        const json_t *cell = json_array_get(cells, i);
        const char *name = json_string_value(json_object_get(cell, "name"));
        const char *run = json_string_value(json_object_get(cell, "run"));
        if (!name || (run && !is_place(run))) continue;
        p->cell = lra_resize(p->cell, (size_t)(p->n + 1) * sizeof *p->cell);
        p->cell[p->n++] = (lra_planned_cell){lra_make_printable(lra_copy_text(name)),
                                             run ? lra_format("%s/%s", out, run) : NULL,
                                             json_number_value(json_object_get(cell, "seconds"))};
    }
}

int lra_plan_files_read(const char *out, lra_planned_cell **cells)
{
    planned p = {0};
    char **name = NULL, *folder = lra_format("%s/sweeps", out);
    int n = lra_is_folder(folder) ? lra_folder_list(folder, &name, NULL) : 0;
    for (int i = 0; i < n; i++) {
        lra_err ignored;
        size_t bytes, length = strlen(name[i]);
        if (length < 6 || strcmp(name[i] + length - 5, ".json") != 0) continue;
        char *path = lra_format("%s/%s", folder, name[i]);
        char *text = lra_file_read(path, MOST_BYTES, &bytes, &ignored);
        json_t *o = text ? json_loadb(text, bytes, 0, NULL) : NULL;
        add_cells(&p, out, o);
        json_decref(o);
        lra_free_large(text);
        lra_free(path);
    }
    if (n >= 0) lra_names_free(name, n);
    lra_free(folder);
    *cells = p.cell;
    return p.n;
}

void lra_planned_cells_free(lra_planned_cell *cell, int n)
{
    for (int i = 0; i < n; i++) {
        lra_free(cell[i].name);
        lra_free(cell[i].folder);
    }
    lra_free(cell);
}
