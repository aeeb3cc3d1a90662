/* Quoting for shells. */
#include "kernels/base/os/shell.h"

#include <string.h>

#include "kernels/base/core/mem.h"

char *lra_shell_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./=:,+-";
    size_t n = strlen(text);
    if (n > 0 && strspn(text, plain) == n) return lra_copy_text(text);
    lra_text t = {0};
    lra_text_bytes(&t, "'", 1);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\'')
            lra_text_add(&t, "'\\''");
        else
            lra_text_bytes(&t, text + i, 1);
    lra_text_bytes(&t, "'", 1);
    return t.s;
}
