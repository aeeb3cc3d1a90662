/* HDF5 files: reading gives the written data; every truncation and every changed bit is detected; a
 * file of another kind, shape or type is rejected with its name; a full disk leaves no file
 * behind. */
#include "tests/fixtures/test.h"

#include <errno.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { ROWS = 7, COLUMNS = 5 };

/* HDF5 does not free an object header whose checksum is wrong. These leaks are ignored; those of
 * this project are still detected. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5\n";
}

static char folder[] = "/tmp/lra-h5-XXXXXX";
static char whole[64], bad[64];
static lra_err err;

static float value_at(int i)
{
    return (float)(i * i) / 3.0f - 4.0f;
}

static void write_sample(const char *path)
{
    const int64_t dims[2] = {ROWS, COLUMNS}, none[2] = {0, 3}, six = 6;
    const int64_t longs[6] = {0, -1, INT64_MAX, INT64_MIN, 5, 6};
    float data[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) data[i] = value_at(i);
    lra_h5 *f = lra_h5_create(path, "result", &err);
    assert_non_null(f);
    assert_int_equal(lra_h5_put(f, "/param/layer0/w", LRA_H5_F32, 2, dims, data, &err), 0);
    assert_int_equal(lra_h5_put(f, "/long", LRA_H5_I64, 1, &six, longs, &err), 0);
    assert_int_equal(lra_h5_put(f, "/empty", LRA_H5_U16, 2, none, NULL, &err), 0);
    assert_int_equal(lra_h5_put_text(f, "/note", "reach \xe2\x89\xa4 11\n", &err), 0);
    assert_int_equal(lra_h5_set_int(f, "/", "seed", -42, &err), 0);
    assert_int_equal(lra_h5_set_real(f, "/param", "loss", 0.1, &err), 0);
    assert_int_equal(lra_h5_set_text(f, "/long", "unit", "steps", &err), 0);
    assert_int_equal(lra_h5_set_text(f, "/", "empty", "", &err), 0);
    assert_int_equal(lra_h5_commit(f, &err), 0);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(whole, sizeof whole, "%s/whole.h5", folder);
    snprintf(bad, sizeof bad, "%s/bad.h5", folder);
    write_sample(whole);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(whole);
    unlink(bad);
    return rmdir(folder); /* fails if files remain in the folder */
}

/* ---- round trip ------------------------------------------------------------------------------ */

/* Reads the entire sample. Returns 0 if everything is as written, -1 if the file is rejected, 1 if
 * it is accepted with other values. */
static int read_sample(const char *path)
{
    const int64_t dims[2] = {ROWS, COLUMNS}, six = 6;
    float data[ROWS * COLUMNS];
    int64_t longs[6], seed = 0;
    double loss = 0;
    int rc = -1;
    char *note = NULL, *unit = NULL, *empty = NULL;
    lra_h5 *f = lra_h5_open(path, "result", &err);
    if (!f) return -1;
    if (lra_h5_get(f, "/param/layer0/w", LRA_H5_F32, 2, dims, data, &err) != 0) goto done;
    if (lra_h5_get(f, "/long", LRA_H5_I64, 1, &six, longs, &err) != 0) goto done;
    if (lra_h5_get_int(f, "/", "seed", &seed, &err) != 0) goto done;
    if (lra_h5_get_real(f, "/param", "loss", &loss, &err) != 0) goto done;
    note = lra_h5_get_text(f, "/note", &err);
    unit = lra_h5_attr_text(f, "/long", "unit", &err);
    empty = lra_h5_attr_text(f, "/", "empty", &err);
    if (!note || !unit || !empty) goto done;
    bool same = seed == -42 && loss == 0.1 && strcmp(note, "reach \xe2\x89\xa4 11\n") == 0 &&
                strcmp(unit, "steps") == 0 && !*empty && longs[2] == INT64_MAX &&
                longs[3] == INT64_MIN && longs[0] == 0 && longs[1] == -1 && longs[4] == 5 &&
                longs[5] == 6;
    for (int i = 0; i < ROWS * COLUMNS; i++) same = same && data[i] == value_at(i);
    rc = same ? 0 : 1;
done:
    lra_free(note);
    lra_free(unit);
    lra_free(empty);
    lra_h5_close(f);
    return rc;
}

