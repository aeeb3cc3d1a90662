/* Errors, memory, configurations, files, terminal: the functions on which all other parts
 * depend. */
#include "tests/fixtures/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/core/config.h"
#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/cli/progress.h"
#include "kernels/base/os/terminal.h"

static char folder[] = "/tmp/lra-base-XXXXXX";
static lra_err err;

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if files remain in the folder */
}

static char *in_folder(const char *name)
{
    return lra_format("%s/%s", folder, name);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The cause of a failure selects the advice: a file that could not be read may be intact. */
TEST(failures_have_a_cause)
{
    static const struct {
        int code;
        lra_cause cause;
    } known[] = {{EACCES, LRA_CAUSE_ACCESS}, {EPERM, LRA_CAUSE_ACCESS},  {ENOMEM, LRA_CAUSE_MEMORY},
                 {EIO, LRA_CAUSE_SYSTEM},    {EMFILE, LRA_CAUSE_SYSTEM}, {ENOENT, LRA_CAUSE_OTHER}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        errno = known[i].code;
        lra_fail_errno(&err, "cannot read '%s'", "x");
        lra_fail_in(&err, "%0600d", 1); /* this context is longer than the buffer of messages */
        assert_int_equal(lra_err_cause(&err), known[i].cause);
        lra_err again = err;
        lra_fail_as(&err, lra_err_cause(&again), "%s; do this", again.msg);
        assert_int_equal(lra_err_cause(&err), known[i].cause);
        assert_true(strlen(err.msg) < sizeof err.msg - 1);
    }
    assert_null(lra_try_alloc((size_t)1 << 62, "x", &err));
    assert_int_equal(lra_err_cause(&err), LRA_CAUSE_MEMORY);
    lra_fail(&err, "damaged");
    assert_int_equal(lra_err_cause(&err), LRA_CAUSE_OTHER);
}

TEST(printable_texts)
{
    static const struct {
        const char *text, *shown;
    } known[] = {{"plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82", NULL},
                 {"\033[2J\t\n\x7f", "?[2J???"},
                 {"\xc2\x9b"
                  "2J",
                  "??2J"},                            /* the control character CSI (U+009B) */
                 {"\xc0\xaf \xe0\x80\xaf", "?? ???"}, /* overlong UTF-8 encodings */
                 {"\xed\xa0\x80", "???"},             /* one half of a surrogate pair */
                 {"\xf4\x90\x80\x80", "????"},        /* a code point above U+10FFFF */
                 {"\xe2\x80\xae"
                  "5h",
                  "???5h"}, /* a character that reverses the direction of text */
                 {"\xd8\x9c \xe2\x81\xa9 \xe2\x80\xa8", "?? ??? ???"},
                 {"\xe2\x80\x93 \xe2\x80\x9d \xe2\x81\xa4", NULL},
                 {"cut \xe2\x82", "cut ??"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", known[i].text);
        assert_int_equal(lra_printable(text), known[i].shown == NULL);
        assert_string_equal(lra_make_printable(text),
                            known[i].shown ? known[i].shown : known[i].text);
    }
}

TEST(messages_are_built_up)
{
    assert_int_equal(lra_fail(&err, "'%s' has %d columns, expected %d", "a", 3, 2), -1);
    assert_int_equal(lra_fail_in(&err, "line %d", 7), -1);
    assert_string_equal(err.msg, "line 7: 'a' has 3 columns, expected 2");
    assert_int_equal(lra_fail_usage(&err, "no"), -2);
    errno = ENOENT;
    assert_int_equal(lra_fail_errno(&err, "cannot open '%s'", "x"), -1);
    assert_string_equal(err.msg, "cannot open 'x': No such file or directory");
    assert_int_equal(lra_fail(NULL, "nobody listens"), -1);
    char *text = lra_alloc(2000);
    memset(text, 'x', 1999);
    lra_fail(&err, "%s", text);
    /* the cause is stored in the last byte */
    assert_int_equal(strlen(err.msg), sizeof err.msg - 2);
    lra_fail_in(&err, "context");
    assert_memory_equal(err.msg, "context: xxx", 12);
    /* this text may come from a malicious file */
    lra_fail(&err, "token '%s'", "\x1b[2J\n\x7f\xc3\xa9");
    assert_string_equal(err.msg, "token '?[2J??\xc3\xa9'");
    lra_free(text);
}

/* ---- memory ---------------------------------------------------------------------------------- */

TEST(what_cannot_fit_is_refused)
{
    char *p = lra_try_alloc(1000, "workspace", &err);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    lra_free_large(p);
    lra_free_large(NULL);
    assert_null(lra_try_alloc((size_t)1 << 60, "workspace", &err));
    assert_non_null(strstr(err.msg, "'workspace' needs 1.0 EiB, "));
    assert_non_null(strstr(err.msg, " free"));
    p = lra_try_alloc(0, "nothing", &err);
    assert_non_null(p);
    lra_free_large(p);
}

TEST(the_nth_allocation_fails_on_purpose)
{
#ifdef LRA_DEBUG
    int status;
    pid_t pid = fork(); /* in a child process, because allocations are counted per process */
    if (pid == 0) {
        int calls = 0;
        setenv("LRA_FAIL_ALLOC", "3", 1);
        for (void *p = lra_try_alloc(8, "x", &err); p; p = lra_try_alloc(8, "x", &err)) {
            calls++;
            lra_free_large(p);
        }
        _exit(calls);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 2);
#else
    skip(); /* LRA_FAIL_ALLOC has an effect in Debug builds only */
#endif
}

TEST(arenas_align_and_zero)
{
    lra_arena *a = lra_arena_new();
    char *kept = lra_arena_format(a, "%s-%d", "layer", 3);
    for (size_t n = 1; n < 300000; n *= 3) {
        unsigned char *p = lra_arena_alloc(a, n);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xee, n);
    }
    assert_string_equal(kept, "layer-3");
    assert_string_equal(lra_arena_text(a, "new"), "new");
    lra_arena_free(a);
    lra_arena_free(NULL);
}

TEST(text_grows)
{
    lra_text t = {0};
    for (int i = 0; i < 1000; i++) lra_text_add(&t, "%d,", i % 10);
    lra_text_bytes(&t, "\0z", 2);
    assert_int_equal(t.n, 2002);
    assert_int_equal(t.s[2001], 'z');
    assert_int_equal(t.s[2002], 0);
    lra_text_free(&t);
    assert_null(t.s);
    char buf[32];
    assert_string_equal(lra_size_text(buf, 12), "12 bytes");
    assert_string_equal(lra_size_text(buf, 1536), "1.5 KiB");
    assert_string_equal(lra_size_text(buf, 141.2 * 1073741824), "141.2 GiB");
    assert_null(lra_copy_text(NULL));
}

/* ---- configurations -------------------------------------------------------------------------- */

TEST(configurations_are_sorted_lines)
{
    char hex[17], other[17];
    lra_config *c = lra_config_parse(" width=256\nlayers=4\tnorm=layer rate=0.1 empty= ", &err);
    assert_non_null(c);
    lra_config_set_int(c, "big", INT64_MIN);
    char *lines = lra_config_lines(c);
    assert_string_equal(lines, "big=-9223372036854775808\nempty=\nlayers=4\nnorm=layer\n"
                               "rate=0.1\nwidth=256\n");
    lra_config *same = lra_config_parse(lines, &err), *copy = lra_config_copy(c);
    lra_config_hash(c, hex);
    lra_config_hash(same, other);
    assert_string_equal(hex, other);
    assert_int_equal(strlen(hex), 16);
    lra_config_set(copy, "norm", "batch");
    lra_config_hash(copy, other);
    assert_string_not_equal(hex, other);
    assert_string_equal(lra_config_key(c, 2), "layers");
    assert_string_equal(lra_config_value(c, 2), "4");
    assert_null(lra_config_key(c, 6));
    assert_int_equal(lra_config_int(c, "layers"), 4);
    assert_true(lra_config_real(c, "rate") == 0.1);
    assert_true(lra_config_real_or(c, "none", 2.5) == 2.5);
    assert_string_equal(lra_config_text_or(c, "none", "x"), "x");
    lra_config_remove(c, "layers");
    lra_config_remove(c, "layers");
    assert_false(lra_config_has(c, "layers"));
    lra_free(lines);
    lra_config_free(c);
    lra_config_free(same);
    lra_config_free(copy);
    lra_config_free(NULL);
    assert_null(lra_config_parse("a=1 b", &err));
    assert_string_equal(err.msg, "'b' is not of the form key=value");
    assert_null(lra_config_parse("=1", &err));
}

/* ---- files ----------------------------------------------------------------------------------- */

TEST(files_are_whole_or_absent)
{
    char *path = in_folder("a"), *temporary = in_folder("a.0.tmp");
    size_t n = 0;
    assert_int_equal(lra_file_write(path, "one\0two", 7, &err), 0);
    char *bytes = lra_file_read(path, 7, &n, &err);
    assert_non_null(bytes);
    assert_int_equal(n, 7);
    assert_memory_equal(bytes, "one\0two", 8);
    lra_free_large(bytes);
    assert_null(lra_file_read(path, 6, &n, &err));
    assert_non_null(strstr(err.msg, "has 7 bytes, at most 6 are expected"));
    lra_file *w = lra_file_create(path, &err);
    assert_non_null(w);
    fputs("half", lra_file_stream(w));
    assert_true(lra_file_exists(temporary));
    lra_file_abort(w);
    assert_false(lra_file_exists(temporary));
    bytes = lra_file_read(path, 100, &n, &err);
    assert_int_equal(n, 7);
    lra_free_large(bytes);
    assert_int_equal(lra_file_remove(path, &err), 0);
    assert_int_equal(lra_file_remove(path, &err), 0);
    assert_null(lra_file_read(path, 100, &n, &err));
    assert_non_null(strstr(err.msg, "No such file"));
    assert_null(lra_file_read(folder, 1 << 20, &n, &err));
    assert_non_null(strstr(err.msg, "is not a regular file"));
    assert_int_equal(lra_file_write("/nonexistent/a", "x", 1, &err), -1);
    assert_non_null(strstr(err.msg, "cannot write '/nonexistent/a': No such file"));
    lra_free(path);
    lra_free(temporary);
}

/* A sparse file of a terabyte is rejected before memory is allocated. */
TEST(a_file_of_holes_is_not_read)
{
    char *path = in_folder("sparse");
    size_t n;
    assert_int_equal(lra_file_write(path, "data", 4, &err), 0);
    /* otherwise the file system does not support such files */
    if (truncate(path, 1099511627000) == 0) {
        assert_null(lra_file_read(path, (size_t)1 << 40, &n, &err));
        assert_non_null(strstr(err.msg, "and the others are holes"));
    }
    assert_int_equal(lra_file_remove(path, &err), 0);
    lra_free(path);
}

/* The limit on the size of files makes writes fail like a full disk. */
TEST(a_full_disk_is_reported)
{
    char *path = in_folder("f"), *temporary = in_folder("f.0.tmp");
    struct rlimit before, little = {4, 4};
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    little.rlim_max = before.rlim_max;
    /* the failure occurs at the commit (small text), or before it (large text) */
    for (int large = 0; large < 2; large++) {
        lra_file *w = lra_file_create(path, &err);
        assert_non_null(w);
        setrlimit(RLIMIT_FSIZE, &little);
        for (int i = 0; i < (large ? 100000 : 1); i++) fputs("some text", lra_file_stream(w));
        int rc = lra_file_commit(w, &err);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(rc, -1);
        assert_non_null(strstr(err.msg, "cannot write '"));
        assert_true(strstr(err.msg, "File too large") || strstr(err.msg, "disk full"));
        assert_false(lra_file_exists(path));
        assert_false(lra_file_exists(temporary));
    }
    lra_free(path);
    lra_free(temporary);
}

/* A symbolic link at the path of the temporary file is neither followed nor removed, and
 * simultaneous writers of one file use different temporary files. */
TEST(temporary_files_are_nobody_elses)
{
    char *path = in_folder("p"), *link = in_folder("p.0.tmp"), *victim = in_folder("victim");
    char *older = in_folder("p.tmp");
    size_t n;
    assert_int_equal(lra_file_write(victim, "mine", 4, &err), 0);
    assert_int_equal(symlink(victim, link), 0);
    assert_int_equal(symlink(victim, older), 0);
    lra_file *a = lra_file_create(path, &err), *b = lra_file_create(path, &err);
    assert_non_null(a);
    assert_non_null(b);
    assert_string_not_equal(lra_file_temporary(a), lra_file_temporary(b));
    fputs("of a", lra_file_stream(a));
    fputs("of b", lra_file_stream(b));
    assert_int_equal(lra_file_commit(a, &err), 0);
    assert_int_equal(lra_file_commit(b, &err), 0);
    char *found = lra_file_read(path, 100, &n, &err), *kept = lra_file_read(victim, 100, &n, &err);
    assert_string_equal(found, "of b");
    assert_string_equal(kept, "mine");
    lra_free_large(found);
    lra_free_large(kept);
    char *all[] = {path, link, victim, older};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(unlink(all[i]), 0);
        lra_free(all[i]);
    }
}

