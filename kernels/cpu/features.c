/* Processor features. Sources: Intel SDM volume 2, CPUID leaves 1 and 7; volume 1, section 13.3
 * (XCR0). */
#include "kernels/cpu/features.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/graph/op.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Valid values of LRA_CPU, in ascending order. */
static const struct {
    const char *name;
    int level;
    lra_bf16_unit bf16;
} steps[] = {{"portable", LRA_LEVEL_PORTABLE, LRA_BF16_NONE},
             {"avx2", LRA_LEVEL_AVX2, LRA_BF16_NONE},
             {"avx512", LRA_LEVEL_AVX512, LRA_BF16_NONE},
             {"avx512bf16", LRA_LEVEL_AVX512, LRA_BF16_AVX512},
             {"amx", LRA_LEVEL_AVX512, LRA_BF16_AMX}};
enum { N_STEPS = sizeof steps / sizeof *steps };
/* Levels for which this build contains bodies (LRA_LEVELS in CMakeLists.txt). */
static const bool built[LRA_N_LEVELS] = {[LRA_LEVEL_PORTABLE] = true,
#if defined(LRA_X86) && !defined(LRA_NO_LEVEL_avx2)
                                         [LRA_LEVEL_AVX2] = true,
#endif
#if defined(LRA_X86) && !defined(LRA_NO_LEVEL_avx512)
                                         [LRA_LEVEL_AVX512] = true
#endif
};
static int level = LRA_LEVEL_PORTABLE;
static lra_bf16_unit bf16 = LRA_BF16_NONE;
static char name[64];

#if defined(__x86_64__)

/* Register state that the operating system saves (XCR0). Bits 1, 2: xmm, ymm; bits 5, 6, 7: mask
 * and zmm registers. */
static uint64_t saved_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool has(uint64_t value, uint64_t bits)
{
    return (value & bits) == bits;
}

static int machine_level(void)
{
    enum { OSXSAVE = 1 << 27, AVX = 1 << 28, FMA = 1 << 12, AVX2 = 1 << 5 };
    const uint32_t f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, OSXSAVE | AVX | FMA)) return LRA_LEVEL_PORTABLE;
    uint64_t state = saved_state();
    if (!has(state, 0x6) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, AVX2))
        return LRA_LEVEL_PORTABLE;
    if (built[LRA_LEVEL_AVX512] && has(state, 0xE6) && has(b, f_dq_bw_vl)) return LRA_LEVEL_AVX512;
    return built[LRA_LEVEL_AVX2] ? LRA_LEVEL_AVX2 : LRA_LEVEL_PORTABLE;
}

/* Requests permission to use tile registers, which the operating system grants on demand (Linux:
 * arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)). */
static bool tiles_permitted(void)
{
#if defined(__linux__)
    enum { SYS_ARCH_PRCTL = 158, REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18 };
    long rc;
    __asm__ volatile("syscall"
                     : "=a"(rc)
                     : "a"((long)SYS_ARCH_PRCTL), "D"((long)REQ_XCOMP_PERM), "S"((long)XTILEDATA)
                     : "rcx", "r11", "memory");
    return rc == 0;
#else
    return false;
#endif
}

static lra_bf16_unit machine_bf16(void)
{
    const uint32_t amx_bf16_tile = 1u << 22 | 1u << 24, avx512_bf16 = 1u << 5;
    uint32_t a, b, c, d;
    if (level < LRA_LEVEL_AVX512 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return LRA_BF16_NONE;
    if (has(d, amx_bf16_tile) && has(saved_state(), 0x60000) && tiles_permitted())
        return LRA_BF16_AMX;
    bool more = a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d);
    return more && has(a, avx512_bf16) ? LRA_BF16_AVX512 : LRA_BF16_NONE;
}

static void read_name(void)
{
    uint32_t r[12] = {0};
    if ((uint32_t)__get_cpuid_max(0x80000000u, NULL) < 0x80000004u) return;
    for (uint32_t i = 0; i < 3; i++)
        __get_cpuid(0x80000002u + i, &r[4 * i], &r[4 * i + 1], &r[4 * i + 2], &r[4 * i + 3]);
    char text[sizeof r + 1] = {0};
    memcpy(text, r, sizeof r);
    size_t first = strspn(text, " "), n = strlen(text);
    while (n > first && text[n - 1] == ' ') n--;
    memcpy(name, text + first, n - first);
    name[n - first] = 0;
}

#else

static int machine_level(void)
{
    return LRA_LEVEL_PORTABLE;
}
static lra_bf16_unit machine_bf16(void)
{
    return LRA_BF16_NONE;
}
static void read_name(void) {}

#endif

static int lower(const char *wanted, lra_err *e)
{
    for (int i = 0; i < N_STEPS; i++) {
        if (strcmp(wanted, steps[i].name) != 0) continue;
        if (!built[steps[i].level])
            return lra_fail(e,
                            "LRA_CPU is '%s', which this build does not contain; "
                            "expected one of LRA_LEVELS in its CMakeCache.txt",
                            wanted);
        if (steps[i].level > level || steps[i].bf16 > bf16)
            return lra_fail(e, "LRA_CPU is '%s', but this processor supports at most '%s'", wanted,
                            lra_cpu_best());
        level = steps[i].level, bf16 = steps[i].bf16;
        return 0;
    }
    return lra_fail(e, "LRA_CPU is '%s', expected portable, avx2, avx512, avx512bf16 or amx",
                    wanted);
}

int lra_cpu_init(lra_err *e)
{
    level = machine_level();
    bf16 = machine_bf16();
    read_name();
    const char *wanted = getenv("LRA_CPU");
    return wanted && *wanted ? lower(wanted, e) : 0;
}

lra_bf16_unit lra_cpu_bf16(void)
{
    return bf16;
}

const char *lra_cpu_best(void)
{
    int best = 0;
    for (int i = 0; i < N_STEPS; i++)
        if (built[steps[i].level] && steps[i].level <= level && steps[i].bf16 <= bf16) best = i;
    return steps[best].name;
}

const char *lra_cpu_usable(int i)
{
    int highest = machine_level(), was = level;
    /* machine_bf16() reads `level`: detect the bf16 unit as if the level had not been lowered */
    level = highest;
    lra_bf16_unit unit = machine_bf16();
    level = was;
    for (int k = 0; k < N_STEPS; k++)
        if (built[steps[k].level] && steps[k].level <= highest && steps[k].bf16 <= unit && i-- == 0)
            return steps[k].name;
    return NULL;
}

int lra_cpu_level(void)
{
    return level;
}

const char *lra_cpu_level_name(int which)
{
    return which >= 0 && which < LRA_N_LEVELS ? steps[which].name : "unknown";
}

const char *lra_cpu_name(void)
{
#if defined(__aarch64__)
    return *name ? name : "aarch64";
#elif defined(__x86_64__)
    return *name ? name : "x86_64";
#else
    return *name ? name : "processor";
#endif
}
