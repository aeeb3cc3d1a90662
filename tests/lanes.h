/* What a device with two streams may make of a plan: calls on the second run at any time from where
 * they are queued to where the first stream waits for them. */
#ifndef LRA_TESTS_LANES_H
#define LRA_TESTS_LANES_H

#include <string.h>

#include "kernels/base/philox.h"
#include "kernels/graph/backend.h"

typedef enum { LANES_EARLY, LANES_LATE, LANES_RANDOM } lanes_time;

typedef struct {
    int (*run)(lra_device *d, const lra_call *calls, int n, lra_err *e); /* what runs as one */
    lanes_time when;
    lra_rng *random;
    int n_beside, n_passed; /* calls beside; those that something on the first stream has passed */
} lanes_device;

enum { LANES_MOST = 512 };

/* What is going to be written may be written from the start. */
static void spoil(const lra_call *c, int n)
{
    for (int k = 0; k < n; k++)
        if (c[k].out) memset(c[k].out, 0xFF, (size_t)lra_bytes(c[k].y));
}

static int run_lanes(lanes_device *l, const lra_call *calls, const lra_lane *lanes, int n,
                     lra_err *e)
{
    int at[LANES_MOST], size[LANES_MOST], queued = 0, done = 0, rc = 0;
    for (int i = 0, k; i <= n && rc == 0; i += k) {
        int due = i < n ? lanes[i].wait : done;
        if (l->when == LANES_EARLY) due = queued;
        if (l->when == LANES_RANDOM && done < queued) {
            int any = done + (int)lra_rng_below(l->random, (uint32_t)(queued - done) + 1);
            if (any > due) due = any;
        }
        for (; done < due && rc == 0; done++) rc = l->run(NULL, calls + at[done], size[done], e);
        if (i == n) break;
        k = lra_joined_calls(calls + i, n - i);
        if (!lanes[i].beside) {
            l->n_passed += queued - done;
            if (rc == 0) rc = l->run(NULL, calls + i, k, e);
            continue;
        }
        if (queued == LANES_MOST) LRA_BUG("more than %d calls beside", LANES_MOST);
        spoil(calls + i, k);
        at[queued] = i, size[queued++] = k, l->n_beside++;
    }
    if (rc == 0 && done < queued) return lra_fail(e, "%d calls are not waited for", queued - done);
    return rc;
}

#endif
