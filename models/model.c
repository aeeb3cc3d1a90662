/* The registry of models. */
#include "models/model.h"

#include <string.h>

#include "kernels/base/options.h"

static const lra_model *const registry[] = {
#define LRA_MODEL(name) &lra_model_##name,
#include "models/models.def"
#undef LRA_MODEL
};
enum { N_MODELS = sizeof registry / sizeof *registry };

const lra_model *lra_model_at(int i)
{
    return i >= 0 && i < N_MODELS ? registry[i] : NULL;
}

const lra_model *lra_model_find(const char *name, lra_err *e)
{
    const char *names[N_MODELS];
    for (int i = 0; i < N_MODELS; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
    }
    lra_fail_unknown(e, "model", name, N_MODELS, names, "lra-probe list models");
    return NULL;
}
