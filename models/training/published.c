/* Imports published weights. A table of patterns with one %d, the layer, maps array names of this
 * suite to published names. */
#include "models/training/published.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "models/training/weights.h"

/* Returns true if `text` is `pattern` with a number for %d; *layer is the number, unchanged if the
 * pattern has no %d. */
static bool matches(const char *pattern, const char *text, int *layer)
{
    const char *number = strstr(pattern, "%d");
    size_t before = number ? (size_t)(number - pattern) : 0;
    if (!number) return strcmp(pattern, text) == 0;
    if (strncmp(text, pattern, before) != 0) return false;
    size_t digits = strspn(text + before, "0123456789");
    if (digits == 0 || digits > 6) return false;
    *layer = 0;
    for (size_t i = before; i < before + digits; i++) *layer = 10 * *layer + (text[i] - '0');
    return strcmp(text + before + digits, number + 2) == 0;
}

/* Returns the pattern with the number inserted for %d; the caller frees it. */
static char *filled(const char *pattern, int layer)
{
    const char *number = strstr(pattern, "%d");
    if (!number) return lra_copy_text(pattern);
    return lra_format("%.*s%d%s", (int)(number - pattern), pattern, layer, number + 2);
}

static int find_path(const lra_params *p, const char *path)
{
    for (int i = 0; i < lra_params_count(p); i++)
        if (strcmp(lra_params_path(p, i), path) == 0) return i;
    return -1;
}

bool lra_has_published_names(const lra_model *m, const lra_safetensors *t)
{
    int layer = 0;
    if (!m->published || lra_config_has(t->meta, "lra.format")) return false;
    for (const lra_published_name *n = m->published; n->tensor; n++)
        for (int i = 0; i < t->n; i++)
            if (matches(n->tensor, t->tensor[i].name, &layer)) return true;
    return false;
}

/* Finds the row of the model's table by a published name (`tensor`) or, if that is NULL, by a path;
 * *layer: number in the name, else 0. NULL: there is none. */
static const lra_published_name *find_name(const lra_model *m, const char *tensor, const char *path,
                                           int *layer)
{
    const lra_published_name *n = m->published;
    *layer = 0;
    while (n->tensor &&
           !(tensor ? matches(n->tensor, tensor, layer) : n->path && matches(n->path, path, layer)))
        n++;
    return n->tensor ? n : NULL;
}

/* Returns the index of the parameter into which the array is imported; -1: not a parameter of this
 * model; -2: the array is listed as unused. */
static int find_target(const lra_params *p, const lra_model *m, const char *tensor)
{
    int layer;
    const lra_published_name *n = find_name(m, tensor, NULL, &layer);
    if (!n) return -1;
    if (!n->path) return -2;
    char *path = filled(n->path, layer);
    int i = find_path(p, path);
    lra_free(path);
    return i;
}

/* Imports one array of the file; *done: it was imported. */
static int put(lra_params *p, const lra_model *m, const lra_safetensor *t, const char *name,
               bool *done, lra_err *e)
{
    int i = find_target(p, m, t->name), rc = 0;
    *done = false;
    if (i < 0) return 0;
    bool table = strcmp(lra_params_path(p, i), "embed/table") == 0;
    if (!table || t->array.dims[0] == lra_params_shape(p, i).d[0])
        rc = lra_weights_put(p, i, &t->array, t->name, name, e), *done = rc == 0;
    return rc;
}

/* Returns the published name of array i, if it is a parameter of the encoder, else NULL; the caller
 * frees it. */
static char *encoder_tensor(const lra_params *p, const lra_model *m, int i)
{
    const char *path = lra_params_path(p, i);
    int layer;
    if (!lra_params_trained(p, i) || strncmp(path, "encoder/", 8) != 0) return NULL;
    const lra_published_name *n = find_name(m, NULL, path, &layer);
    return n ? filled(n->tensor, layer) : lra_copy_text(path);
}

/* Fails unless every array of the encoder is in the file and every array of the file has a listed
 * name. */
static int check_all(const lra_params *p, const lra_model *m, const lra_safetensors *t,
                     const char *name, lra_err *e)
{
    lra_weights_names names = {.n_file = t->n};
    char *missing = NULL;
    for (int i = 0; i < t->n; i++)
        if (find_target(p, m, t->tensor[i].name) == -1 && names.n_unknown++ == 0)
            names.unknown = t->tensor[i].name;
    for (int i = 0; i < lra_params_count(p); i++) {
        char *tensor = encoder_tensor(p, m, i);
        names.n_model += tensor != NULL;
        if (tensor && !lra_safetensors_find(t, tensor) && names.n_missing++ == 0)
            missing = lra_copy_text(tensor);
        lra_free(tensor);
    }
    names.missing = missing;
    int rc = lra_weights_fail_names(&names, name, e);
    lra_free(missing);
    return rc;
}

int lra_published_import(lra_params *p, const lra_model *m, const lra_safetensors *t,
                         const char *name, int *n_converted, int *n_put, lra_err *e)
{
    int rc = check_all(p, m, t, name, e);
    *n_converted = *n_put = 0;
    for (int i = 0; i < t->n && rc == 0; i++) {
        bool done = false;
        rc = put(p, m, &t->tensor[i], name, &done, e);
        *n_put += done;
        *n_converted += done && t->tensor[i].array.dtype != LRA_DTYPE_F32;
    }
    return rc;
}
