/* Reads and writes learning curves. */
#include "kernels/base/core/history.h"

#include <string.h>

#include "kernels/base/core/mem.h"

enum { COLUMNS = LRA_HISTORY_COLUMNS, MAX_EPOCHS = 1 << 20 };
#define NAMES "step train_loss train_value val_loss val_value rate seconds"

int lra_history_write(lra_h5 *f, int64_t n_epochs, const double *history, lra_err *e)
{
    double *v = lra_alloc_array((size_t)n_epochs * (COLUMNS + 1) + 1, sizeof *v);
    for (int64_t i = 0; i < n_epochs; i++) {
        double *row = v + i * (COLUMNS + 1);
        row[0] = (double)(i + 1);
        memcpy(row + 1, history + i * COLUMNS, COLUMNS * sizeof *row);
    }
    int rc = lra_h5_put_table(f, "/history", "epoch " NAMES, n_epochs, v, e);
    lra_free(v);
    return rc;
}

int lra_history_read(lra_h5 *f, int64_t *n_epochs, double **history, lra_err *e)
{
    if (lra_h5_get_table(f, "/history", NAMES, n_epochs, history, e) != 0) return LRA_FAILED;
    if (*n_epochs <= MAX_EPOCHS) return 0;
    return lra_fail(e, "'/history' has %lld epochs, expected at most %d", (long long)*n_epochs,
                    MAX_EPOCHS);
}
