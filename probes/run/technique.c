/* Applies training techniques of papers (technique.h). */
#include "probes/run/technique.h"

#include <stdio.h>

#include "kernels/base/core/err.h"

void lra_technique_settings(const lra_technique *x, const char *budget,
                            char text[LRA_TECHNIQUE_TEXT])
{
    lra_err e;
    lra_config *c = lra_config_parse(budget, &e);
    if (!c) LRA_BUG("%s", e.msg);
    int epochs = (int)lra_config_real_or(c, "epochs", 1);
    lra_config_free(c);
    text[0] = 0;
    if (!x || !x->settings) return;
    if (x->sets > 1)
        snprintf(text, LRA_TECHNIQUE_TEXT, "%s epochs=%d", x->settings,
                 (epochs + x->sets - 1) / x->sets);
    else
        snprintf(text, LRA_TECHNIQUE_TEXT, "%s", x->settings);
}

void lra_technique_set(const char *paper, const lra_task *t, lra_config *parameters)
{
    const lra_technique *x = lra_technique_find(paper, t->name);
    lra_err e;
    lra_config *changes = lra_config_parse(x && x->settings ? x->settings : "", &e);
    if (!changes) LRA_BUG("%s", e.msg);
    for (int i = 0; lra_config_key(changes, i); i++)
        if (lra_key_find(t->keys, lra_config_key(changes, i)))
            lra_config_set(parameters, lra_config_key(changes, i), lra_config_value(changes, i));
    lra_config_free(changes);
}
