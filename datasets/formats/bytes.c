/* Prints rows of byte tokens as text. */
#include "datasets/formats/bytes.h"

void lra_bytes_show(const lra_row *row, FILE *out)
{
    for (int64_t i = 0; i < row->n; i++) {
        int byte = row->token[i] - LRA_BYTES_FIRST;
        if (byte < 0) continue;
        fputc((byte < ' ' && byte != '\n' && byte != '\t') || byte == 127 ? '?' : byte, out);
    }
    fputc('\n', out);
}
