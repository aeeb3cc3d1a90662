/* Messages if a GPU cannot be used: one line with what was found and what is expected. */
#define _XOPEN_SOURCE 700 /* declares realpath() */
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/level.h"
#include "kernels/cuda/messages.h"
#include "kernels/cuda/library_files.h"
#include "kernels/cuda/self_test.h"
#include "kernels/cuda/verified.h"
#include "tests/fixtures/folder.h"

static void expect(int rc, lra_err *e, const char *text)
{
    assert_int_equal(rc, LRA_FAILED);
    assert_string_equal(e->msg, text);
    e->msg[0] = 0;
}

TEST(no_gpu_at_all)
{
    lra_err e = {{0}};
    expect(lra_cuda_fail_none(&e, LRA_NO_DRIVER, 0, 13000, NULL), &e, "there is no NVIDIA driver");
    expect(lra_cuda_fail_none(&e, LRA_OLD_DRIVER, 12020, 13010, NULL), &e,
           "the NVIDIA driver is too old: it supports CUDA 12.2, expected 13.0 or newer");
    expect(
        lra_cuda_fail_none(&e, LRA_NO_GPU, 13000, 13000, NULL), &e,
        "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides the GPUs that it does not list)");
    expect(lra_cuda_fail_none(&e, LRA_BAD_DRIVER, 13000, 13000, "unknown error"), &e,
           "the NVIDIA driver cannot be used: unknown error");
}

TEST(the_wrong_gpu)
{
    lra_err e = {{0}};
    expect(lra_cuda_fail_index(&e, 3, 1), &e,
           "there is no 'cuda:3', this process sees one GPU: 'cuda:0'");
    expect(lra_cuda_fail_index(&e, 3, 2), &e,
           "there is no 'cuda:3', this process sees 2 GPUs: 'cuda:0' to 'cuda:1'");
    expect(lra_cuda_fail_capability(&e, "cuda:0", "Tesla T4", 75), &e,
           "'cuda:0' (Tesla T4) has compute capability 7.5, expected 8.0 or newer");
}

TEST(a_gpu_that_fails)
{
    lra_err e = {{0}};
    double GiB = (double)(1 << 30);
    expect(lra_cuda_fail_memory(&e, "workspace", 141.25 * GiB, "cuda:0", 139 * GiB), &e,
           "'workspace' needs 141.2 GiB on 'cuda:0', 139.0 GiB free; a smaller batch needs less");
    expect(lra_cuda_fail_call(&e, "a step", "cuda:0", "invalid argument", false), &e,
           "a step on 'cuda:0': invalid argument");
    expect(lra_cuda_fail_call(&e, "a step", "cuda:0", "illegal address", true), &e,
           "a step: the GPU 'cuda:0' was lost: illegal address; checkpoints are intact, start the "
           "same command again");
}

TEST(levels)
{
    lra_err e = {{0}};
    lra_cuda_level_kind level = LRA_CUDA_PLAIN;
    assert_int_equal(lra_cuda_level_find(NULL, 90, &level, &e), 0);
    /* the default is not wgmma, because that level has not been tested on a GPU */
    assert_int_equal(level, LRA_CUDA_MMA);
    assert_int_equal(lra_cuda_level_find("plain", 80, &level, &e), 0);
    assert_int_equal(level, LRA_CUDA_PLAIN);
    assert_int_equal(lra_cuda_level_find("wgmma", 90, &level, &e), 0);
    assert_int_equal(level, LRA_CUDA_WGMMA);
    expect(lra_cuda_level_find("wgmma", 89, &level, &e), &e,
           "LRA_CUDA_LEVEL=wgmma needs compute capability 9.0, found 8.9; 'mma' runs there");
    expect(lra_cuda_level_find("tensor", 90, &level, &e), &e,
           "LRA_CUDA_LEVEL is 'tensor', expected plain, mma or wgmma");
}

