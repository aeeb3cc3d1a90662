/* Settings that users change: one table of keys for every task, model, objective and schedule, and
 * one for training. The table defines the valid values (kind, range, choices), the help and
 * completion texts, and the canonical spelling of a value, so that equal settings have equal text
 * and equal hashes:
 *   int     -?[0-9]+ without leading zeros
 *   real    the shortest decimal that reads back the same double: 4e-3 is "0.004", 1.0 is "1",
 *           1e-08 is "1e-8"
 *   flag    0 or 1
 *   choice  one of the choices
 *   text    one word
 *   column  any text; blanks, '%' and control characters are stored as %20, %25, ..
 * The kind of a value follows from its key, never from its spelling. */
#ifndef LRA_BASE_CORE_KEY_H
#define LRA_BASE_CORE_KEY_H

#include <stddef.h>

#include "kernels/base/core/config.h"

typedef enum {
    LRA_KEY_INT,
    LRA_KEY_REAL,
    LRA_KEY_FLAG,
    LRA_KEY_CHOICE,
    LRA_KEY_TEXT,
    LRA_KEY_COLUMN
} lra_key_kind;

typedef struct {
    const char *name; /* name of the key; NULL ends a table */
    lra_key_kind kind;
    const char *value; /* default as text */
    double min, max;   /* range of an int or real, inclusive */
    /* For a choice: its values, "mean|last|max". For a text or a column: the completion
     * placeholder, like lra_option.arg ("SCHEDULE"). Otherwise NULL. */
    const char *choices;
    const char *help; /* text of the help: one line, no full stop */
    /* offsetof() of the field that lra_keys_fill() sets in the owner's struct; 0: none. */
    size_t field;
} lra_key;

/* Macros for the rows of a table and for its end. */
/* clang-format off */
#define LRA_INT_KEY(name, value, min, max, help)   {name, LRA_KEY_INT, value, min, max, NULL, help, 0}
#define LRA_REAL_KEY(name, value, min, max, help)  {name, LRA_KEY_REAL, value, min, max, NULL, help, 0}
#define LRA_FLAG_KEY(name, value, help)            {name, LRA_KEY_FLAG, value, 0, 1, NULL, help, 0}
#define LRA_CHOICE_KEY(name, value, choices, help) {name, LRA_KEY_CHOICE, value, 0, 0, choices, help, 0}
#define LRA_TEXT_KEY(name, value, arg, help)       {name, LRA_KEY_TEXT, value, 0, 0, arg, help, 0}
#define LRA_COLUMN_KEY(name, value, help)          {name, LRA_KEY_COLUMN, value, 0, 0, "COLUMN", help, 0}
#define LRA_KEYS_END                               {NULL, LRA_KEY_TEXT, NULL, 0, 0, NULL, NULL, 0}
/* Macros for rows whose value is also written to a field of a struct. */
#define LRA_INT_FIELD(type, member, name, value, min, max, help)                                   \
    {name, LRA_KEY_INT, value, min, max, NULL, help, offsetof(type, member)}
#define LRA_REAL_FIELD(type, member, name, value, min, max, help)                                  \
    {name, LRA_KEY_REAL, value, min, max, NULL, help, offsetof(type, member)}
#define LRA_FLAG_FIELD(type, member, name, value, help)                                            \
    {name, LRA_KEY_FLAG, value, 0, 1, NULL, help, offsetof(type, member)}
#define LRA_CHOICE_FIELD(type, member, name, value, choices, help)                                 \
    {name, LRA_KEY_CHOICE, value, 0, 0, choices, help, offsetof(type, member)}
/* clang-format on */

/* Nullable in all functions below: keys, a table without rows. */

/* Finds the row of a key. NULL: the table has no such row. */
const lra_key *lra_key_find(const lra_key *keys, const char *name);
/* Canonical text of a value, as it is stored, or NULL with "'rate' is 'x', expected a number from 0
 * to 10". The caller frees it. */
char *lra_key_text(const lra_key *k, const char *value, lra_err *e);
/* lra_key_kind_name(): "int", "real", "flag", "choice", "text", "column". lra_key_range(): the
 * valid values as text, "1 to 65535", "mean, last or max", "" (the caller frees it). */
const char *lra_key_kind_name(const lra_key *k);
char *lra_key_range(const lra_key *k);

/* lra_keys_config(): a configuration of all defaults. lra_keys_add(): adds the defaults to a
 * configuration. */
lra_config *lra_keys_config(const lra_key *keys);
void lra_keys_add(const lra_key *keys, lra_config *to);
/* Sets "key=value" from user input: returns 0, or LRA_USAGE with a suggestion; `what` names the
 * owner ("model 'resconv'"). */
int lra_keys_assign(const lra_key *keys, lra_config *c, const char *assignment, const char *what,
                    lra_err *e);
/* Sets every "key=value" of a text from the source code ("layers=3 width=32"); an error in it is a
 * bug. */
void lra_keys_apply(const lra_key *keys, lra_config *c, const char *text);
/* Writes the values to the fields of *to: int64_t, double, bool, or int (index of the choice). */
void lra_keys_fill(const lra_key *keys, const lra_config *c, void *to);
/* The defaults as text: "layers=6 width=128"; the caller frees it. */
char *lra_keys_text(const lra_key *keys);

/* The shortest decimal that reads back as the same double. */
void lra_real_text(double value, char text[40]);

#endif
