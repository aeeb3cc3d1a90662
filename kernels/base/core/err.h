/* Three kinds of errors, never mixed:
 *   run-time error (file, value, memory, device): fill an lra_err, return -1 or NULL;
 *   wrong command line: the same with lra_fail_usage(), which returns -2;
 *   bug (broken invariant): LRA_BUG(), which prints file:line and aborts.
 * Only main() prints an lra_err and exits: -2 becomes exit code 2, every other 1. */
#ifndef LRA_BASE_CORE_ERR_H
#define LRA_BASE_CORE_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LRA_PRINTF(text, args) __attribute__((format(printf, text, args)))
#define LRA_NORETURN           __attribute__((noreturn))
#else
#define LRA_PRINTF(text, args)
#define LRA_NORETURN
#endif

enum { LRA_OK = 0, LRA_FAILED = -1, LRA_USAGE = -2, LRA_ABSENT = -3 };

/* An error message of one line, filled on failure only: "'a.h5' has 3 columns, expected 2". The
 * last byte is its cause, see lra_err_cause(). */
typedef struct {
    char msg[512];
} lra_err;

/* Cause of an error, which decides the advice to the user: wrong contents can be generated again;
 * contents that merely cannot be read now must not be deleted. */
typedef enum {
    LRA_CAUSE_OTHER,
    LRA_CAUSE_ACCESS, /* no permission */
    LRA_CAUSE_MEMORY, /* too little memory */
    LRA_CAUSE_NEWER,  /* written by a newer version of the program */
    LRA_CAUSE_SYSTEM  /* error of the device or the network, or too many open files */
} lra_cause;
lra_cause lra_err_cause(const lra_err *e);

/* Like lra_fail(), and records the cause.  Nullable: e. */
int lra_fail_as(lra_err *e, lra_cause cause, const char *fmt, ...) LRA_PRINTF(3, 4);

/* Writes the message; always returns -1.  Nullable: e. */
int lra_fail(lra_err *e, const char *fmt, ...) LRA_PRINTF(2, 3);

/* Like lra_fail(), for a wrong command line; always returns -2. Nullable: e. */
int lra_fail_usage(lra_err *e, const char *fmt, ...) LRA_PRINTF(2, 3);

/* Like lra_fail(), for something that is missing, so that a caller that searches several places can
 * distinguish missing from broken; always returns -3. Nullable: e. */
int lra_fail_absent(lra_err *e, const char *fmt, ...) LRA_PRINTF(2, 3);

/* Prepends context to the existing message ("context: message"); always returns -1.  Nullable:
 * e. */
int lra_fail_in(lra_err *e, const char *fmt, ...) LRA_PRINTF(2, 3);

/* Appends strerror(errno) to the formatted message: "cannot open 'x': No such file or directory",
 * and sets its cause; always returns -1.  Nullable: e. */
int lra_fail_errno(lra_err *e, const char *fmt, ...) LRA_PRINTF(2, 3);

/* Reports a bug, that is a broken invariant of this program: prints file:line and the message, then
 * aborts. */
#define LRA_BUG(...) lra_bug(__FILE__, __LINE__, __VA_ARGS__)
void lra_bug(const char *file, int line, const char *fmt, ...) LRA_PRINTF(3, 4) LRA_NORETURN;

#ifdef __cplusplus
}
#endif
#endif
