/* Initialises a model for fine-tuning.
 * Source: Amos et al. 2024, arXiv:2310.02980: all weights are trained, with a new head. */
#include "models/training/transfer.h"

#include <string.h>

#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"

static bool starts_with_one_of(const char *path, int n, const char *const *start)
{
    for (int i = 0; i < n; i++)
        if (strncmp(path, start[i], strlen(start[i])) == 0) return true;
    return false;
}

static bool stays(const char *path)
{
    static const char *const own[] = {"head/", "pair/", "denoise/", "cls/", "adam/"};
    return starts_with_one_of(path, sizeof own / sizeof *own, own);
}

/* Returns true if the file's array has the expected shape, or one additional row in the input
 * layer, which is that of the mask. */
static bool fits(const char *path, lra_shape ours, const lra_h5_info *theirs)
{
    bool input = strcmp(path, "embed/table") == 0 || strcmp(path, "embed/w") == 0;
    if (theirs->type != LRA_H5_F32 || theirs->rank != ours.n) return false;
    for (int i = 0; i < ours.n; i++)
        if (theirs->dims[i] != ours.d[i] && !(input && i == 0 && theirs->dims[0] == ours.d[0] + 1))
            return false;
    return true;
}

static int carry(lra_params *p, int i, lra_h5 *f, lra_err *e)
{
    const char *path = lra_params_path(p, i);
    char *name = lra_format("/%s/%s", lra_params_trained(p, i) ? "param" : "state", path);
    lra_shape ours = lra_params_shape(p, i);
    lra_h5_info theirs;
    char found[96], expected[96];
    int rc = lra_h5_find(f, name, &theirs, e);
    if (rc == 0 && !fits(path, ours, &theirs)) {
        bool shown = theirs.rank <= LRA_MAX_RANK;
        lra_shape s = shown ? lra_shape_from(theirs.rank, theirs.dims) : (lra_shape){0};
        rc = lra_fail(e, "'%s' has shape %s, expected %s of float32", name,
                      shown ? lra_shape_text(s, found) : "of a higher rank",
                      lra_shape_text(ours, expected));
    }
    float *values = rc == 0 ? lra_try_array(theirs.n, sizeof *values, name, e) : NULL;
    if (!values) rc = LRA_FAILED;
    if (rc == 0) rc = lra_h5_get(f, name, LRA_H5_F32, theirs.rank, theirs.dims, values, e);
    if (rc == 0) rc = lra_params_set(p, path, values, e);
    lra_free(values);
    lra_free(name);
    return rc;
}

int lra_transfer(lra_params *p, const char *best, lra_err *e)
{
    lra_h5 *f = lra_h5_open(best, "checkpoint", e);
    int rc = f ? 0 : LRA_FAILED;
    for (int i = 0; i < lra_params_count(p) && rc == 0; i++)
        if (!lra_params_constant(p, i) && !stays(lra_params_path(p, i))) rc = carry(p, i, f, e);
    lra_h5_close(f);
    return rc == 0 ? 0 : lra_fail_in(e, "cannot start from '%s'", best);
}
