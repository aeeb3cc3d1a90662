/* Training on a device that queues its work, as a GPU does. This simulated device executes nothing
 * before the host waits for it, and gradients of weights at any time. Results are read one step
 * late without a difference in the outcome; the inputs of a step are one copy; cost of a step for
 * the host. */
#include "tests/fixtures/test.h"

#include <time.h>

#include "kernels/cuda/staging.h"
#include "kernels/graph/backend.h"
#include "models/training/session.h"
#include "tests/fixtures/goal_run.h"
#include "tests/fixtures/two_streams.h"

/* ---- the device ------------------------------------------------------------------------------ */

enum { PARTS = 8, QUEUE = 32, SLOT = 1 << 20, SLOTS = 3 };

typedef struct {
    char *memory;
    int64_t number; /* number of the queued work that writes it */
} place;

/* An item of queued work: copying the inputs of a slot, running a plan, or copying results. */
typedef struct {
    const lra_staging *in;
    const char *slot;
    const lra_call *calls;
    const lra_stream_use *uses;
    int n;
    place *to;
    lra_readback_part part[PARTS];
} work;

static const lra_backend *cpu;
static lra_staging staging[SLOTS];
static char slot[SLOTS][SLOT];
static streams_device streams;
static lra_rng times;
static struct {
    work queue[QUEUE];
    int64_t first, last; /* numbers of the first and last queued item */
    int next;            /* index of the slot that is written next */
    bool idle;           /* true: plans are not executed, so that they take no time */
    int late, runs, copies;
} fake;

static void do_first(void)
{
    lra_err e = {{0}};
    const work *w = &fake.queue[fake.first++ % QUEUE];
    for (int i = 0; w->in && i < w->in->n; i++) {
        const lra_staged *s = &w->in->part[i];
        for (size_t k = 0; k < s->n_bytes; k++) s->to[k] = w->slot[s->at + k];
    }
    if (w->calls && !fake.idle)
        assert_int_equal(run_streams(&streams, w->calls, w->uses, w->n, &e), 0);
    for (int i = 0; w->to && i < w->n; i++)
        memcpy(w->to->memory + w->part[i].at, w->part[i].from, w->part[i].n_bytes);
}

static void finish(int64_t last)
{
    while (fake.first < last) do_first();
}

static work *add_work(void)
{
    if (fake.last - fake.first == QUEUE) do_first();
    work *w = &fake.queue[fake.last++ % QUEUE];
    *w = (work){0};
    return w;
}

/* Queues the copy of a slot's inputs. A slot is reused only after its copy has ended; the earliest
 * reuse is two steps later. */
static void send(void)
{
    lra_staging *in = &staging[fake.next];
    if (in->n == 0) return;
    fake.copies += in->n;
    work *w = add_work();
    w->in = in, w->slot = slot[fake.next];
    fake.next = (fake.next + 1) % SLOTS;
    for (int64_t i = fake.first; i < fake.last; i++)
        if (fake.queue[i % QUEUE].in == &staging[fake.next]) finish(i + 1);
    staging[fake.next] = (lra_staging){.n = 0};
}

static int fake_copy(lra_device *d, lra_copy_kind kind, void *to, const void *from, size_t n_bytes,
                     lra_err *e)
{
    if (kind == LRA_COPY_IN && n_bytes <= SLOT) {
        int64_t at = lra_staging_add(&staging[fake.next], to, n_bytes, SLOT);
        if (at < 0) {
            send();
            at = lra_staging_add(&staging[fake.next], to, n_bytes, SLOT);
        }
        memcpy(slot[fake.next] + at, from, n_bytes);
        return 0;
    }
    send();
    finish(fake.last);
    return cpu->copy(d, kind, to, from, n_bytes, e);
}

static int fake_clear(lra_device *d, void *p, int byte, size_t n_bytes, lra_err *e)
{
    send();
    finish(fake.last);
    return cpu->clear(d, p, byte, n_bytes, e);
}

