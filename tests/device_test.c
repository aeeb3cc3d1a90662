/* What is said when a GPU cannot be used: one line, what was found, what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/level.h"
#include "kernels/cuda/messages.h"
#include "kernels/cuda/library_files.h"
#include "kernels/cuda/trial.h"
#include "tests/folder.h"

static void expect(int rc, lra_err *e, const char *text)
{
    assert_int_equal(rc, LRA_FAILED);
    assert_string_equal(e->msg, text);
    e->msg[0] = 0;
}

static void no_gpu_at_all(void **state)
{
    (void)state;
    lra_err e = {{0}};
    expect(lra_cuda_say_none(&e, LRA_NO_DRIVER, 0, 13000, NULL), &e, "there is no NVIDIA driver");
    expect(lra_cuda_say_none(&e, LRA_OLD_DRIVER, 12020, 13010, NULL), &e,
           "the NVIDIA driver is too old: it knows CUDA 12.2, expected 13.0 or newer");
    expect(lra_cuda_say_none(&e, LRA_NO_GPU, 13000, 13000, NULL), &e,
           "the NVIDIA driver sees no GPU (CUDA_VISIBLE_DEVICES hides what it does not name)");
    expect(lra_cuda_say_none(&e, LRA_BAD_DRIVER, 13000, 13000, "unknown error"), &e,
           "the NVIDIA driver cannot be used: unknown error");
}

static void the_wrong_gpu(void **state)
{
    (void)state;
    lra_err e = {{0}};
    expect(lra_cuda_say_index(&e, 3, 1), &e,
           "there is no 'cuda:3', this process sees one GPU: 'cuda:0'");
    expect(lra_cuda_say_index(&e, 3, 2), &e,
           "there is no 'cuda:3', this process sees 2 GPUs: 'cuda:0' to 'cuda:1'");
    expect(lra_cuda_say_capability(&e, "cuda:0", "Tesla T4", 75), &e,
           "'cuda:0' (Tesla T4) has compute capability 7.5, expected 8.0 or newer");
}

static void a_gpu_that_fails(void **state)
{
    (void)state;
    lra_err e = {{0}};
    double GiB = (double)(1 << 30);
    expect(lra_cuda_say_memory(&e, "workspace", 141.25 * GiB, "cuda:0", 139 * GiB), &e,
           "'workspace' needs 141.2 GiB on 'cuda:0', 139.0 GiB free; a smaller batch needs less");
    expect(lra_cuda_say_failed(&e, "a step", "cuda:0", "invalid argument", false), &e,
           "a step on 'cuda:0': invalid argument");
    expect(lra_cuda_say_failed(&e, "a step", "cuda:0", "illegal address", true), &e,
           "a step: the GPU 'cuda:0' was lost: illegal address; checkpoints are intact, start the "
           "same command again");
}

static void levels(void **state)
{
    (void)state;
    lra_err e = {{0}};
    lra_cuda_level_kind level = LRA_CUDA_PLAIN;
    assert_int_equal(lra_cuda_level_find(NULL, 90, &level, &e), 0);
    assert_int_equal(level, LRA_CUDA_MMA); /* until wgmma has been tested on a GPU */
    assert_int_equal(lra_cuda_level_find("plain", 80, &level, &e), 0);
    assert_int_equal(level, LRA_CUDA_PLAIN);
    assert_int_equal(lra_cuda_level_find("wgmma", 90, &level, &e), 0);
    assert_int_equal(level, LRA_CUDA_WGMMA);
    expect(lra_cuda_level_find("wgmma", 89, &level, &e), &e,
           "LRA_CUDA_LEVEL=wgmma needs compute capability 9.0, found 8.9; 'mma' runs there");
    expect(lra_cuda_level_find("tensor", 90, &level, &e), &e,
           "LRA_CUDA_LEVEL is 'tensor', expected plain, mma or wgmma");
}

/* Where there is no GPU the reason is one of the above; where there is one, it is the one asked
 * for. */