/* The temporary file of a writer that was killed is removed by the next writer of the same name or
 * when the folder is cleaned, but never while its writer is running. */
TEST(what_dead_writers_left_is_removed)
{
    char *path = in_folder("d"), *left = in_folder("d.0.tmp"), *other = in_folder("other.17.tmp");
    char *mine = in_folder("notes.x.tmp");
    assert_int_equal(close(open(left, O_CREAT | O_WRONLY, 0600)), 0);
    assert_int_equal(close(open(other, O_CREAT | O_WRONLY, 0600)), 0);
    assert_int_equal(close(open(mine, O_CREAT | O_WRONLY, 0600)), 0);
    lra_file *w = lra_file_create(path, &err);
    assert_non_null(w);
    /* the new writer uses the name of the abandoned file */
    assert_string_equal(lra_file_temporary(w), left);
    lra_folder_clean(folder);
    assert_true(lra_file_exists(left));
    assert_false(lra_file_exists(other));
    assert_true(lra_file_exists(mine));
    assert_int_equal(lra_file_commit(w, &err), 0);
    assert_false(lra_file_exists(left));
    char *all[] = {path, mine};
    for (int i = 0; i < 2; i++) assert_int_equal(unlink(all[i]), 0);
    lra_free(path), lra_free(left), lra_free(other), lra_free(mine);
}

