/* Real Fourier transforms on one thread: Stockham's algorithm with radix 4, 2, 3 and 5. Roots of
 * unity are computed in double, once per length. Each thread keeps an array for the stages. */
#include "kernels/cpu/fft.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"

enum { MAX_LENGTHS = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t own_array;

static void make_key(void)
{
    if (pthread_key_create(&own_array, lra_free) != 0) LRA_BUG("no key for the array of a thread");
}

typedef struct {
    /* capacity: bytes of the array; pad: extends this header to 64 bytes */
    size_t capacity, pad[7];
} array_head;

/* An array of this thread with at least `bytes` bytes. It is valid until the thread's next call. */
static void *thread_array(size_t bytes)
{
    pthread_once(&once, make_key);
    array_head *h = pthread_getspecific(own_array);
    if (!h || h->capacity < bytes) {
        h = lra_resize(h, sizeof *h + bytes);
        h->capacity = bytes;
        pthread_setspecific(own_array, h);
    }
    return h + 1;
}

int64_t lra_fft_size(int64_t n)
{
    int64_t best = 2;
    while (best < n) best *= 2;
    for (int64_t five = 2; five < best; five *= 5)
        for (int64_t three = five; three < best; three *= 3) {
            int64_t size = three;
            while (size < n) size *= 2;
            if (size < best) best = size;
        }
    return best;
}

int64_t lra_fft_row(int64_t n)
{
    return (n + 2 + 15) / 16 * 16;
}

static void check_length(int64_t n)
{
    int64_t rest = n;
    static const int prime[] = {2, 3, 5};
    for (int i = 0; i < 3; i++)
        while (rest > 1 && rest % prime[i] == 0) rest /= prime[i];
    if (n < 2 || n % 2 || rest != 1) LRA_BUG("transform of %lld elements", (long long)n);
}

#define PI      3.14159265358979323846
#define REAL    float
#define NAME(x) x##_f32
#include "kernels/cpu/fft_steps_template.h"
#undef REAL
#undef NAME
#define REAL    double
#define NAME(x) x##_f64
#include "kernels/cpu/fft_steps_template.h"

/* Finds or computes the roots of unity of a length; they are kept until the program ends. */
#define FIND_PLAN(T, REAL_TYPE)                                                                    \
    static plan_##T find_##T(int64_t n)                                                            \
    {                                                                                              \
        static plan_##T known[MAX_LENGTHS];                                                        \
        static int n_known;                                                                        \
        pthread_mutex_lock(&lock);                                                                 \
        int i = 0;                                                                                 \
        while (i < n_known && known[i].n != n) i++;                                                \
        if (i == MAX_LENGTHS) LRA_BUG("more than %d lengths of transforms", (int)MAX_LENGTHS);     \
        if (i == n_known) {                                                                        \
            check_length(n);                                                                       \
            plan_##T p = {.n = n, .m = n / 2};                                                     \
            p.root = lra_alloc_array((size_t)n, sizeof *p.root);                                   \
            for (int64_t k = 0; k < n; k++) {                                                      \
                double angle = -2 * PI * (double)k / (double)n;                                    \
                p.root[k] = (number_##T){(REAL_TYPE)cos(angle), (REAL_TYPE)sin(angle)};            \
            }                                                                                      \
            known[n_known++] = p;                                                                  \
        }                                                                                          \
        plan_##T found = known[i];                                                                 \
        pthread_mutex_unlock(&lock);                                                               \
        return found;                                                                              \
    }                                                                                              \
    void lra_fft_##T(int64_t n, REAL_TYPE *x)                                                      \
    {                                                                                              \
        plan_##T p = find_##T(n);                                                                  \
        forth_##T(&p, (number_##T *)(void *)x,                                                     \
                  thread_array((size_t)(p.m + 1) * sizeof(number_##T)));                           \
    }                                                                                              \
    void lra_fft_back_##T(int64_t n, REAL_TYPE *x)                                                 \
    {                                                                                              \
        plan_##T p = find_##T(n);                                                                  \
        back_##T(&p, (number_##T *)(void *)x,                                                      \
                 thread_array((size_t)(p.m + 1) * sizeof(number_##T)));                            \
    }
FIND_PLAN(f32, float)
FIND_PLAN(f64, double)