/* Without a GPU the message is one of those above; otherwise the device is the requested one. */
TEST(this_machine)
{
    lra_err e = {{0}};
    lra_device d;
    int n = lra_cuda_count(&e);
    assert_int_equal(n == 0, e.msg[0] != 0);
    assert_null(strchr(e.msg, '\n'));
    assert_int_equal(lra_cuda_device(&d, 1000, &e), LRA_FAILED);
    assert_true(n == 0 || strstr(e.msg, "'cuda:1000'"));
}

/* Libraries in Python packages are found in the order of the folders, each once. */
TEST(libraries_are_searched)
{
    static const char *const below[] = {"lib/python3.12/site-packages/nvidia/cu13/lib", "lib"};
    static const char *const variable[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    lra_err e = {{0}};
    char *expected[2];
    for (int i = 0; i < 2; i++) {
        char *path = lra_format("%s/%s/%s", folder, variable[i], below[i]);
        char *top = lra_format("%s/%s", folder, variable[i]);
        OK(lra_folder_make(path, &e));
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

/* Creates the file FOLDER/BELOW/NAME; returns its path. */
static char *make_file(const char *below, const char *name, const char *text)
{
    lra_err e = {{0}};
    char *place = lra_format("%s/%s", folder, below);
    char *path = lra_format("%s/%s", place, name);
    OK(lra_folder_make(place, &e));
    OK(lra_file_write(path, text, strlen(text), &e));
    lra_free(place);
    return path;
}

static void expect_file(char *found, const char *expected)
{
    assert_non_null(found);
    assert_string_equal(found, expected);
    lra_free(found);
}

/* The packages of the first python on PATH are searched: a virtual environment is identified by its
 * pyvenv.cfg, any other by the folder above the program after resolving links. No program is
 * run. */
TEST(the_python_on_path)
{
    char *top = realpath(folder, NULL), *old = lra_copy_text(getenv("PATH")),
         *path = lra_format("here:%s/venv/bin:/usr/bin", top);
    char *python = make_file("plain/bin", "python3.12", "#!/bin/sh\nexit 1\n");
    char *library = make_file("plain/lib/python3.12/site-packages/nvidia/cu13/lib", "libp.so.13",
                              "x");
    char *link = make_file("venv/bin", "other", "x"), *plain = lra_format("%s/plain", folder);
    char *venv = lra_format("%s/venv", top);
    assert_int_equal(chmod(python, 0755), 0);
    char *name = lra_format("%s/venv/bin/python3", folder);
    char *target = realpath(python, NULL);
    assert_int_equal(symlink(target, name), 0);
    setenv("PATH", path, 1);
    char *resolved = realpath(plain, NULL);
    expect_file(lra_cuda_python_prefix(), resolved);
    char *found = lra_cuda_library_file("libp.so.13", 0);
    assert_non_null(found);
    assert_non_null(
        strstr(found, "/plain/lib/python3.12/site-packages/nvidia/cu13/lib/libp.so.13"));
    lra_free(found);
    lra_free(make_file("venv", "pyvenv.cfg", "home = /usr/bin\n"));
    lra_free(make_file("venv/lib/python3.12/site-packages/nvidia/cufft/lib", "libq.so.13", "x"));
    expect_file(lra_cuda_python_prefix(), venv);
    found = lra_cuda_library_file("libq.so.13", 0);
    assert_non_null(found);
    lra_free(found);
    char *places = lra_cuda_library_paths();
    assert_non_null(strstr(places, "python on PATH ("));
    assert_null(strchr(places, '\n'));
    setenv("PATH", "", 1);
    assert_null(lra_cuda_python_prefix());
    setenv("PATH", old, 1);
    free(resolved);
    free(target);
    free(top);
    char *all[] = {old, path, python, library, link, plain, venv, name, places};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lra_free(all[i]);
}

/* In a folder such as /opt, packages are searched down to eight levels, also in hidden folders
 * (/opt/torch/.venv); links are not followed. */
TEST(packages_below_a_folder)
{
    static const char deep[] = "below/torch/.venv/lib/python3.12/site-packages/nvidia/cublas/lib";
    char *file = make_file(deep, "libdeep.so.13", "x"), *top = lra_format("%s/below", folder);
    char *link = lra_format("%s/below/loop", folder);
    assert_int_equal(symlink(top, link), 0);
    expect_file(lra_cuda_library_below(top, "libdeep.so.13", 0), file);
    assert_null(lra_cuda_library_below(top, "libdeep.so.13", 1));
    assert_null(lra_cuda_library_below(top, "libdeep.so.12", 0));
    assert_null(lra_cuda_library_below("/no/such/folder", "libdeep.so.13", 0));
    lra_free(file);
    lra_free(top);
    lra_free(link);
}

/* The message is one line that fits, and it lists the folders that were searched. */
TEST(a_library_that_is_missing)
{
    lra_err e = {{0}};
    unsetenv("VIRTUAL_ENV");
    char *places = lra_cuda_library_paths();
    lra_cuda_fail_library(&e, "libcublasLt.so.13", NULL, NULL, places);
    assert_non_null(
        strstr(e.msg, "'libcublasLt.so.13' was not found; searched: the loader's path"));
    assert_non_null(strstr(e.msg, "VIRTUAL_ENV (not set)"));
    assert_non_null(strstr(e.msg, "/opt/**/nvidia/*/lib"));
    lra_free(places);
    e.msg[0] = 0;
    expect(lra_cuda_fail_library(&e, "x", "/a/libx.so", "no such symbol", ""), &e,
           "'/a/libx.so' cannot be loaded: no such symbol");
}

/* A GPU model counts as verified only if a line is equal to its name, not if a line begins with
 * it. */
TEST(verified_models)
{
    char *top = realpath(folder, NULL);
    setenv("XDG_STATE_HOME", top, 1);
    assert_false(lra_cuda_is_verified("NVIDIA H100"));
    char *path = lra_cuda_verified_file();
    char *file = make_file("lra-locality", "verified-gpus", "A\tx\nNVIDIA H100 80GB HBM3\t2026\n");
    assert_true(strncmp(path, top, strlen(top)) == 0);
    assert_string_equal(path + strlen(top), file + strlen(folder));
    assert_false(lra_cuda_is_verified("NVIDIA H100"));
    assert_true(lra_cuda_is_verified("NVIDIA H100 80GB HBM3"));
    assert_true(lra_cuda_is_verified("A"));
    unsetenv("XDG_STATE_HOME");
    free(top);
    lra_free(path);
    lra_free(file);
}

/* This program, run as the self-test of a level: at wgmma it hangs, fails or passes depending on
 * `what`; at mma it passes. */
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
    lra_cuda_self_test_by(argv);
    lra_cuda_level_kind level = lra_cuda_self_test(capability, seconds, why, 256);
    lra_cuda_self_test_by(NULL);
    return level;
}

/* The default is the fastest level whose self-test passes in time; the message names the levels
 * that do not. */
TEST(levels_are_tried)
{
    char why[256], passes[] = "passes", fails[] = "fails", hangs[] = "hangs";
    assert_int_equal(lra_cuda_self_test(90, 60, why, sizeof why),
                     /* no self-test program is set, so only levels without self-test are used */
                     LRA_CUDA_MMA);
    assert_int_equal(tried(fails, 80, 60, why), LRA_CUDA_MMA);
    assert_int_equal(tried(passes, 90, 60, why), LRA_CUDA_WGMMA);
    assert_string_equal(why, "");
    /* child processes inherit the level and need no self-test */
    assert_string_equal(getenv("LRA_CUDA_LEVEL"), "wgmma");
    assert_int_equal(tried(fails, 90, 60, why), LRA_CUDA_MMA);
    assert_string_equal(why, "the self-test of level 'wgmma' fails (exit code 3)");
    tried(hangs, 90, 0.5, why);
    assert_non_null(strstr(why, "level 'wgmma' does not end within 0.5 s"));
    unsetenv("LRA_CUDA_LEVEL");
}

GROUP(make_folder, remove_folder);

int main(int argc, char **argv)
{
    if (argc > 1) return be_trial(argv[1]);
    return tests_run();
}
