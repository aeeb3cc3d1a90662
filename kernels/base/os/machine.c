/* Resources of the machine, and the share of them that this process may use, from Linux's /proc and
 * /sys/fs/cgroup. */
#include "kernels/base/os/machine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"

/* Counts the bits of "Cpus_allowed: ff,ffffffff": the processors that this process may use. */
int lra_cpu_count(void)
{
    int allowed = 0;
    char *line = NULL;
    size_t capacity = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && getline(&line, &capacity, f) > 0) {
        if (strncmp(line, "Cpus_allowed:", 13) != 0) continue;
        for (const char *at = line + 13; *at; at++) {
            char digit[2] = {*at, 0};
            for (long bits = strtol(digit, NULL, 16); bits; bits &= bits - 1) allowed++;
        }
    }
    if (f) fclose(f);
    free(line); /* allocated by getline() */
    if (allowed > 0) return allowed;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

/* Body of a thread of lra_threads_ready(): waits for the mutex `gate`, which is released after all
 * threads were started. */
static void *wait_for_all(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int lra_threads_ready(int n, lra_err *e)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *thread = lra_alloc((size_t)n * sizeof *thread);
    int alive = 0, rc = 0;
    pthread_mutex_lock(&gate);
    while (alive < n - 1 && (rc = pthread_create(&thread[alive], NULL, wait_for_all, &gate)) == 0)
        alive++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < alive; i++) pthread_join(thread[i], NULL);
    lra_free(thread);
    if (rc == 0) return 0;
    return lra_fail(
        e,
        "only %d of %d threads can be started (%s); raise the limit of processes or of address "
        "space (ulimit -u, ulimit -v), or set OMP_NUM_THREADS=%d",
        alive + 1, n, strerror(rc), alive + 1);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double smaller(double free, double left)
{
    if (left < 1) left = 1; /* at least 1, because 0 means unknown */
    return free == 0 || left < free ? left : free;
}

/* Reads the first line of a file; "" if it cannot be read. */
static void first_line(const char *folder, const char *name, char *buf, int size)
{
    char *path = lra_format("%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(buf, size, f)) buf[0] = 0;
    if (f) fclose(f);
    lra_free(path);
}

/* The number after "NAME " at the start of a line of FOLDER/memory.stat; 0 if there is none. */
static double stat_of(const char *folder, const char *name)
{
    double value = 0;
    char line[128], *path = lra_format("%s/memory.stat", folder);
    size_t n = strlen(name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0 && line[n] == ' ') value = strtod(line + n, NULL);
    if (f) fclose(f);
    lra_free(path);
    return value;
}

/* File names of control groups, for versions 1 and 2: the folder of the memory controller and its
 * files. */
typedef struct {
    const char *mount, *controller, *limit, *used, *cache[2];
} group_names;

static const group_names versions[] = {
    {"", "", "memory.max", "memory.current", {"active_file", "inactive_file"}},
    {"/memory",
     "memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_active_file", "total_inactive_file"}},
};

/* Free memory within one control group, at most `free`. The group counts the file cache as used,
 * but the kernel releases it before it refuses memory. */
static double group_free(double free, const char *folder, const group_names *v)
{
    char limit[64], used[64], *end;
    first_line(folder, v->limit, limit, sizeof limit);
    double most = strtod(limit, &end);
    if (end == limit) return free; /* the limit is "max", or the group does not exist */
    first_line(folder, v->used, used, sizeof used);
    double taken = strtod(used, NULL) - stat_of(folder, v->cache[0]) - stat_of(folder, v->cache[1]);
    return smaller(free, most - (taken > 0 ? taken : 0));
}

/* Free memory within the control group of this process and all its parents. */
static double groups_free(double free, const char *mount, const char *path, const group_names *v)
{
    char *folder = lra_format("%s%s", mount, path);
    free = group_free(free, folder, v);
    while (strlen(folder) > strlen(mount)) {
        *strrchr(folder, '/') = 0;
        free = group_free(free, folder, v);
    }
    lra_free(folder);
    return free;
}

/* True if a line of /proc/self/cgroup is that of the controller: "4:cpu,memory:/path", or
 * "0::/path" for version 2. */
static bool controls(const char *names, int n, const char *controller)
{
    if (!*controller) return n == 0;
    for (const char *end = names + n; names < end; names += strcspn(names, ",:") + 1)
        if (strcspn(names, ",:") == strlen(controller) &&
            strncmp(names, controller, strlen(controller)) == 0)
            return true;
    return false;
}

double lra_memory_within(double free, const char *root, const char *groups)
{
    for (const char *line = groups; *line; line += *line == '\n') {
        const char *end = line + strcspn(line, "\n"), *names = strchr(line, ':');
        const char *path = names ? strchr(names + 1, ':') : NULL;
        for (int i = 0; i < 2 && path && path < end; i++) {
            const group_names *v = &versions[i];
            if (!controls(names + 1, (int)(path - names - 1), v->controller)) continue;
            char *mount = lra_format("%s%s", root, v->mount);
            char *group = lra_format("%.*s", (int)(end - path - 1), path + 1);
            free = groups_free(free, mount, group, v);
            lra_free(mount);
            lra_free(group);
        }
        line = end;
    }
    return free;
}

/* Reads all of a small file of /proc, whose reported size is 0; the caller frees the text. */
static char *proc_text(const char *path)
{
    lra_text t = {0};
    char buf[512];
    FILE *f = fopen(path, "r");
    for (size_t n = 1; f && n > 0;) {
        n = fread(buf, 1, sizeof buf, f);
        lra_text_bytes(&t, buf, n);
    }
    if (f) fclose(f);
    lra_text_add(&t, "%s", "");
    return t.s;
}

/* Free memory within the limit of the address space (ulimit -v), at most `free`. */
static double address_space_free(double free)
{
    struct rlimit limit;
    char pages[64];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return free;
    first_line("/proc/self", "statm", pages, sizeof pages);
    double used = strtod(pages, NULL) * (double)sysconf(_SC_PAGESIZE);
    return smaller(free, (double)limit.rlim_cur - used);
}

double lra_memory_free(void)
{
    double kib = 0;
    char *info = proc_text("/proc/meminfo"), *groups = proc_text("/proc/self/cgroup");
    const char *line = strstr(info, "MemAvailable:");
    if (line) kib = strtod(line + 13, NULL);
    double free = lra_memory_within(1024 * kib, "/sys/fs/cgroup", groups);
    lra_free(info);
    lra_free(groups);
    return address_space_free(free);
}

double lra_memory_peak(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? 1024.0 * (double)u.ru_maxrss : 0;
}

/* ---- the command ----------------------------------------------------------------------------- */
