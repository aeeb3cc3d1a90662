/* Files from unknown sources: without a seal, or with a seal computed by anybody. They are read by
 * a child process, give the same values as sealed files, and do no harm: no other file is opened,
 * memory and time stay within the limits, and a crash of the library is reported in one line. */
#include "tests/fixtures/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/sandbox.h"
#include "kernels/base/os/terminal.h"
#include "reports/results/result.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/small_results.h"

static lra_err err;
/* paths of a file with a seal, without one, and with a forged one */
static char *sealed, *bare, *forged;

static int set_up(void **state)
{
    make_folder(state);
    sealed = lra_format("%s/sealed.h5", folder);
    bare = lra_format("%s/bare.h5", folder);
    forged = lra_format("%s/forged.h5", folder);
    return 0;
}

static int tear_down(void **state)
{
    lra_free(sealed);
    lra_free(bare);
    lra_free(forged);
    return remove_folder(state);
}

static char *bytes_of(const char *path, size_t *n)
{
    char *bytes = lra_file_read(path, (size_t)1 << 30, n, &err);
    assert_non_null(bytes);
    return bytes;
}

/* Writes a copy of the file without its seal. */
static void strip(const char *from, const char *to)
{
    size_t n;
    char *bytes = bytes_of(from, &n);
    assert_int_equal(lra_file_write(to, bytes, n - LRA_H5_SEAL, &err), 0);
    lra_free_large(bytes);
}

/* ---- the same answers ------------------------------------------------------------------------ */

TEST(a_child_answers_as_the_file_does)
{
    const double table[] = {1, 2, 3, 4};
    const int32_t numbers[] = {5, 6, 7};
    const int64_t three = 3, none = 0, any = -1;
    lra_h5 *w = lra_h5_create(sealed, "result", &err);
    assert_int_equal(lra_h5_put(w, "/group/numbers", LRA_H5_I32, 1, &three, numbers, &err), 0);
    assert_int_equal(lra_h5_put(w, "/group/none", LRA_H5_F64, 1, &none, NULL, &err), 0);
    assert_int_equal(lra_h5_put_text(w, "/text", "one\ntwo \xe2\x89\xa4\n\nlast", &err), 0);
    assert_int_equal(lra_h5_put_table(w, "/table", "a b", 2, table, &err), 0);
    assert_int_equal(lra_h5_set_int(w, "/", "whole", -7, &err), 0);
    assert_int_equal(lra_h5_set_real(w, "/group", "real", 0.1, &err), 0);
    assert_int_equal(lra_h5_set_text(w, "/", "word", "", &err), 0);
    assert_int_equal(lra_h5_commit(w, &err), 0);
    strip(sealed, bare);
    lra_h5 *f = lra_h5_open(bare, "result", &err);
    if (!f) fail_msg("%s", err.msg);
    assert_non_null(f->child);
    assert_false(lra_h5_sealed(f));
    assert_int_equal(lra_h5_format(f), LRA_H5_FORMAT);
    assert_true(lra_h5_has(f, "/group/numbers") && !lra_h5_has(f, "/nothing"));
    assert_true(lra_h5_has_attr(f, "/", "whole") && !lra_h5_has_attr(f, "/", "hole"));
    int32_t got[3];
    lra_h5_info info;
    assert_int_equal(lra_h5_find(f, "/group/numbers", &info, &err), 0);
    assert_true(info.type == LRA_H5_I32 && info.rank == 1 && info.n == 3);
    assert_int_equal(lra_h5_get(f, "/group/numbers", LRA_H5_I32, 1, &any, got, &err), 0);
    assert_memory_equal(got, numbers, sizeof got);
    assert_int_equal(lra_h5_get(f, "/group/none", LRA_H5_F64, 1, &none, NULL, &err), 0);
    assert_int_equal(lra_h5_get(f, "/group/numbers", LRA_H5_F32, 1, &three, got, &err), -1);
    assert_non_null(strstr(err.msg, "holds int32, expected float32"));
    assert_int_equal(lra_h5_get(f, "/group/numbers", LRA_H5_I32, 1, &none, got, &err), -1);
    assert_non_null(strstr(err.msg, "has shape (3), expected (0)"));
    char *text = lra_h5_get_text(f, "/text", &err), *word = lra_h5_attr_text(f, "/", "word", &err);
    assert_string_equal(text, "one\ntwo \xe2\x89\xa4\n\nlast\n");
    assert_string_equal(word, "");
    int64_t whole, rows;
    double real, *values;
    assert_int_equal(lra_h5_get_int(f, "/", "whole", &whole, &err), 0);
    assert_int_equal(whole, -7);
    assert_int_equal(lra_h5_get_real(f, "/group", "real", &real, &err), 0);
    assert_true(real == 0.1);
    assert_int_equal(lra_h5_get_int(f, "/", "nothing", &whole, &err), -1);
    assert_non_null(strstr(err.msg, "has no attribute 'nothing'"));
    assert_int_equal(lra_h5_get_table(f, "/table", "b", &rows, &values, &err), 0);
    assert_true(rows == 2 && values[0] == 2 && values[1] == 4);
    char **names;
    assert_int_equal(lra_h5_list(f, "/group", &names, &err), 2);
    assert_string_equal(names[0], "none");
    assert_string_equal(names[1], "numbers");
    lra_h5_free_names(names, 2);
    assert_int_equal(lra_h5_intact(f, &err), 0);
    lra_free(text);
    lra_free(word);
    lra_free(values);
    lra_h5_close(f);
}

