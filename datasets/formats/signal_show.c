/* Prints signals as text: a column shows the range of the signal within its share of the tokens. */
#include "datasets/formats/signal_show.h"

enum { COLUMNS = 72, LINES = 11 };

static double number_at(const lra_row *r, int64_t step, int channel)
{
    int64_t i = step * r->width + channel;
    return r->token ? (double)r->token[i] : (double)r->value[i];
}

static void span_of(const lra_row *r, int channel, int64_t from, int64_t to, double *lo, double *hi)
{
    *lo = *hi = number_at(r, from, channel);
    for (int64_t t = from; t < to; t++) {
        double x = number_at(r, t, channel);
        if (x < *lo) *lo = x;
        if (x > *hi) *hi = x;
    }
}

static void show_channel(const lra_row *r, int channel, FILE *out)
{
    double lo, hi;
    char ink[LINES][COLUMNS + 1] = {{0}};
    int64_t columns = r->n < COLUMNS ? r->n : COLUMNS;
    span_of(r, channel, 0, r->n, &lo, &hi);
    double unit = hi > lo ? (hi - lo) / (LINES - 1) : 1;
    for (int64_t x = 0; x < columns; x++) {
        double least, most;
        span_of(r, channel, x * r->n / columns, (x + 1) * r->n / columns, &least, &most);
        for (int y = 0; y < LINES; y++) {
            bool inside = y >= (int)((least - lo) / unit + 0.5) &&
                          y <= (int)((most - lo) / unit + 0.5);
            ink[LINES - 1 - y][x] = inside ? '#' : ' ';
        }
    }
    fprintf(out, "from %g to %g\n", lo, hi);
    for (int y = 0; y < LINES; y++) fprintf(out, "%s\n", ink[y]);
}

void lra_signal_show(const lra_row *signal, FILE *out)
{
    for (int c = 0; c < signal->width && signal->n > 0; c++) show_channel(signal, c, out);
}
