/* Set-up and tear-down of a group of tests that need a trained run, but not which: a folder and
 * tiny_train() in it. */
#ifndef LRA_TESTS_TINY_GROUP_H
#define LRA_TESTS_TINY_GROUP_H

#include "tests/folder.h"
#include "tests/tiny_run.h"

static inline int tiny_set_up(void **state)
{
    const char *model = "layers=1 width=4 hidden=4 kernel=3";
    return make_folder(state) != 0 || tiny_train(folder, model, 1) != 0 ? -1 : 0;
}

static inline int tiny_tear_down(void **state)
{
    tiny_forget();
    return remove_folder(state);
}

#endif