/* Reading does not wait for a FIFO, and does not read a device without end. */
TEST(only_regular_files_are_read)
{
    char *fifo = in_folder("fifo");
    size_t n;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const char *const path[] = {fifo, "/dev/zero", "/dev/null", folder};
    for (int i = 0; i < 4; i++) {
        assert_null(lra_file_read(path[i], 1 << 20, &n, &err));
        assert_non_null(strstr(err.msg, "is not a regular file"));
        assert_null(lra_h5_open(path[i], NULL, &err));
        assert_non_null(strstr(err.msg, "is not a regular file"));
    }
    assert_int_equal(unlink(fifo), 0);
    lra_free(fifo);
}

TEST(folders_are_made_and_listed)
{
    char *deep = in_folder("x/y//z/"), *file = in_folder("x/file"), *below = in_folder("x/file/w");
    char *x = in_folder("x"), **names;
    assert_int_equal(lra_folder_make(deep, &err), 0);
    assert_int_equal(lra_folder_make(deep, &err), 0);
    assert_true(lra_is_folder(deep));
    assert_int_equal(lra_file_write(file, "", 0, &err), 0);
    assert_int_equal(lra_folder_make(below, &err), -1);
    assert_non_null(strstr(err.msg, "file'"));
    assert_int_equal(lra_folder_make("", &err), -1);
    assert_int_equal(lra_folder_list(x, &names, &err), 2);
    assert_string_equal(names[0], "file");
    assert_string_equal(names[1], "y");
    lra_names_free(names, 2);
    assert_int_equal(lra_folder_list(file, &names, &err), -1);
    assert_int_equal(lra_file_remove(file, &err), 0);
    static const char *const made[] = {"x/y/z", "x/y", "x"};
    for (int i = 0; i < 3; i++) {
        char *path = in_folder(made[i]);
        assert_int_equal(rmdir(path), 0);
        lra_free(path);
    }
    lra_free(deep);
    lra_free(file);
    lra_free(below);
    lra_free(x);
}

