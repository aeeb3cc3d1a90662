/* Commands that users copy into a shell. */
#ifndef LRA_BASE_OS_SHELL_H
#define LRA_BASE_OS_SHELL_H

/* The text as one word of a POSIX shell: unchanged, or in single quotes. The caller frees it. */
char *lra_shell_word(const char *text);

#endif
