/* Images as text: ten characters from empty to full. */
#include "datasets/image_show.h"

enum { WIDEST = 64 };

void lra_image_show(const lra_row *image, FILE *out)
{
    const uint16_t *pixel = image->token;
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
                    if (pixel[row * side + column] > most) most = pixel[row * side + column];
            char c = ink[most * LEVELS / 256];
            fputc(c, out);
            fputc(c, out);
        }
        fputc('\n', out);
    }
}