TEST(a_lock_names_its_holder)
{
    char *path = in_folder("lock"), holder[64];
    int status, lock = lra_lock(path, NULL, &err);
    assert_true(lock >= 0);
    snprintf(holder, sizeof holder, "is in use by process %ld", (long)getpid());
    pid_t pid = fork();
    if (pid == 0) {
        bool refused = lra_lock(path, NULL, &err) == -1 && strstr(err.msg, holder);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    lra_unlock(lock);
    pid = fork();
    if (pid == 0) _exit(lra_lock(path, NULL, &err) >= 0 ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(lra_file_remove(path, &err), 0);
    lra_free(path);
}

/* Known answers of xxHash, for the empty input and others. */
TEST(hashes_are_the_published_ones)
{
    assert_true(lra_hash64("", 0) == 0x2d06800538d394c2u);
    assert_int_equal(lra_hash32(""), 0x02cc5d05);
    assert_int_not_equal(lra_hash32("layer0"), lra_hash32("layer1"));
}

/* ---- terminal -------------------------------------------------------------------------------- */

TEST(a_file_gets_no_progress)
{
    char text[512], buf[32];
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(lra_terminal_columns(f), 80);
    int kept = dup(2);
    fflush(stderr);
    dup2(fileno(f), 2);
    lra_terminal_init(LRA_LOG_QUIET);
    lra_note("quiet");
    lra_warn("always");
    lra_terminal_init(LRA_LOG_NORMAL);
    lra_progress *p = lra_progress_new("work", 10);
    lra_progress_at(p, 5, "half");
    lra_note("epoch %d%s", 1, "\033[2J\nof 2"); /* the text contains the name of a file */
    lra_detail("detail");
    lra_progress_free(p);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    fclose(f);
    assert_string_equal(text, "warning: always\nepoch 1?[2J\nof 2\n");
    assert_string_equal(lra_time_text(buf, 252), "4 min 12 s");
    assert_string_equal(lra_time_text(buf, 3.1 * 3600), "3.1 h");
}

GROUP(set_up, tear_down);
