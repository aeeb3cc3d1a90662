/* Calls the visitor for accepted files, and reports skipped files. */
#include "datasets/formats/visit.h"

#include <string.h>

#include "kernels/base/core/log.h"

bool lra_walk_wants(const lra_walk *w, const char *name)
{
    return !w->wanted || w->wanted(w->of, name);
}

int lra_walk_visit(lra_walk *w, const char *name, const char *bytes, size_t n, lra_err *e)
{
    w->n_files++;
    return w->visit(w->of, name, bytes, n, e);
}

int lra_walk_end(lra_walk *w, const char *name, lra_err *e)
{
    w->n_files++;
    return w->piece(w->of, name, NULL, 0, e);
}

const char *lra_walk_base(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

const char *lra_walk_but_empty(const lra_walk *w)
{
    return w->n_empty ? " (found empty files)" : "";
}

void lra_walk_report(const lra_walk *w, const char *path)
{
    if (w->n_empty) lra_warn("'%s': %lld empty files are excluded", path, (long long)w->n_empty);
    if (w->n_damaged > 1) /* the first damaged file was reported when it was found */
        lra_warn("'%s': %lld damaged files are excluded, the first is '%s'", path,
                 (long long)w->n_damaged, w->damaged);
}