TEST(what_is_written_comes_back)
{
    assert_int_equal(read_sample(whole), 0);
    lra_h5 *f = lra_h5_open(whole, NULL, &err);
    /* the file is opened twice at the same time */
    lra_h5 *again = lra_h5_open(whole, "result", &err);
    assert_non_null(f);
    assert_non_null(again);
    lra_h5_info info;
    assert_int_equal(lra_h5_find(f, "/empty", &info, &err), 0);
    assert_int_equal(info.type, LRA_H5_U16);
    assert_int_equal(info.rank, 2);
    assert_int_equal(info.n, 0);
    assert_true(lra_h5_has(f, "/param/layer0/w"));
    assert_false(lra_h5_has(f, "/param/layer1/w"));
    assert_false(lra_h5_has(f, ""));
    assert_true(lra_h5_has_attr(f, "/param", "loss"));
    assert_false(lra_h5_has_attr(f, "/param", "lost"));
    char **names;
    assert_int_equal(lra_h5_list(f, "/", &names, &err), 4);
    assert_string_equal(names[0], "empty");
    assert_string_equal(names[3], "param");
    lra_h5_free_names(names, 4);
    lra_h5_close(again);
    lra_h5_close(f);
}

TEST(large_data_cross_many_chunks)
{
    const int64_t dims[2] = {3, 700001}, n = dims[0] * dims[1];
    int32_t *data = lra_alloc((size_t)n * 4), *back = lra_alloc((size_t)n * 4);
    for (int64_t i = 0; i < n; i++) data[i] = (int32_t)(i * 2654435761u);
    lra_h5 *f = lra_h5_create(bad, "data", &err);
    assert_non_null(f);
    assert_int_equal(lra_h5_put(f, "/x", LRA_H5_I32, 2, dims, data, &err), 0);
    assert_int_equal(lra_h5_commit(f, &err), 0);
    f = lra_h5_open(bad, "data", &err);
    assert_non_null(f);
    assert_int_equal(lra_h5_get(f, "/x", LRA_H5_I32, 2, dims, back, &err), 0);
    assert_memory_equal(data, back, (size_t)n * 4);
    lra_h5_close(f);
    lra_free(data);
    lra_free(back);
}

/* ---- damage ---------------------------------------------------------------------------------- */

TEST(truncations_are_refused)
{
    size_t n;
    char *bytes = lra_file_read(whole, 1 << 20, &n, &err);
    assert_non_null(bytes);
    for (size_t cut = 0; cut < n; cut += 64) {
        assert_int_equal(lra_file_write(bad, bytes, cut, &err), 0);
        err.msg[0] = 0;
        assert_int_equal(read_sample(bad), -1);
        assert_non_null(strstr(err.msg, bad));
        assert_null(strchr(err.msg, '\n'));
    }
    lra_free_large(bytes);
}

/* Flips every third bit: 3 and 8 have no common divisor, so all bit positions within a byte
 * occur. */
TEST(changed_bits_are_never_silent)
{
    size_t n, refused = 0;
    char *bytes = lra_file_read(whole, 1 << 20, &n, &err);
    assert_non_null(bytes);
    for (size_t bit = 0; bit < 8 * n; bit += 3) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        FILE *f = fopen(bad, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, n, f), n);
        fclose(f);
        int rc = read_sample(bad);
        if (rc == 1) fail_msg("bit %zu of %zu changed a value unnoticed", bit, 8 * n);
        refused += rc == -1;
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    }
    assert_true(refused > 0);
    lra_free_large(bytes);
}

