/* Converts ids of models to their names in papers (model_names.h). */
#include "reports/views/model_names.h"

#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"

static const struct {
    const char *id, *paper;
} models[] = {
#define LRA_MODEL(id, paper) {#id, paper},
#include "models/models.def"
#undef LRA_MODEL
};
enum { N_MODELS = sizeof models / sizeof *models };

/* True if the identifier in models.def belongs to this model: '_' in an identifier is '-' in an
 * id. */
static bool is_model(const char *identifier, const char *model)
{
    for (; *identifier && *model; identifier++, model++)
        if (*identifier != *model && !(*identifier == '_' && *model == '-')) return false;
    return !*identifier && !*model;
}

/* Appends the paper's name with the value of its setting: "S4 (v4)" for "S4 ({version=v4})". */
static void add_paper(lra_text *to, const char *paper, const char *config)
{
    const char *open = strchr(paper, '{'), *equal = open ? strchr(open, '=') : NULL;
    const char *close = equal ? strchr(equal, '}') : NULL;
    if (!close) {
        lra_text_add(to, "%s", paper);
        return;
    }
    lra_config *c = lra_config_parse(config ? config : "", NULL);
    char *key = lra_format("model.%.*s", (int)(equal - open - 1), open + 1);
    char *usual = lra_format("%.*s", (int)(close - equal - 1), equal + 1);
    lra_text_add(to, "%.*s%s%s", (int)(open - paper), paper,
                 c ? lra_config_text_or(c, key, usual) : usual, close + 1);
    lra_free(key);
    lra_free(usual);
    lra_config_free(c);
}

char *lra_model_shown(const char *name, const char *model, const char *config)
{
    size_t n = strlen(model);
    bool whole = strncmp(name, model, n) == 0 && (!name[n] || name[n] == ' ' || name[n] == ',');
    for (int i = 0; i < N_MODELS && whole; i++) {
        if (!is_model(models[i].id, model)) continue;
        lra_text t = {0};
        add_paper(&t, models[i].paper, config);
        lra_text_add(&t, "%s", name + n);
        return t.s;
    }
    return lra_copy_text(name);
}

void lra_table_model(lra_table *t, const char *name, const char *model, const char *config)
{
    char *shown = lra_model_shown(name, model, config);
    lra_table_cell(t, "%s", name);
    lra_table_show(t, shown);
    lra_free(shown);
}

/* Appends ", S4 (v4) = s4" for a cell, unless the text already contains it. */
static void add_pair(lra_text *to, const lra_cell *x)
{
    size_t id = strcspn(x->text, " ,"), rest = strlen(x->text) - id, n = strlen(x->shown);
    if (rest > n) return;
    char *pair = lra_format("%.*s = %.*s", (int)(n - rest), x->shown, (int)id, x->text);
    const char *known = to->s ? strstr(to->s, pair) : NULL;
    size_t end = strlen(pair);
    while (known && known[end] && known[end] != ',') known = strstr(known + 1, pair);
    if (!known) lra_text_add(to, "%s%s", to->n ? ", " : "", pair);
    lra_free(pair);
}

void lra_table_note_models(lra_table *t)
{
    lra_text text = {0};
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < t->n_columns; c++)
            if (t->cell[r][c].shown && strcmp(t->cell[r][c].shown, t->cell[r][c].text) != 0)
                add_pair(&text, &t->cell[r][c]);
    if (text.s) lra_table_note(t, "models\tname = id in commands and CSV: %s", text.s);
    lra_text_free(&text);
}
