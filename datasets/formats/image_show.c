/* Prints images as text, with ten characters for brightness. */
#include "datasets/formats/image_show.h"

#include "datasets/loader/grey.h"

enum { WIDEST = 64, COLOURS = 3 };

static uint16_t level(const lra_row *image, int64_t i)
{
    const uint16_t *at = image->token + i * image->width;
    return image->width == COLOURS ? lra_grey(at[0], at[1], at[2]) : at[0];
}

void lra_image_show(const lra_row *image, FILE *out)
{
    int64_t n = image->n;
    static const char ink[] = " .:-=+*#%@";
    enum { LEVELS = sizeof ink - 1 };
    int64_t side = 0;
    while (side * side < n) side++;
    int64_t block = (side + WIDEST - 1) / WIDEST;
    for (int64_t y = 0; y < side; y += block) {
        for (int64_t x = 0; x < side; x += block) {
            uint16_t most = 0;
            for (int64_t row = y; row < y + block && row < side; row++)
                for (int64_t column = x; column < x + block && column < side; column++)
                    if (level(image, row * side + column) > most)
                        most = level(image, row * side + column);
            char c = ink[most * LEVELS / 256];
            fputc(c, out);
            fputc(c, out);
        }
        fputc('\n', out);
    }
}