TEST(other_files_are_refused)
{
    assert_null(lra_h5_open(whole, "checkpoint", &err));
    assert_non_null(strstr(err.msg, "is a result file, expected a checkpoint file"));
    assert_null(lra_h5_open("/nonexistent/x.h5", NULL, &err));
    assert_non_null(strstr(err.msg, "No such file"));
    assert_int_equal(lra_file_write(bad, "label\ttext\n", 11, &err), 0);
    assert_null(lra_h5_open(bad, NULL, &err));
    assert_non_null(strstr(err.msg, "not a complete HDF5 file"));
    /* an HDF5 file that this program did not write */
    hid_t id = H5Fcreate(bad, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(id);
    assert_null(lra_h5_open(bad, NULL, &err));
    assert_non_null(strstr(err.msg, "lra.format"));
}

TEST(a_newer_format_is_refused)
{
    lra_h5 *f = lra_h5_create(bad, "result", &err);
    assert_non_null(f);
    assert_int_equal(lra_h5_set_int(f, "/", "lra.format", LRA_H5_FORMAT + 1, &err), 0);
    assert_int_equal(lra_h5_commit(f, &err), 0);
    assert_null(lra_h5_open(bad, "result", &err));
    assert_non_null(strstr(err.msg, "has format 3"));
}

/* ---- schema ---------------------------------------------------------------------------------- */

static void refused(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
                    const char *message)
{
    float data[ROWS * COLUMNS];
    assert_int_equal(lra_h5_get(f, path, type, rank, dims, data, &err), -1);
    if (!strstr(err.msg, message)) fail_msg("'%s' lacks '%s'", err.msg, message);
}

TEST(wrong_shapes_and_types_are_refused)
{
    const int64_t right[2] = {ROWS, COLUMNS}, swapped[2] = {COLUMNS, ROWS}, any[2] = {-1, COLUMNS};
    int64_t number;
    float data[ROWS * COLUMNS];
    lra_h5 *f = lra_h5_open(whole, "result", &err);
    assert_non_null(f);
    refused(f, "/param/layer0/w", LRA_H5_F32, 2, swapped, "has shape (7,5), expected (5,7)");
    refused(f, "/param/layer0/w", LRA_H5_F32, 1, right, "has shape (7,5), expected (7)");
    refused(f, "/param/layer0/w", LRA_H5_F64, 2, right, "holds float32, expected float64");
    refused(f, "/param/layer1/w", LRA_H5_F32, 2, right, "has no '/param/layer1/w'");
    refused(f, "/param", LRA_H5_F32, 2, right, "not a dataset");
    assert_int_equal(lra_h5_get(f, "/param/layer0/w", LRA_H5_F32, 2, any, data, &err), 0);
    assert_int_equal(lra_h5_get_int(f, "/", "lra.kind", &number, &err), -1);
    assert_non_null(strstr(err.msg, "another type"));
    assert_int_equal(lra_h5_get_int(f, "/", "sed", &number, &err), -1);
    assert_non_null(strstr(err.msg, "has no attribute 'sed'"));
    assert_null(lra_h5_get_text(f, "/long", &err));
    lra_h5_close(f);
}

/* A soft, an external and a dangling link, and data stored in another file are rejected. */
TEST(nothing_leads_out_of_the_file)
{
    hsize_t extent = 4;
    const int64_t four = 4;
    lra_h5 *made = lra_h5_create(bad, "data", &err);
    assert_non_null(made);
    assert_int_equal(lra_h5_commit(made, &err), 0);
    hid_t id = H5Fopen(bad, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(id >= 0);
    H5Lcreate_external(whole, "/long", id, "/external", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", id, "/soft", H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &extent, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(list, "/etc/passwd", 0, 16);
    hid_t set = H5Dcreate2(id, "/outside", H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(id);
    lra_h5 *f = lra_h5_open(bad, "data", &err);
    assert_non_null(f);
    refused(f, "/external", LRA_H5_F32, 1, &four, "has no '/external'");
    refused(f, "/soft", LRA_H5_F32, 1, &four, "has no '/soft'");
    refused(f, "/outside", LRA_H5_F32, 1, &four, "in an unsupported way");
    lra_h5_close(f);
}

/* Adds a dataset with unusual properties to a file of this program. */
static void add_dataset(const char *path, int rank, const hsize_t *dims, hid_t list, hid_t type)
{
    hid_t id = H5Fopen(bad, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(id >= 0);
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t set = H5Dcreate2(id, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(id);
}

/* A large extent without stored data, chunks larger than memory, a filter of another kind, and rank
 * 9, all in files of a few kilobytes. */
TEST(what_is_not_stored_is_not_allocated)
{
    const hsize_t huge = (hsize_t)1 << 36, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, four = 4,
                  wide = (hsize_t)1 << 28;
    lra_h5 *made = lra_h5_create(bad, "data", &err);
    assert_non_null(made);
    assert_int_equal(lra_h5_commit(made, &err), 0);
    hid_t chunked = H5Pcreate(H5P_DATASET_CREATE), filtered = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(chunked, 1, &four);
    H5Pset_chunk(filtered, 1, &four);
    H5Pset_nbit(filtered);
    add_dataset("/huge", 1, &huge, chunked, H5T_STD_U8LE);
    add_dataset("/filtered", 1, &four, filtered, H5T_STD_I32LE);
    H5Pset_chunk(chunked, 1, &wide);
    add_dataset("/wide", 1, &wide, chunked, H5T_STD_U8LE);
    add_dataset("/nine", 9, nine, H5P_DEFAULT, H5T_IEEE_F32LE);
    add_dataset("/never", 1, &four, H5P_DEFAULT, H5T_IEEE_F32LE);
    H5Pclose(chunked);
    H5Pclose(filtered);
    lra_h5 *f = lra_h5_open(bad, "data", &err);
    assert_non_null(f);
    static const char *const paths[] = {"/huge", "/filtered", "/wide", "/nine", "/never"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        lra_h5_info info;
        if (lra_h5_find(f, paths[i], &info, &err) == 0) fail_msg("%s is accepted", paths[i]);
        assert_non_null(strstr(err.msg, "is stored in an unsupported way"));
    }
    assert_null(lra_h5_get_text(f, "/huge", &err));
    lra_h5_close(f);
}

/* HDF5 would convert numbers of any type, and clip those outside of the range. */
TEST(attributes_have_the_type_that_is_written)
{
    const uint64_t large = UINT64_MAX;
    int64_t whole_number;
    double real;
    lra_h5 *made = lra_h5_create(bad, "data", &err);
    assert_non_null(made);
    assert_int_equal(lra_h5_commit(made, &err), 0);
    hid_t id = H5Fopen(bad, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t a = H5Acreate2(id, "large", H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, H5T_NATIVE_UINT64, &large);
    H5Aclose(a);
    H5Sclose(space);
    H5Fclose(id);
    lra_h5 *f = lra_h5_open(bad, "data", &err);
    assert_non_null(f);
    assert_int_equal(lra_h5_get_int(f, "/", "large", &whole_number, &err), -1);
    assert_non_null(strstr(err.msg, "another type"));
    assert_int_equal(lra_h5_get_real(f, "/", "lra.format", &real, &err), -1);
    assert_null(lra_h5_attr_text(f, "/", "lra.format", &err));
    lra_h5_close(f);
}

/* ---- writing --------------------------------------------------------------------------------- */

TEST(an_abandoned_file_leaves_the_old_one)
{
    char temporary[80];
    snprintf(temporary, sizeof temporary, "%s.0.tmp", whole);
    lra_h5 *f = lra_h5_create(whole, "result", &err);
    assert_non_null(f);
    assert_true(lra_file_exists(temporary));
    lra_h5_close(f);
    assert_false(lra_file_exists(temporary));
    assert_int_equal(read_sample(whole), 0);
    assert_null(lra_h5_create("/nonexistent/x.h5", "result", &err));
    assert_non_null(strstr(err.msg, "cannot write '/nonexistent/x.h5'"));
}

/* A limit on the size of files simulates a full disk: the write fails in the middle. */
TEST(a_full_disk_leaves_the_old_one)
{
    const int64_t n = 1 << 18;
    struct rlimit before, little = {1 << 16, 1 << 16};
    getrlimit(RLIMIT_FSIZE, &before);
    little.rlim_max = before.rlim_max;
    uint32_t *noise = lra_alloc((size_t)n * 4);
    for (int64_t i = 0; i < n; i++)
        noise[i] = (uint32_t)i * (uint32_t)i * 2654435761u ^ (uint32_t)i << 9;
    signal(SIGXFSZ, SIG_IGN);
    lra_h5 *f = lra_h5_create(whole, "result", &err);
    assert_non_null(f);
    assert_int_equal(lra_h5_put(f, "/noise", LRA_H5_U32, 1, &n, noise, &err), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    int rc = lra_h5_commit(f, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    lra_free(noise);
    assert_int_equal(rc, -1);
    assert_non_null(strstr(err.msg, "cannot write '"));
    assert_non_null(strstr(err.msg, "File too large"));
    assert_int_equal(read_sample(whole), 0); /* tear_down() detects PATH.0.tmp if it remains */
}

static char *noise_of(int64_t n)
{
    lra_rng rng = lra_rng_new(1, 2, 3);
    uint32_t *noise = lra_alloc((size_t)n * 4);
    for (int64_t i = 0; i < n; i++) noise[i] = lra_rng_u32(&rng);
    return (char *)noise;
}

static int write_noise(const char *path, const char *noise, int64_t n)
{
    lra_h5 *f = lra_h5_create(path, "result", &err);
    int rc = f ? 0 : -1;
    for (int i = 0; i < 3 && rc == 0; i++) {
        const char *const name[] = {"/a", "/group/b", "/group/c"};
        rc = lra_h5_put(f, name[i], LRA_H5_U32, 1, &n, noise, &err);
    }
    if (rc == 0) return lra_h5_commit(f, &err);
    lra_h5_close(f);
    return rc;
}

/* The disk becomes full after any number of bytes; the process must then also end without a crash
 * in the library. */
TEST(a_disk_that_fills_up_anywhere_is_survived)
{
    enum { N = 1 << 17 };
    char path[80], *noise = noise_of(N);
    snprintf(path, sizeof path, "%s/noise.h5", folder);
    const rlim_t all = 3 * N * 4 + 8192;
    for (int k = 0; k <= 16; k++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            struct rlimit limit = {all * (rlim_t)k / 16, all};
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
            int rc = write_noise(path, noise, N);
            if (rc != 0 && !strstr(err.msg, "File too large")) fprintf(stderr, "%s\n", err.msg);
            exit(rc == 0 ? 0 : strstr(err.msg, "File too large") ? 1 : 2);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), k < 16);
        assert_int_equal(lra_file_exists(path), k == 16);
    }
    assert_int_equal(unlink(path), 0);
    lra_free(noise);
}

#ifndef LRA_DEBUG
static rlim_t address_space_used(void)
{
    char line[64] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    rlim_t pages = f && fgets(line, sizeof line, f) ? strtoul(line, NULL, 10) : 0;
    if (f) fclose(f);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Writes the noise in a process with `more` bytes of additional address space; returns the exit
 * status of the process. */
static int status_within(rlim_t more, const char *path, const char *noise, int64_t n)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {address_space_used() + more, address_space_used() + more};
        setrlimit(RLIMIT_AS, &limit);
        int rc = write_noise(path, noise, n);
        exit(rc == 0 ? 0 : strstr(err.msg, "noise.h5") ? 1 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status)) fail_msg("%zu bytes: signal %d", (size_t)more, WTERMSIG(status));
    return WEXITSTATUS(status);
}
#endif

/* Address space of various sizes, so that the allocation fails at different moments. */
TEST(too_little_memory_is_a_message)
{
#ifdef LRA_DEBUG
    skip(); /* the sanitizers need more address space than this machine has memory */
#else
    enum { N = 1 << 17, LARGE = 1 << 22, STEP = 2 << 20 };
    char path[80], *noise = noise_of(LARGE);
    snprintf(path, sizeof path, "%s/noise.h5", folder);
    for (rlim_t k = 0; k < 12; k++) {
        int status = status_within(k * STEP, path, noise, N);
        assert_in_range(status, 0, 1);
        assert_int_equal(status, !lra_file_exists(path));
        unlink(path);
    }
    /* Written data are not kept in memory: writing a file of 48 MiB needs no more memory than the
     * library itself. */
    assert_int_equal(status_within(24 << 20, path, noise, LARGE), 0);
    assert_int_equal(unlink(path), 0);
    lra_free(noise);
#endif
}

/* Replaces flock() of the C library: many cluster file systems do not support locks. */
static bool no_locks;
int flock(int fd, int operation)
{
    (void)fd, (void)operation;
    errno = ENOLCK;
    return no_locks ? -1 : 0;
}

TEST(a_file_system_without_locks_is_no_damage)
{
    no_locks = true;
    write_sample(whole);
    int rc = read_sample(whole);
    no_locks = false;
    assert_int_equal(rc, 0);
}

/* Texts and names of columns are stored as strings, as other programs expect. */
TEST(texts_are_texts_for_all)
{
    static const char text[] = "a=1\nreach \xe2\x89\xa4 11\n\nlast";
    const double values[] = {1, 2, 3, 4, 5, 6};
    lra_h5 *f = lra_h5_create(bad, "result", &err);
    assert_int_equal(lra_h5_put_text(f, "/config", text, &err), 0);
    assert_int_equal(lra_h5_put_text(f, "/none", "", &err), 0);
    assert_int_equal(lra_h5_put_table(f, "/table", "x first y", 2, values, &err), 0);
    assert_int_equal(lra_h5_commit(f, &err), 0);
    hid_t id = H5Fopen(bad, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(id, "/config", H5P_DEFAULT), type = H5Dget_type(set);
    char lines[4][13];
    assert_int_equal(H5Tget_class(type), H5T_STRING);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_UTF8);
    assert_int_equal(H5Tget_size(type), 12);
    hid_t memory = H5Tcopy(type);
    H5Tset_size(memory, sizeof *lines);
    assert_true(H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, lines) >= 0);
    assert_string_equal(lines[0], "a=1");
    assert_string_equal(lines[1], "reach \xe2\x89\xa4 11");
    assert_string_equal(lines[3], "last");
    H5Tclose(memory);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(id);
    double *found;
    int64_t n;
    f = lra_h5_open(bad, "result", &err);
    char *again = lra_h5_get_text(f, "/config", &err), *none = lra_h5_get_text(f, "/none", &err);
    char *names = lra_h5_attr_text(f, "/table", "columns", &err);
    assert_string_equal(again, "a=1\nreach \xe2\x89\xa4 11\n\nlast\n");
    assert_string_equal(none, "");
    assert_string_equal(names, "x first y");
    assert_int_equal(lra_h5_get_table(f, "/table", "y x", &n, &found, &err), 0);
    assert_int_equal(n, 2);
    assert_memory_equal(found, ((double[]){3, 1, 6, 4}), 4 * sizeof *found);
    lra_free(found);
    assert_int_equal(lra_h5_get_table(f, "/table", "x fir", &n, &found, &err), -1);
    assert_non_null(strstr(err.msg, "has no column 'fir', it has 'x first y'"));
    assert_null(found);
    lra_free(again);
    lra_free(none);
    lra_free(names);
    lra_h5_close(f);
}

GROUP(set_up, tear_down);