static int fake_run(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    send();
    finish(fake.last);
    return cpu->run(d, calls, n, e);
}

typedef struct {
    const lra_call *calls;
    const lra_stream_use *uses;
    int n;
} recording;

static void *fake_capture(lra_device *d, const lra_call *calls, const lra_stream_use *uses, int n,
                          lra_err *e)
{
    (void)d, (void)e;
    recording *r = lra_alloc(sizeof *r);
    *r = (recording){calls, uses, n};
    return r;
}

static int fake_replay(lra_device *d, void *captured, lra_err *e)
{
    const recording *r = captured;
    (void)d, (void)e;
    send();
    work *w = add_work();
    w->calls = r->calls, w->uses = r->uses, w->n = r->n;
    fake.runs++;
    return 0;
}

static void fake_forget(lra_device *d, void *captured)
{
    (void)d;
    finish(fake.last);
    lra_free(captured);
}

static void fake_free(lra_device *d, void *p)
{
    send();
    finish(fake.last);
    cpu->free(d, p);
}

static int fake_wait(lra_device *d, lra_err *e)
{
    (void)d, (void)e;
    send();
    finish(fake.last);
    return 0;
}

static void *readback_new(lra_device *d, size_t n_bytes, lra_err *e)
{
    (void)d, (void)e;
    place *p = lra_alloc(sizeof *p);
    p->memory = lra_alloc(n_bytes);
    return p;
}

static void readback_free(lra_device *d, void *of)
{
    place *p = of;
    (void)d;
    finish(fake.last);
    lra_free(p->memory);
    lra_free(p);
}

static int readback_copy(lra_device *d, void *of, int n, const lra_readback_part *part, lra_err *e)
{
    (void)d, (void)e;
    send();
    work *w = add_work();
    w->to = of, w->n = n;
    memcpy(w->part, part, (size_t)n * sizeof *part);
    w->to->number = fake.last;
    return 0;
}

static const void *readback_wait(lra_device *d, void *of, lra_err *e)
{
    const place *p = of;
    (void)d, (void)e;
    fake.late += fake.last > p->number; /* counts reads while later work is queued */
    finish(p->number);
    return p->memory;
}

static int fake_side_stream_depth(const lra_device *d)
{
    (void)d;
    return 3;
}

