/* A configuration: a map from keys to text values, sorted by key, printed as "key=value" lines and
 * hashed. It configures models, tasks and runs; a result file stores its text. */
#ifndef LRA_BASE_CORE_CONFIG_H
#define LRA_BASE_CORE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

typedef struct lra_config lra_config;

lra_config *lra_config_new(void);
/* Parses "layers=4 width=256 norm=layer": words separated by blanks or line ends. */
lra_config *lra_config_parse(const char *text, lra_err *e);
lra_config *lra_config_copy(const lra_config *c);
void lra_config_free(lra_config *c); /* Nullable: c */

/* lra_config_set..(): adds a key or replaces its value. */
void lra_config_set(lra_config *c, const char *key, const char *value);
void lra_config_set_int(lra_config *c, const char *key, int64_t value);
void lra_config_remove(lra_config *c, const char *key); /* no effect if the key is missing */

/* Value of a key. A missing key, or a value of another kind, is a bug: values given by users are
 * first checked against a table of keys (key.h). */
int64_t lra_config_int(const lra_config *c, const char *key);
double lra_config_real(const lra_config *c, const char *key);
const char *lra_config_text(const lra_config *c, const char *key);
/* true if the value of the key is this text */
bool lra_config_is(const lra_config *c, const char *key, const char *value);
bool lra_config_has(const lra_config *c, const char *key);
/* Value of a key, or `other` if the key is missing. */
const char *lra_config_text_or(const lra_config *c, const char *key, const char *other);
double lra_config_real_or(const lra_config *c, const char *key, double other);

/* The i-th key and value, in key order; NULL after the last. */
const char *lra_config_key(const lra_config *c, int i);
const char *lra_config_value(const lra_config *c, int i);

/* "a=1\nb=x\n", sorted by key; the caller frees it. */
char *lra_config_lines(const lra_config *c);
/* xxh3-64 of lra_config_lines() as 16 hex digits. */
void lra_config_hash(const lra_config *c, char hex[17]);

#endif
