/* Draws a ListOps expression as a tree, with the value after every node:
 *     [MAX = 5
 *         4 3
 *         [MIN 2 3 ] = 2
 * A node whose arguments are all digits takes one line, and so does a sequence of adjacent
 * digits. */
#include "datasets/listops/show.h"

#include "datasets/listops/tree.h"

static bool is_op(uint16_t t)
{
    return t >= LISTOPS_MIN;
}

/* Returns the index after the X that closes the node at i. */
static int64_t node_end(const uint16_t *token, int64_t n, int64_t i)
{
    int64_t open = 0;
    while (i < n) {
        if (is_op(token[i])) open++;
        if (token[i] == LISTOPS_CLOSE) open--;
        i++;
        if (open == 0) break;
    }
    return i;
}

static int value_of(const uint16_t *token, int64_t n)
{
    lra_err ignored;
    return lra_listops_value(token, n, LISTOPS_WHOLE, false, &ignored);
}

static bool is_flat(const uint16_t *token, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (is_op(token[i])) return false;
    return true;
}

static void indent(int depth, FILE *out)
{
    for (int i = 0; i < depth; i++) fputs("    ", out);
}

static void words(const uint16_t *token, int64_t n, FILE *out)
{
    for (int64_t i = 0; i < n; i++) {
        const char *word = token[i] == LISTOPS_CLOSE ? "]" : lra_listops_tokens[token[i]];
        fprintf(out, "%s%s", i ? " " : "", word);
    }
}

/* Draws a tree. Nodes deeper than 64, which only files contain, are drawn on one line. */
static void draw(const uint16_t *token, int64_t n, int depth, FILE *out)
{
    enum { DEEPEST = 64 };
    indent(depth, out);
    if (is_flat(token, n) || depth == DEEPEST) {
        words(token, n, out);
        fprintf(out, is_op(token[0]) ? " = %d\n" : "\n", value_of(token, n));
        return;
    }
    fprintf(out, "%s = %d\n", lra_listops_tokens[token[0]], value_of(token, n));
    for (int64_t i = 1; i < n - 1;) {
        int64_t end = i;
        if (is_op(token[i])) {
            end = node_end(token, n, i);
            draw(token + i, end - i, depth + 1, out);
        } else {
            while (end < n - 1 && !is_op(token[end])) end++;
            indent(depth + 1, out);
            words(token + i, end - i, out);
            fputc('\n', out);
        }
        i = end;
    }
}

void lra_listops_show(const uint16_t *token, int64_t n, FILE *out)
{
    if (n > 0 && token[n - 1] == LISTOPS_EOS) n--;
    if (n > 0) draw(token, n, 0, out);
}
