/* Provenance of files (origin.h). */
#include "kernels/base/core/origin.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "kernels/base/os/executable.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/version.h"

enum { COMMAND_BYTES = 8192 };
static const char group[] = "/origin";

/* The fields of lra_origin that are texts: all but the number of threads. */
static const struct {
    const char *name, *title;
    size_t offset;
} texts[] = {{"device", "device", offsetof(lra_origin, device)},
             {"device_name", "device name", offsetof(lra_origin, device_name)},
             {"level", "instruction level", offsetof(lra_origin, level)},
             {"program", "program", offsetof(lra_origin, program)},
             {"revision", "revision", offsetof(lra_origin, revision)},
             {"compiler", "compiler", offsetof(lra_origin, compiler)},
             {"build", "build", offsetof(lra_origin, build)},
             {"libraries", "libraries", offsetof(lra_origin, libraries)},
             {"date", "date", offsetof(lra_origin, date)},
             {"command", "command", offsetof(lra_origin, command)}};
enum { N_TEXTS = sizeof texts / sizeof *texts };

static char **text_of(lra_origin *o, int i)
{
    return (char **)(void *)((char *)o + texts[i].offset);
}

static const char *value_of(const lra_origin *o, int i)
{
    return *(char *const *)(const void *)((const char *)o + texts[i].offset);
}

/* ---- here ------------------------------------------------------------------------------------ */

char *lra_date_text(char buf[32], time_t t)
{
    struct tm utc;
    if (!gmtime_r(&t, &utc) || strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) buf[0] = 0;
    return buf;
}

/* Appends a word in single quotes; if it has bytes that are not printable ASCII, as $'...\x1b'. */
static void add_word(lra_text *t, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    bool odd = false;
    for (const char *at = word; *at; at++) odd |= *at < ' ' || *at > '~';
    if (*word && word[strspn(word, plain)] == 0) {
        lra_text_add(t, "%s", word);
        return;
    }
    lra_text_add(t, odd ? "$'" : "'");
    for (; *word; word++) {
        if (*word < ' ' || *word > '~')
            lra_text_add(t, "\\x%02x", (unsigned char)*word);
        else if (odd && (*word == '\'' || *word == '\\'))
            lra_text_add(t, "\\%c", *word);
        else
            lra_text_add(t, *word == '\'' ? "'\\''" : "%c", *word);
    }
    lra_text_add(t, "'");
}

char *lra_command_text(int argc, const char *const *argv)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (int i = 0; i < argc; i++) {
        if (i > 0) lra_text_add(&t, " ");
        add_word(&t, argv[i]);
    }
    if (t.n > COMMAND_BYTES) memcpy(t.s + COMMAND_BYTES - 4, " ...", 5);
    return t.s;
}

/* Returns the command line. The name of the program is written without its folder, because the
 * folder does not influence the result. */
static char *command_of(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');
    char *path = argv[0];
    argv[0] = lra_copy_text(name ? name + 1 : path);
    lra_free(path);
    return lra_command_text(argc, (const char *const *)argv);
}

void lra_origin_here(lra_origin *o, const char *program)
{
    char date[32], **argv = NULL;
    int argc = lra_self_command(&argv);
    o->program = lra_format("%s %s", program, LRA_VERSION);
    o->revision = lra_copy_text(lra_revision());
    o->compiler = lra_copy_text(LRA_COMPILER);
    o->build = lra_copy_text(LRA_BUILD_TYPE);
    o->date = lra_copy_text(lra_date_text(date, time(NULL)));
    if (argc > 0) o->command = command_of(argc, argv);
    lra_names_free(argv, argc);
}

void lra_origin_copy(lra_origin *to, const lra_origin *from)
{
    *to = *from;
    for (int i = 0; i < N_TEXTS; i++)
        if (value_of(from, i)) *text_of(to, i) = lra_copy_text(value_of(from, i));
}

void lra_origin_free(lra_origin *o)
{
    for (int i = 0; i < N_TEXTS; i++) lra_free(*text_of(o, i));
    *o = (lra_origin){0};
}

const char *lra_level_last(const char *level)
{
    const char *last = strrchr(level, '+');
    return last ? last + 1 : level;
}

bool lra_level_same(const char *a, const char *b, bool bf16)
{
    /* in f32 these levels compute the same bits as avx512 */
    static const char *const units[] = {"avx512bf16", "amx"};
    for (int i = 0; i < 2 && !bf16; i++) {
        if (strcmp(a, units[i]) == 0) a = "avx512";
        if (strcmp(b, units[i]) == 0) b = "avx512";
    }
    return strcmp(a, b) == 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

int lra_origin_write(lra_h5 *f, const lra_origin *o, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < N_TEXTS && rc == 0; i++)
        if (value_of(o, i)) rc = lra_h5_set_text(f, group, texts[i].name, value_of(o, i), e);
    if (rc == 0 && o->threads) rc = lra_h5_set_int(f, group, "threads", o->threads, e);
    return rc;
}

static int read_text(lra_h5 *f, const char *path, const char *name, char **to, lra_err *e)
{
    if (!lra_h5_has_attr(f, path, name)) return 0;
    *to = lra_h5_attr_text(f, path, name, e);
    return *to ? 0 : LRA_FAILED;
}

/* Reads format 1: two attributes of the root, and libraries line by line. */
static int read_old(lra_h5 *f, lra_origin *o, lra_err *e)
{
    int rc = read_text(f, "/", "device", &o->device, e);
    if (rc == 0) rc = read_text(f, "/", "revision", &o->revision, e);
    if (rc != 0 || !lra_h5_has(f, "/versions")) return rc;
    o->libraries = lra_h5_get_text(f, "/versions", e);
    if (!o->libraries) return LRA_FAILED;
    size_t n = strlen(o->libraries);
    while (n > 0 && o->libraries[n - 1] == '\n') o->libraries[--n] = 0;
    for (char *at = o->libraries; (at = strchr(at, '\n')) != NULL;) *at = ';';
    return 0;
}

int lra_origin_read(lra_h5 *f, lra_origin *o, lra_err *e)
{
    int rc = 0;
    *o = (lra_origin){0};
    if (lra_h5_format(f) == 1) return read_old(f, o, e);
    for (int i = 0; i < N_TEXTS && rc == 0; i++)
        rc = read_text(f, group, texts[i].name, text_of(o, i), e);
    if (rc != 0 || !lra_h5_has_attr(f, group, "threads")) return rc;
    rc = lra_h5_get_int(f, group, "threads", &o->threads, e);
    if (rc == 0 && (o->threads < 1 || o->threads > 1 << 20))
        rc = lra_fail(e, "'threads' is %" PRId64 ", expected 1 to %d", o->threads, 1 << 20);
    return rc;
}

/* ---- people ---------------------------------------------------------------------------------- */

enum { THREADS = 3 }; /* line number of `threads`, directly after the line of `level` */

const char *lra_origin_key(int i)
{
    if (i == THREADS) return "threads";
    return texts[i > THREADS ? i - 1 : i].name;
}

const char *lra_origin_line(const lra_origin *o, int i, char **text)
{
    *text = NULL;
    if (i == THREADS) {
        if (o->threads) *text = lra_format("%" PRId64, o->threads);
        return "threads";
    }
    if (i > THREADS) i--;
    if (i >= N_TEXTS) return NULL;
    if (value_of(o, i)) *text = lra_copy_text(value_of(o, i));
    return texts[i].title;
}
