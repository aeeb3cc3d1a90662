/* Where a run starts. */
#include "models/training/start.h"

#include "datasets/loader/chance.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "models/training/session.h"
#include "models/training/transfer.h"
#include "models/training/weights.h"

static int centre_head(const lra_train_spec *s, lra_params *p, lra_err *e)
{
    lra_network_spec network = lra_session_network(s);
    if (network.head != LRA_HEAD_VALUE) return 0;
    float *bias = lra_alloc_array((size_t)network.outputs, sizeof *bias);
    for (int j = 0; j < network.outputs; j++) bias[j] = (float)lra_dataset_mean_target(s->data, j);
    int rc = lra_params_set(p, "head/b", bias, e);
    lra_free(bias);
    return rc;
}

static int import_weights(const lra_train_spec *s, lra_params *p, lra_err *e)
{
    int converted;
    if (lra_weights_import(p, s->weights, s->weights_path, &converted, e) != 0) return LRA_FAILED;
    if (converted)
        lra_note("%s: %d of %d arrays of '%s' are converted to float32", s->title, converted,
                 s->weights->n, s->weights_path);
    return 0;
}

int lra_start(const lra_train_spec *s, lra_params *p, lra_err *e)
{
    if (centre_head(s, p, e) != 0) return LRA_FAILED;
    if (s->weights && import_weights(s, p, e) != 0) return LRA_FAILED;
    return s->from ? lra_transfer(p, s->from, e) : 0;
}