/* A file that the user names is read by a child process even if it has a valid seal, because
 * anybody can compute a seal. */
TEST(a_named_file_is_read_by_a_child)
{
    lra_result *r = small_result("small", 5, 0, 30);
    assert_int_equal(lra_result_write(sealed, r, &err), 0);
    lra_result_free(r);
    lra_h5 *f = lra_h5_open(sealed, "result", &err);
    assert_non_null(f);
    assert_null(f->child);
    lra_h5_close(f);
    lra_h5_distrust(sealed);
    f = lra_h5_open(sealed, "result", &err);
    assert_non_null(f);
    assert_non_null(f->child);
    assert_true(lra_h5_sealed(f));
    lra_h5_close(f);
    char *other = lra_format("%s/../%s/sealed.h5", folder, folder);
    f = lra_h5_open(other, "result", &err);
    if (!f) fail_msg("%s", err.msg);
    assert_non_null(f->child);
    lra_h5_close(f);
    lra_free(other);
    r = lra_result_read(sealed, &err);
    if (!r) fail_msg("%s", err.msg);
    lra_result_free(r);
}

/* ---- other files ----------------------------------------------------------------------------- */

/* Makes an HDF5 file that refers to other files (a FIFO without a writer): by an unlimited virtual
 * data set, by external raw data and by an external link. */
static void make_leaking(const char *path, const char *other)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    hid_t id = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t now = 4, most = H5S_UNLIMITED, start = 0, one = 1;
    hid_t space = H5Screate_simple(1, &now, &most), source = H5Screate_simple(1, &now, &most);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), scalar = H5Screate(H5S_SCALAR);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &most, NULL);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, &start, NULL, &most, NULL);
    assert_true(H5Pset_virtual(list, space, other, "/x", source) >= 0);
    hid_t set = H5Dcreate2(id, "/virtual", H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    hid_t external = H5Pcreate(H5P_DATASET_CREATE), fixed = H5Screate_simple(1, &now, NULL);
    H5Pset_external(external, other, 0, 16);
    set = H5Dcreate2(id, "/raw", H5T_IEEE_F32LE, fixed, H5P_DEFAULT, external, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Lcreate_external(other, "/x", id, "/link", H5P_DEFAULT, H5P_DEFAULT);
    int64_t format = LRA_H5_FORMAT;
    hid_t a = H5Acreate2(id, "lra.format", H5T_STD_I64LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, H5T_NATIVE_INT64, &format);
    H5Aclose(a);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 7);
    a = H5Acreate2(id, "lra.kind", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, "result");
    H5Aclose(a);
    H5Tclose(type);
    H5Pclose(external), H5Pclose(list), H5Pclose(access);
    H5Sclose(space), H5Sclose(source), H5Sclose(scalar), H5Sclose(fixed);
    H5Fclose(id);
    (void)one;
}

