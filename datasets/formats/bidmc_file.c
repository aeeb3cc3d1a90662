/* Reads the training file and the test file of a BIDMC target. */
#include <string.h>

#include "datasets/formats/bidmc_file.h"
#include "datasets/formats/walk.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"

enum { LEVELS = 2, CHANNELS = 2, STEPS = LRA_BIDMC_STEPS };
static const char *const part_names[2] = {"TRAIN", "TEST"};

/* Returns the part that a file name such as BIDMC32HR_TRAIN.ts states: 0 training, 1 test, -1
 * another file. */
static int part_of(const lra_bidmc *b, const char *name)
{
    char wanted[32];
    for (int p = 0; p < 2; p++) {
        snprintf(wanted, sizeof wanted, "BIDMC32%s_%s.ts", b->target, part_names[p]);
        if (strcmp(lra_walk_base(name), wanted) == 0) return p;
    }
    return -1;
}

static bool is_wanted(void *of, const char *name)
{
    lra_bidmc *b = of;
    if (strncmp(lra_walk_base(name), "bidmc_", 6) == 0 && strstr(name, ".csv")) b->signals = true;
    return part_of(b, name) >= 0;
}

/* Returns true for an archive of the target (BIDMC32HR.zip) or one of its files, compressed. */
static bool is_archive(void *of, const char *name)
{
    const lra_bidmc *b = of;
    char start[16];
    snprintf(start, sizeof start, "BIDMC32%s", b->target);
    const char *base = lra_walk_base(name);
    size_t n = strlen(base);
    return strncmp(base, start, strlen(start)) == 0 && (n < 3 || strcmp(base + n - 3, ".ts") != 0);
}

static int add_file(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    lra_bidmc *b = of;
    int p = part_of(b, name);
    uint64_t hash = lra_hash64(bytes, n);
    if (b->part[p].n)
        return b->hash[p] == hash
                   ? 0
                   : lra_fail(e, "'%s' occurs twice with different bytes", lra_walk_base(name));
    b->hash[p] = hash;
    size_t mark = strlen(LRA_BIDMC_MADE_UP);
    if (n > mark && memcmp(bytes, LRA_BIDMC_MADE_UP, mark) == 0) b->made_up = true;
    if (lra_ts_parse(bytes, n, name, &b->part[p], e) != 0) return LRA_FAILED;
    if (b->part[p].dimensions != CHANNELS || b->part[p].length != STEPS)
        return lra_fail(e, "'%s' has series of %d x %lld values, expected %d x %d", name,
                        b->part[p].dimensions, (long long)b->part[p].length, (int)CHANNELS,
                        (int)STEPS);
    return 0;
}

static lra_walk make_walk(lra_bidmc *b)
{
    return (lra_walk){
        .wanted = is_wanted, .inside = is_archive, .visit = add_file, .of = b, .levels = LEVELS};
}

static void report(const lra_bidmc *b, const lra_walk *w, const char *path)
{
    lra_walk_report(w, path);
    for (int p = 0; p < 2; p++) {
        const lra_ts *t = &b->part[p];
        if (t->n_missing + t->n_damaged)
            lra_warn("'%s': BIDMC32%s_%s.ts: %lld series with missing values and %lld others are "
                     "excluded, and the remaining ones are split; %s",
                     path, b->target, part_names[p], (long long)t->n_missing,
                     (long long)t->n_damaged, t->first.msg);
    }
    if (b->made_up) {
        lra_warn("'%s': the series are synthetic; results on them do not apply to patients", path);
        return;
    }
    lra_note("bidmc: series of the same patient are in training, validation and test, as in the "
             "published split");
}

int lra_bidmc_read(lra_bidmc *b, const char *path, lra_err *e)
{
    lra_walk w = make_walk(b);
    int rc = lra_walk_path(&w, path, e);
    for (int p = 0; p < 2 && rc == 0; p++)
        if (b->part[p].n == 0) {
            lra_fail(e,
                     "no BIDMC32%s_%s.ts in '%s' or two levels below%s; expected the files of "
                     "BIDMC32%s of the time series regression archive (tseregression.org)",
                     b->target, part_names[p], path,
                     b->signals
                         ? " (found PhysioNet's bidmc_NN_Signals.csv, which have signals without "
                           "targets)"
                         : "",
                     b->target);
            rc = b->part[0].n + b->part[1].n == 0 && !b->signals ? LRA_ABSENT : LRA_FAILED;
        }
    if (rc == 0) report(b, &w, path);
    return rc;
}

int lra_bidmc_hash(const char *target, const char *path, lra_digest *to, lra_err *e)
{
    lra_bidmc b = {.target = target};
    const lra_walk w = make_walk(&b);
    return lra_walk_hash(&w, path, to, e);
}

void lra_bidmc_free(lra_bidmc *b)
{
    for (int p = 0; p < 2; p++) lra_ts_free(&b->part[p]);
}
