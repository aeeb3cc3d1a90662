/* Logs of runs, as tests compare them. */
#ifndef LRA_TESTS_LOG_TEXT_H
#define LRA_TESTS_LOG_TEXT_H

#include <string.h>

/* Cuts `,"seconds":...,"time":"..."` out of every line, in place: the rest is the same for the same
 * bits. */
static inline char *without_times(char *log)
{
    char *to = log, *from = log;
    for (char *cut; (cut = strstr(from, ",\"seconds\":")) != NULL;) {
        size_t n = (size_t)(cut - from);
        memmove(to, from, n);
        to += n;
        from = cut + strcspn(cut, "}\n");
    }
    memmove(to, from, strlen(from) + 1);
    return log;
}

#endif
