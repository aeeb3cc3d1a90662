/* Writes the log of a run (log.jsonl). */
#include "models/training/epoch_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/origin.h"

/* Writes ,"KEYMETRIC":NUMBER, or null if the number is not finite. */
static void put_number(FILE *f, const char *key, const char *metric, double value)
{
    fprintf(f, ",\"%s%s\":", key, metric);
    if (isfinite(value))
        fprintf(f, "%.17g", value);
    else
        fprintf(f, "null");
}

/* Opens the log; fails for a symbolic link, and does not wait for a FIFO. */
static int open_log(const char *path, int how)
{
    return open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | how, 0666);
}

int lra_epoch_log_add(const char *path, const lra_metric *m, double chance,
                      const lra_epoch_record *h, int64_t *n_bytes, lra_err *e)
{
    char date[32];
    int fd = open_log(path, O_CREAT | O_APPEND);
    FILE *f = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (!f) return lra_fail_errno(e, "cannot open '%s'", path);
    fprintf(f, "{\"epoch\":%lld,\"step\":%lld,\"metric\":\"%s\",\"lower_is_better\":%s",
            (long long)h->epoch + 1, (long long)h->step, m->name, m->lower ? "true" : "false");
    put_number(f, "chance", "", chance);
    put_number(f, "train_loss", "", h->train_loss);
    put_number(f, "train_", m->name, h->train_value);
    put_number(f, "val_loss", "", h->val_loss);
    put_number(f, "val_", m->name, h->val_value);
    put_number(f, "rate", "", h->rate);
    put_number(f, "seconds", "", h->seconds);
    fprintf(f, ",\"time\":\"%s\"}\n", lra_date_text(date, time(NULL)));
    long at = ftell(f);
    bool failed = ferror(f) || at < 0 || fflush(f) != 0 || (fsync(fd) != 0 && errno != EINVAL);
    if (fclose(f) != 0 || failed) return lra_fail_errno(e, "cannot write '%s'", path);
    *n_bytes = at;
    return 0;
}

void lra_epoch_values(const lra_epoch_record *h, double *row)
{
    const double all[LRA_HISTORY_COLUMNS] = {(double)h->step, h->train_loss, h->train_value,
                                             h->val_loss,     h->val_value,  h->rate,
                                             h->seconds};
    memcpy(row, all, sizeof all);
}

int lra_epoch_log_cut(const char *path, int64_t n_bytes, lra_err *e)
{
    struct stat s;
    if (!lra_file_exists(path)) return 0;
    int fd = open_log(path, 0), rc = fd >= 0 ? fstat(fd, &s) : -1;
    /* A log shorter than n_bytes has lost lines; ftruncate() would fill it with zeros. */
    bool shorter = rc == 0 && s.st_size < (off_t)n_bytes;
    if (rc == 0 && !shorter) rc = ftruncate(fd, (off_t)n_bytes);
    if (rc != 0) lra_fail_errno(e, "cannot truncate '%s'", path);
    if (fd >= 0) close(fd);
    if (shorter)
        lra_warn(
            "'%s' has %lld bytes, but the checkpoint states %lld: lines of finished epochs are "
            "missing there; the result file has all of them",
            path, (long long)s.st_size, (long long)n_bytes);
    return rc;
}
