/* labels: slow timeout: 300 */
/* Faults in the synchronization of CUDA kernels, inserted one at a time on the host shim: a missing
 * barrier, a wait for one group of copies or products less, a box of TMA that is not waited for. A
 * fault is detected if shim_test.c would fail: a result differs from the CPU's, its bits depend on
 * the order of threads, shadow memory reports a race, or the shim stops the kernel. By default ten
 * faults of the kernels with tensor cores and of the long convolution are tested; LRA_MUTANTS=all
 * tests all (tests/shim/mutants.sh), another value those whose FILE:LINE contains it; LRA_TEST_OP
 * restricts the cases. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "tests/shim/device.h"
#include "tests/shim/shim.h"

enum { MAX_CASES = 4096, MAX_SITES = 256, SAMPLE = 10, SECONDS = 120 };

typedef struct {
    shim_case c;
    double seconds;
    bool visits[MAX_SITES];
    result expected; /* v is NULL until the result has been computed */
} visited;

static visited *cases;
static int n_cases;

static int open_cpu(lra_device *d, lra_err *e)
{
    return lra_cpu_device(d, 1, e);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- which case visits which place ----------------------------------------------------------- */

static void record(const shim_case *c)
{
    if (n_cases == MAX_CASES) fail_msg("more than %d cases", MAX_CASES);
    visited *v = &cases[n_cases++];
    *v = (visited){.c = *c, .seconds = now()};
    for (int k = 0; k < shim_sites(); k++) shim_site_at(k)->visits = 0;
    result r = shim_run_case(c, false, false);
    lra_free(r.v);
    v->seconds = now() - v->seconds;
    for (int k = 0; k < shim_sites(); k++) v->visits[k] = shim_site_at(k)->visits > 0;
}

static void record_all(const lra_op *op, int i)
{
    if (!(op->flags & LRA_ALIAS) && op->cuda[LRA_F32]) shim_each_case(op, i, record);
}
static void record_large(const lra_op *op, int i)
{
    shim_each_case(op, i, record);
}
/* Records which places the cases of the ten faults visit. */
static void record_few(void)
{
    shim_case c = {&op_sample_large, 0, LRA_BF16, LRA_CUDA_MMA, 0, 0.01};
    for (c.i = 0; c.i < 4; c.i++) record(&c);
    c.level = LRA_CUDA_WGMMA;
    for (c.i = 13; c.i < 18; c.i++) record(&c);
    c.op = &op_sample_attention, c.level = LRA_CUDA_MMA;
    for (c.i = 0; c.i < 4; c.i++) record(&c);
    c.type = LRA_F32, c.tolerance = 1e-5;
    for (c.i = 0; c.i < 4; c.i++) record(&c);
    c.op = &op_sample_long_conv;
    for (c.i = 0; c.i < 4; c.i++) record(&c);
}

static int by_time(const void *a, const void *b)
{
    const visited *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* ---- one fault ------------------------------------------------------------------------------- */

/* How a fault was detected; the numbers are exit codes of the process that tested it. */
enum { CAUGHT_BY_NOTHING, BY_VALUE, BY_ORDER, BY_SHADOW, BY_STOP, N_CAUGHT };
static const char *const caught_by[N_CAUGHT] = {"NOT CAUGHT", "differs from the CPU",
                                                "depends on the order of threads",
                                                "race in shadow memory", "stopped by the shim"};

static bool is_close(const result *a, const result *b, double tolerance)
{
    for (int p = 0; p < a->n_parts; p++) {
        double largest = 1e-3, worst = 0;
        for (int64_t k = a->first[p]; k < a->first[p + 1]; k++) {
            double difference = fabs(a->v[k] - b->v[k]);
            largest = fmax(largest, fabs(b->v[k]));
            worst = isnan(difference) ? INFINITY : fmax(worst, difference);
        }
        if (worst > tolerance * largest) return false;
    }
    return true;
}

static int run_fault(const visited *v)
{
    result a = shim_run_case(&v->c, false, false);
    if (!is_close(&a, &v->expected, v->c.tolerance)) return BY_VALUE;
    result b = shim_run_case(&v->c, true, true);
    bool same = memcmp(a.v, b.v, (size_t)a.n * sizeof *a.v) == 0;
    lra_free(a.v);
    lra_free(b.v);
    return !same ? BY_ORDER : shim_races ? BY_SHADOW : CAUGHT_BY_NOTHING;
}

/* Runs the cases that visit a place, the fastest first, until one detects the fault. */
static int plant(int place)
{
    for (int i = 0; i < n_cases; i++) {
        if (!cases[i].visits[place]) continue;
        if (!cases[i].expected.v) {
            op_sample_use(open_cpu);
            cases[i].expected = run_sample(cases[i].c.op, cases[i].c.i, cases[i].c.type,
                                           (setting){.n_threads = 1});
        }
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(SECONDS);
            if (!freopen("/dev/null", "w", stderr)) _exit(N_CAUGHT);
            shim_mutant = place;
            _exit(run_fault(&cases[i]));
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        int how = WIFEXITED(status) ? WEXITSTATUS(status) : BY_STOP;
        if (how != CAUGHT_BY_NOTHING) return how;
    }
    return CAUGHT_BY_NOTHING;
}

/* Returns true if a comment in the source line says that the wait is not necessary for the result;
 * the comment gives the reason. */
static bool is_equivalent(const shim_site *s)
{
    char line[256] = "";
    const char *source = getenv("LRA_SOURCE"),
               /* the path given by the compiler may be relative */
        *kernels = strstr(s->file, "kernels/");
    char *path = lra_format("%s/%s", source ? source : ".", kernels ? kernels : s->file);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("cannot read '%s'", path);
    lra_free(path);
    for (int k = 0; k < s->line && fgets(line, sizeof line, f); k++) continue;
    fclose(f);
    return s->kind != SHIM_SYNC && strstr(line, "/* equivalent") != NULL;
}

/* Returns true if the fault at this place must be tested; wanted: "all" or a part of FILE:LINE. */
static bool is_planted(int place, const char *wanted)
{
    char name[512];
    const shim_site *s = shim_site_at(place);
    snprintf(name, sizeof name, "%s:%d:", s->file, s->line);
    return strcmp(wanted, "all") == 0 || strstr(name, wanted) != NULL;
}

/* Tests a fault and prints the outcome. Returns true if the fault is detected, or has no effect on
 * results. */
static bool plant_and_tell(int place)
{
    static const char *const fault[] = {"no barrier", "one group of copies more under way",
                                        "one group of products more under way",
                                        "no wait for a box"};
    const shim_site *s = shim_site_at(place);
    int how = plant(place);
    const char *kernels = strstr(s->file, "kernels/");
    printf("%s:%d: %s: %s\n", kernels ? kernels : s->file, s->line, fault[s->kind],
           how >= N_CAUGHT                                ? "the test could not run it"
           : how == CAUGHT_BY_NOTHING && is_equivalent(s) ? "equivalent, see the comment there"
                                                          : caught_by[how]);
    fflush(stdout);
    return how < N_CAUGHT && (how != CAUGHT_BY_NOTHING || is_equivalent(s));
}

TEST(faults_are_caught)
{
    const char *which = getenv("LRA_MUTANTS");
    bool all = which && *which;
    int caught = 0, planted = 0;
    cases = lra_alloc_array(MAX_CASES, sizeof *cases);
    if (all) each_sample(record_all);
    if (all)
        each_large_sample(record_large);
    else
        record_few();
    qsort(cases, (size_t)n_cases, sizeof *cases, by_time);
    int n = shim_sites(), wanted = all ? n : SAMPLE;
    for (int k = 0; k < wanted; k++) {
        if (all && !is_planted(k, which)) continue;
        planted++;
        caught += plant_and_tell(k * n / wanted);
    }
    printf("%d faults planted, %d caught or equivalent\n", planted, caught);
    for (int i = 0; i < n_cases; i++) lra_free(cases[i].expected.v);
    lra_free(cases);
    assert_int_equal(caught, planted);
}