static void this_machine(void **state)
{
    (void)state;
    lra_err e = {{0}};
    lra_device d;
    int n = lra_cuda_count(&e);
    assert_int_equal(n == 0, e.msg[0] != 0);
    assert_null(strchr(e.msg, '\n'));
    assert_int_equal(lra_cuda_device(&d, 1000, &e), LRA_FAILED);
    assert_true(n == 0 || strstr(e.msg, "'cuda:1000'"));
}

/* Libraries in a Python package are found in the order of the places, each once. */
static void libraries_are_searched(void **state)
{
    (void)state;
    static const char *const below[] = {"lib/python3.12/site-packages/nvidia/cu13/lib", "lib"};
    static const char *const variable[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    lra_err e = {{0}};
    char *expected[2];
    for (int i = 0; i < 2; i++) {
        char *path = lra_format("%s/%s/%s", folder, variable[i], below[i]);
        char *top = lra_format("%s/%s", folder, variable[i]);
        if (lra_folder_make(path, &e) != 0) fail_msg("%s", e.msg);
        expected[i] = lra_format("%s/libnowhere.so.13", path);
        assert_int_equal(lra_file_write(expected[i], "x", 1, &e), 0);
        assert_int_equal(setenv(variable[i], top, 1), 0);
        lra_free(top);
        lra_free(path);
    }
    for (int i = 0; i < 2; i++) {
        char *found = lra_cuda_library_file("libnowhere.so.13", i);
        assert_string_equal(found, expected[i]);
        lra_free(found);
        lra_free(expected[i]);
    }
    assert_null(lra_cuda_library_file("libnowhere.so.13", 2));
    assert_null(lra_cuda_library_file("libnowhere.so.12", 0));
}

/* This program once more, as a trial: at wgmma it hangs, fails or passes as it is told, at mma it
 * passes. */
static int be_trial(const char *what)
{
    const char *level = getenv("LRA_CUDA_LEVEL");
    if (!level || strcmp(level, "wgmma") != 0) return 0;
    if (strcmp(what, "hangs") == 0)
        for (;;) pause();
    return strcmp(what, "fails") == 0 ? 3 : 0;
}

static lra_cuda_level_kind tried(char *what, int capability, double seconds, char why[256])
{
    char name[] = "device_test", *argv[] = {name, what, NULL};
    lra_cuda_trial_by(argv);
    lra_cuda_level_kind level = lra_cuda_trial(capability, seconds, why, 256);
    lra_cuda_trial_by(NULL);
    return level;
}

/* The default is the fastest level that ends in time and passes; what does not is named. */
static void levels_are_tried(void **state)
{
    (void)state;
    char why[256], passes[] = "passes", fails[] = "fails", hangs[] = "hangs";
    assert_int_equal(lra_cuda_trial(90, 60, why, sizeof why),
                     LRA_CUDA_MMA); /* nobody to try them */
    assert_int_equal(tried(fails, 80, 60, why), LRA_CUDA_MMA);
    assert_int_equal(tried(passes, 90, 60, why), LRA_CUDA_WGMMA);
    assert_string_equal(why, "");
    assert_string_equal(getenv("LRA_CUDA_LEVEL"), "wgmma"); /* children need no trial */
    assert_int_equal(tried(fails, 90, 60, why), LRA_CUDA_MMA);
    assert_string_equal(why, "level 'wgmma' fails (exit code 3)");
    tried(hangs, 90, 0.5, why);
    assert_non_null(strstr(why, "level 'wgmma' does not end within 0.5 s"));
    unsetenv("LRA_CUDA_LEVEL");
}

int main(int argc, char **argv)
{
    if (argc > 1) return be_trial(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_gpu_at_all),    cmocka_unit_test(the_wrong_gpu),
        cmocka_unit_test(a_gpu_that_fails), cmocka_unit_test(levels),
        cmocka_unit_test(this_machine),     cmocka_unit_test(libraries_are_searched),
        cmocka_unit_test(levels_are_tried),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