static void queue_on(lra_device *d)
{
    static lra_backend b;
    cpu = d->backend;
    b = *cpu;
    b.name = "queued", b.copy = fake_copy, b.clear = fake_clear, b.free = fake_free;
    b.run = fake_run, b.capture = fake_capture, b.replay = fake_replay, b.forget = fake_forget;
    b.wait = fake_wait, b.readback_new = readback_new, b.readback_free = readback_free;
    b.readback_copy = readback_copy, b.readback_wait = readback_wait,
    b.side = fake_side_stream_depth;
    times = lra_rng_new(1, 80, 0);
    streams = (streams_device){.run = cpu->run, .when = LANES_RANDOM, .random = &times};
    d->backend = &b;
    fake.late = fake.runs = fake.copies = 0;
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* A run that is interrupted repeatedly, with updates of one batch and of three: history, weights
 * and test results are equal to those on a device that does not queue work. */
TEST(nobody_can_tell)
{
    for (int64_t accumulate = 1; accumulate <= 3; accumulate += 2) {
        run whole, parts;
        open_run(&whole, LRA_GOAL_CLASS, "waits", 12);
        open_run(&parts, LRA_GOAL_CLASS, "queues", 12);
        whole.spec.accumulate = parts.spec.accumulate = accumulate;
        whole.spec.batch = parts.spec.batch = accumulate > 1 ? 3 : 8;
        queue_on(&parts.device);
        same_in_parts(&whole, &parts);
        assert_true(fake.late > 20);
        assert_true(streams.n_passed > 20);
    }
}

/* An update that is not finite is skipped, and five consecutive ones end the run, as on a device
 * that does not queue work. */
TEST(a_run_that_fails_says_so)
{
    lra_err e[2];
    for (int k = 0; k < 2; k++) {
        run r;
        lra_train_report report;
        open_run(&r, LRA_GOAL_CLASS, k ? "bad-queues" : "bad", 40);
        r.spec.schedule.rate = 1e30;
        if (k) queue_on(&r.device);
        assert_int_equal(lra_train(&r.spec, &r.device, &report, &e[k]), LRA_FAILED);
        remove_below(r.spec.folder);
        close_run(&r);
    }
    assert_non_null(strstr(e[0].msg, "5 consecutive updates were not finite"));
    assert_string_equal(e[0].msg, e[1].msg);
}

static double processor_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Measures the host's time per step without making the batch: inputs are gathered in one copy, the
 * step is queued, and the results of the previous step are read. */
TEST(a_step_costs_the_host_little)
{
    enum { STEPS = 200, ROUNDS = 20, MOST_US = 20 };
    (void)state;
    lra_err e = {{0}};
    run r;
    lra_session s;
    float status[4];
    open_run(&r, LRA_GOAL_CLASS, "host", 1);
    queue_on(&r.device);
    assert_int_equal(lra_session_open(&s, &r.spec, &r.device, &e), 0);
    lra_loader *l = lra_session_loader(&s, LRA_TRAIN_SPLIT, true);
    const lra_batch *b = lra_loader_get(l, 0);
    const lra_step step = {.seed = 1, .rate = 0.01f};
    assert_int_equal(lra_session_part(&s, b, 0, &step, status, &e), 0);
    fake.idle = true;
    fake.copies = fake.runs = 0;
    double least = 1e9;
    assert_int_equal(lra_session_start(&s, b, 0, &step, &e), 0);
    for (int round = 0; round < ROUNDS; round++) {
        double from = processor_us();
        for (int i = 0; i < STEPS; i++) {
            assert_int_equal(lra_session_start(&s, b, 0, &step, &e), 0);
            assert_ptr_equal(lra_session_finish(&s, status, &e)->batch, b);
        }
        double us = (processor_us() - from) / STEPS;
        if (us < least) least = us;
    }
    assert_non_null(lra_session_finish(&s, status, &e));
    fake.idle = false;
    assert_int_equal(fake.runs, STEPS * ROUNDS + 1);
    /* one copy per run: the inputs of a step are adjacent in memory */
    assert_int_equal(fake.copies, fake.runs);
    printf("a step costs the host %.2f us beside the driver\n", least);
    if (least > MOST_US) fail_msg("%.1f us, at most %d were expected", least, MOST_US);
    lra_loader_free(l);
    lra_session_close(&s);
    remove_below(r.spec.folder);
    close_run(&r);
}

TEST(inputs_are_gathered)
{
    lra_staging s = {.n = 0};
    char *to = (char *)0x10000;
    assert_int_equal(lra_staging_add(&s, to, 100, 4096), 0);
    /* a buffer that follows the previous one extends its part */
    assert_int_equal(lra_staging_add(&s, to + 256, 300, 4096), 256);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.part[0].n_bytes, 556);
    /* a buffer farther ahead starts a new part */
    assert_int_equal(lra_staging_add(&s, to + 4096, 64, 4096), 768);
    /* a buffer before it starts a new part */
    assert_int_equal(lra_staging_add(&s, to, 64, 4096), 1024);
    assert_int_equal(s.n, 3);
    /* -1: the staging memory is full */
    assert_int_equal(lra_staging_add(&s, to + 256, 4096, 4096), -1);
    while (s.n < LRA_STAGED_MOST) lra_staging_add(&s, to, 1, 1 << 20);
    assert_int_equal(lra_staging_add(&s, to, 1, 1 << 20), -1); /* -1: all parts are in use */
    assert_int_equal(lra_staging_add(&s, to + 1, 1, 1 << 20), (int64_t)s.part[s.n - 1].at + 1);
}

GROUP(make_folder, remove_folder);
