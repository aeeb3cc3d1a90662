/* Finds runs by name (run_names.h). */
#include "reports/views/run_names.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

enum { MOST_NAMED = 3 };

static bool is_hash_start(const char *name)
{
    size_t n = strlen(name);
    return n >= LRA_RUN_PREFIX && n <= 16 && strspn(name, "0123456789abcdef") == n;
}

/* True if the name of a folder ends in a hash with this prefix. */
static bool has_hash(const char *folder, const char *start)
{
    const char *hash = strrchr(folder, '-');
    return hash && strncmp(hash + 1, start, strlen(start)) == 0;
}

/* Searches the names in folder `runs`; an exact match has precedence over a prefix. */
static char *search(const char *name, const char *runs, lra_err *e)
{
    char **entry, *found = NULL;
    lra_text others = {0};
    int n = lra_folder_list(runs, &entry, NULL), hits = 0;
    for (int i = 0; i < n; i++) {
        if (!has_hash(entry[i], name)) continue;
        if (hits++ == 0) found = lra_format("%s/%s", runs, entry[i]);
        if (hits <= MOST_NAMED) lra_text_add(&others, "%s%s", hits > 1 ? ", " : "", entry[i]);
    }
    if (n >= 0) lra_names_free(entry, n);
    if (hits > 1) {
        lra_fail_usage(e, "the hashes of %d runs start with '%s': %s%s; give more digits", hits,
                       name, others.s, hits > MOST_NAMED ? ", ..." : "");
        lra_free(found);
        found = NULL;
    }
    lra_text_free(&others);
    return found;
}

char *lra_run_by_name(const char *name, const char *out, lra_err *e)
{
    char *runs = lra_format("%s/runs", out), *found = NULL;
    const char *in = lra_is_folder(runs) ? runs : out;
    char *exact = lra_format("%s/%s", in, name);
    e->msg[0] = 0;
    if (*name && !strchr(name, '/') && lra_is_folder(exact))
        found = lra_copy_text(exact);
    else if (is_hash_start(name) && lra_is_folder(in))
        found = search(name, in, e);
    lra_free(exact);
    lra_free(runs);
    return found;
}
