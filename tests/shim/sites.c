/* Places at which kernels wait, and the fault that tests insert at one of them. */
#include "tests/shim/shim.h"

#include "kernels/base/core/err.h"

enum { MAX_SITES = 256, CACHE = 4096 };

static shim_site site[MAX_SITES];
static int n_sites;
int shim_mutant = -1;

int shim_sites(void)
{
    return n_sites;
}
shim_site *shim_site_at(int i)
{
    return &site[i];
}

static int find(int kind, const char *file, int line)
{
    /* for each hash of line and kind: 1 + index of the last site found; 0: none */
    static int cache[CACHE];
    int at = (line * 4 + kind) % CACHE, k = cache[at] - 1;
    if (k >= 0 && site[k].line == line && site[k].kind == kind && site[k].file == file) return k;
    for (k = 0; k < n_sites; k++)
        if (site[k].line == line && site[k].kind == kind && strcmp(site[k].file, file) == 0) break;
    if (k == n_sites) {
        if (k == MAX_SITES) LRA_BUG("more than %d places that wait", MAX_SITES);
        site[n_sites++] = (shim_site){.kind = kind, .file = file, .line = line};
    }
    cache[at] = k + 1;
    return k;
}

bool shim_visit(int kind, const char *file, int line)
{
    int k = find(kind, file, line);
    site[k].visits++;
    return k == shim_mutant;
}