static void refuse_leaks(lra_h5 *f)
{
    static const char *const path[] = {"/virtual", "/raw", "/link", "/link/x"};
    float data[4];
    const int64_t four = 4;
    lra_h5_info info;
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        if (lra_h5_find(f, path[i], &info, &err) == 0) fail_msg("%s is found", path[i]);
        if (lra_h5_get(f, path[i], LRA_H5_F32, 1, &four, data, &err) == 0)
            fail_msg("%s is read", path[i]);
        assert_null(lra_h5_get_text(f, path[i], &err));
    }
}

/* Reads the file in a child process and in this process; the alarm ends the test if it waits for
 * the FIFO. */
TEST(no_other_file_is_opened)
{
    char *fifo = lra_format("%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    lra_h5_start();
    alarm(60);
    make_leaking(forged, fifo);
    lra_h5 *f = lra_h5_open(forged, "result", &err);
    if (!f) fail_msg("%s", err.msg);
    assert_non_null(f->child);
    refuse_leaks(f);
    assert_int_equal(lra_h5_intact(f, &err), 0);
    lra_h5_close(f);
    FILE *file = fopen(forged, "r+b");
    assert_non_null(file);
    assert_int_equal(lra_h5_seal(file), 0);
    assert_int_equal(fclose(file), 0);
    f = lra_h5_open(forged, "result", &err);
    if (!f) fail_msg("%s", err.msg);
    assert_null(f->child);
    refuse_leaks(f);
    lra_h5_close(f);
    alarm(0);
    unlink(fifo);
    lra_free(fifo);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* A sparse file whose size is mostly a hole is not read: neither if the superblock has another
 * size, nor if it has the same size and a seal is at the end. */
TEST(a_sparse_file_is_not_hashed)
{
    const off_t large = (off_t)1 << 40;
    char seal[LRA_H5_SEAL + 1] = "lra-locality seal, xxh3-64 of all before: 0123456789abcdef";
    lra_h5 *w = lra_h5_create(forged, "result", &err);
    assert_int_equal(lra_h5_commit(w, &err), 0);
    if (truncate(forged, large) != 0) return; /* the file system does not support such files */
    double start = lra_now();
    assert_null(lra_h5_open(forged, "result", &err));
    assert_non_null(strstr(err.msg, "not a complete HDF5 file"));
    FILE *f = fopen(forged, "r+b");
    uint64_t end = (uint64_t)large - LRA_H5_SEAL;
    memset(seal + strlen(seal), ' ', LRA_H5_SEAL - strlen(seal));
    assert_true(fseeko(f, 28, SEEK_SET) == 0 && fwrite(&end, 8, 1, f) == 1);
    assert_true(fseeko(f, (off_t)end, SEEK_SET) == 0 && fwrite(seal, LRA_H5_SEAL, 1, f) == 1);
    assert_int_equal(fclose(f), 0);
    assert_null(lra_h5_open(forged, "result", &err));
    if (!strstr(err.msg, "are holes") && !strstr(err.msg, "damaged")) fail_msg("%s", err.msg);
    assert_true(lra_now() - start < 20);
    assert_int_equal(truncate(forged, 0), 0);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The address sanitizer needs files and memory of its own, which the sandbox forbids. */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Runs `act` in a sandbox and returns the exit status of the child process. */
static int in_sandbox(void (*act)(int), double seconds)
{
    int pair[2], status;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        lra_sandbox s = {.memory = 64 << 20, .seconds = seconds, .keep = &pair[1], .n_keep = 1};
        if (!lra_sandbox_enter(&s, parent)) _exit(99);
        act(pair[1]);
        _exit(0);
    }
    close(pair[0]), close(pair[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void try_world(int fd)
{
    (void)fd;
    if (open("/etc/passwd", O_RDONLY) >= 0) _exit(11);
    if (open("/tmp/lra-sandbox-made", O_CREAT | O_WRONLY, 0600) >= 0) _exit(12);
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) _exit(13);
    /* stdout and stderr are closed in the sandbox */
    if (write(1, "x", 1) >= 0 || write(2, "x", 1) >= 0) _exit(14);
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    if (fork() >= 0) _exit(15);
    if (kill(getppid(), 0) == 0) _exit(16);
    if (unlink("/tmp/lra-sandbox-made") == 0) _exit(17);
#endif
    _exit(42);
}

static void loop(int fd)
{
    volatile uint64_t n = (uint64_t)fd;
    for (;;) n++;
}

static void take_memory(int fd)
{
    (void)fd;
    _exit(lra_memory_room((size_t)1 << 30) ? 1 : 43);
}

TEST(a_sandbox_holds)
{
    int looped = in_sandbox(loop, 0);
    assert_true(looped == 128 + SIGXCPU || looped == 128 + SIGKILL);
    if (SANITIZED) return;
    assert_int_equal(in_sandbox(try_world, 10), 42);
    assert_int_equal(in_sandbox(take_memory, 10), 43);
}

/* ---- forged bits ----------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *s)
{
    *s ^= *s << 13, *s ^= *s >> 7, *s ^= *s << 17;
    return *s;
}

/* Number of open file descriptors of this process. */
static int count_open(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

/* Files with a few changed bits and without a seal are read, or rejected with a one-line message.
 * Reading ends after a short time, this process continues, and no file descriptor remains open. */
TEST(changed_bits_do_no_harm)
{
    enum { MUTANTS = 200 };
    uint64_t seed = 88172645463325252u;
    size_t n;
    int read = 0, crashed = 0, before;
    lra_result *r = small_result("small", 5, 0, 30);
    assert_int_equal(lra_result_write(forged, r, &err), 0);
    lra_result_free(r);
    strip(forged, bare);
    char *whole = bytes_of(bare, &n), *bytes = lra_alloc(n);
    before = count_open();
    for (int i = 0; i < MUTANTS; i++) {
        memcpy(bytes, whole, n);
        int flips = 1 + (int)(draw(&seed) % 4);
        for (int k = 0; k < flips; k++) bytes[draw(&seed) % n] ^= (char)(1 << draw(&seed) % 8);
        assert_int_equal(lra_file_write(bare, bytes, n, &err), 0);
        double start = lra_now();
        r = lra_result_read(bare, &err);
        assert_true(lra_now() - start < 30);
        read += r != NULL;
        crashed += !r && strstr(err.msg, "crashed");
        lra_result_free(r);
    }
    assert_int_equal(count_open(), before);
    assert_true(read > 0 && read < MUTANTS);
    printf("%d of %d read, %d crashed the library\n", read, MUTANTS, crashed);
    lra_free_large(whole);
    lra_free(bytes);
}

/* If the child process is killed between two requests, the reader reports a failure, even if its
 * last request has no error result. */
TEST(a_dead_child_is_a_failure)
{
    static const struct {
        int number;
        lra_cause cause;
        const char *message;
    } known[] = {{SIGSEGV, LRA_CAUSE_OTHER, "crashed on it, signal 11"},
                 {SIGXCPU, LRA_CAUSE_OTHER, "did not finish reading"},
                 /* the child had too little memory */
                 {SIGKILL, LRA_CAUSE_SYSTEM, "was ended by signal 9"}};
    lra_h5 *w = lra_h5_create(sealed, "result", &err);
    assert_int_equal(lra_h5_set_int(w, "/", "whole", 1, &err), 0);
    assert_int_equal(lra_h5_commit(w, &err), 0);
    strip(sealed, bare);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int64_t whole;
        lra_h5 *f = lra_h5_open(bare, "result", &err);
        assert_non_null(f);
        pid_t child = *(pid_t *)(void *)f->child; /* the pid is the first member of the struct */
        /* the child ignores the signal, which the whole process group of a job may receive */
        assert_int_equal(kill(child, SIGTERM), 0);
        assert_true(lra_h5_has_attr(f, "/", "whole"));
        assert_int_equal(kill(child, known[i].number), 0);
        assert_false(lra_h5_has(f, "/anything"));
        assert_int_equal(lra_h5_intact(f, &err), -1);
        if (!strstr(err.msg, known[i].message)) fail_msg("%s", err.msg);
        assert_int_equal(lra_err_cause(&err), known[i].cause);
        assert_int_equal(lra_h5_get_int(f, "/", "whole", &whole, &err), -1);
        lra_h5_close(f);
    }
}

GROUP(set_up, tear_down);
