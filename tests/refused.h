/* Parameters of tasks that are refused. */
#ifndef LRA_TESTS_REFUSED_H
#define LRA_TESTS_REFUSED_H

#include <string.h>

#include "datasets/loader/dataset.h"

/* A change of the parameters of a preset is refused, by the table of keys or by what they are
 * together. */
static inline void task_refuses_change(const lra_task *t, const char *preset, const char *change,
                                       const char *part)
{
    lra_err e = {{0}};
    lra_config *c = preset ? lra_task_config(t, preset, &e) : lra_keys_config(t->keys);
    int rc = lra_keys_assign(t->keys, c, change, "the task", &e);
    if (rc == 0 && t->validate) rc = t->validate(c, &e);
    assert_int_equal(rc, LRA_USAGE);
    if (!strstr(e.msg, part)) fail_msg("'%s' lacks '%s'", e.msg, part);
    lra_config_free(c);
}

#endif
