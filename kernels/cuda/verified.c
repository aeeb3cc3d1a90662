/* The file of verified GPU models. Each line consists of a model, a tab, and the checks that
 * passed. */
#include "kernels/cuda/verified.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

enum { MOST_BYTES = 1 << 20 };

char *lra_cuda_verified_file(void)
{
    static const char name[] = "lra-locality/verified-gpus";
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/') return lra_format("%s/%s", state, name);
    if (home && home[0] == '/') return lra_format("%s/.local/state/%s", home, name);
    return NULL;
}

bool lra_cuda_is_verified(const char *model)
{
    lra_err ignored;
    size_t n = 0, length = strlen(model);
    char *path = lra_cuda_verified_file();
    char *text = path ? lra_file_read(path, MOST_BYTES, &n, &ignored) : NULL;
    bool found = false;
    for (const char *line = text; line && *line && !found;) {
        found = strncmp(line, model, length) == 0 && line[length] == '\t';
        line = strchr(line, '\n');
        if (line) line++;
    }
    lra_free_large(text);
    lra_free(path);
    return found;
}
