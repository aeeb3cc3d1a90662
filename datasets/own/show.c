/* Prints rows of own data as text. */
#include "datasets/own/show.h"

#include <inttypes.h>

enum { MOST_STEPS = 200, MOST_TOKENS = 20000 };

void lra_own_show_tokens(const lra_row *row, FILE *out)
{
    int64_t n = row->n < MOST_TOKENS ? row->n : MOST_TOKENS;
    for (int64_t i = 0; i < n; i++)
        fprintf(out, "%s%" PRId64, i ? " " : "", lra_token_at(row->token, row->width, i));
    if (n < row->n) fprintf(out, " ... (%" PRId64 " more)", row->n - n);
    fputc('\n', out);
}

void lra_own_show_values(const lra_row *row, FILE *out)
{
    int64_t n = row->n < MOST_STEPS ? row->n : MOST_STEPS;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < row->width; k++)
            fprintf(out, "%s%g%s", k ? " " : "", (double)row->value[i * row->width + k],
                    k + 1 == row->width ? "\n" : "");
    if (n < row->n) fprintf(out, "... (%" PRId64 " more steps)\n", row->n - n);
}
