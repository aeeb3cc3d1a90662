/* Prints benchmarks as tables and as JSON. */
#include <jansson.h>
#include <stdio.h>

#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/version.h"
#include "kernels/cpu/features.h"
#include "probes/bench/bench.h"

/* Prints a table whose rows have only counts. */
static void print_counts(const bench_table *t)
{
    printf("\n%s\n", t->title);
    for (int i = 0; i < t->n; i++)
        printf("%-50s%12lld\n", t->row[i].name, (long long)t->row[i].count);
}

/* Milliseconds as text with about four digits. */
static const char *ms_text(double seconds, char buf[32])
{
    double ms = 1e3 * seconds;
    snprintf(buf, 32, ms >= 100 ? "%.1f" : ms >= 10 ? "%.2f" : "%.3f", ms);
    return buf;
}

static void print_table(const bench_table *t)
{
    double total = 0;
    for (int i = 0; i < t->n; i++) total += t->row[i].time.median;
    printf("\n%s\n%-28s%9s%11s%22s%9s%9s%8s%9s\n", t->title, "", t->unit, "median ms",
           "10 % to 90 %", "share", "GFLOP/s", "GB/s", "floor");
    for (int i = 0; i < t->n; i++) {
        const bench_row *r = &t->row[i];
        double s = r->time.median;
        char range[72], low[32], high[32], middle[32], floor[32];
        snprintf(range, sizeof range, "%s to %s", ms_text(r->time.low, low),
                 ms_text(r->time.high, high));
        snprintf(floor, sizeof floor, "%.0f %%", 100 * r->floor / s);
        printf("%-28s%9lld%11s%22s%7.1f %%%9.1f%8.1f%9s\n", r->name, (long long)r->count,
               ms_text(s, middle), range, 100 * s / total, r->flops / s / 1e9, r->bytes / s / 1e9,
               r->floor > 0 ? floor : "-");
    }
}

void bench_print_text(const bench *b)
{
    const lra_peaks *c = &b->peaks;
    if (b->device.detail)
        printf("machine    %s (%s)\n", b->device.detail, b->device.name);
    else
        printf("machine    %s, instruction level %s, %d thread%s\n", lra_cpu_name(), lra_cpu_best(),
               b->threads, b->threads == 1 ? "" : "s");
    printf("peaks      float32 %.0f GFLOP/s, ", c->f32 / 1e9);
    if (c->bf16 > 0)
        printf("bf16 %.0f GFLOP/s, ", c->bf16 / 1e9);
    else
        printf("bf16 products are emulated, ");
    printf("memory %.1f GB/s, cache %.1f GB/s (copies, read plus written)", c->dram / 1e9,
           c->cache / 1e9);
    if (b->exps > 0) printf(", %.2f exponentials/ns", b->exps / 1e9);
    printf("\n");
    printf(
        "floor      lower bound of the time at the peak rates, as percent of the measured time\n");
    for (int i = 0; i < b->n_tables; i++)
        (b->table[i].n && b->table[i].row[0].time.n ? print_table : print_counts)(&b->table[i]);
}

static json_t *json_row(const bench_row *r)
{
    return json_pack("{s:s, s:I, s:i, s:f, s:f, s:f, s:f, s:f, s:o}", "name", r->name, "count",
                     (json_int_t)r->count, "runs", r->time.n, "median_s", r->time.median, "p10_s",
                     r->time.low, "p90_s", r->time.high, "flops", r->flops, "bytes", r->bytes,
                     "floor_s", r->floor > 0 ? json_real(r->floor) : json_null());
}

/* Describes the machine; the first member of every JSON document. */
static json_t *json_machine(const bench *b)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:f}", "revision", lra_revision(), "processor",
                     b->device.detail ? b->device.detail : lra_cpu_name(), "level", lra_cpu_best(),
                     "threads", b->threads, "precision", b->type == LRA_BF16 ? "bf16" : "f32",
                     "peak_bytes", lra_memory_peak());
}

static int print_document(json_t *root, lra_err *e)
{
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(root);
    return printf("\n") < 0 ? lra_fail_errno(e, "cannot write the output") : 0;
}

int bench_print_values(const bench *b, int n, const bench_value *values, lra_err *e)
{
    json_t *root = json_machine(b);
    for (int i = 0; i < n; i++)
        json_object_set_new(root, values[i].key,
                            values[i].text ? json_string(values[i].text)
                                           : json_real(values[i].number));
    return print_document(root, e);
}

int bench_print_json(const bench *b, lra_err *e)
{
    const lra_peaks *c = &b->peaks;
    json_t *all = json_array();
    for (int i = 0; i < b->n_tables; i++) {
        json_t *rows = json_array();
        for (int k = 0; k < b->table[i].n; k++)
            json_array_append_new(rows, json_row(&b->table[i].row[k]));
        json_array_append_new(all, json_pack("{s:s, s:s, s:o}", "title", b->table[i].title,
                                             "counts", b->table[i].unit, "rows", rows));
    }
    json_t *limits = json_pack("{s:f, s:o, s:f, s:f, s:o}", "f32_flops", c->f32, "bf16_flops",
                               c->bf16 > 0 ? json_real(c->bf16) : json_null(), "dram_bytes",
                               c->dram, "cache_bytes", c->cache, "exps",
                               b->exps > 0 ? json_real(b->exps) : json_null());
    json_t *root = json_machine(b);
    if (!root || !limits) LRA_BUG("the JSON document could not be built");
    json_object_set_new(root, "ceilings", limits);
    json_object_set_new(root, "tables", all);
    return print_document(root, e);
}
