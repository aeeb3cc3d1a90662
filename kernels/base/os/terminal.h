/* Terminal output: verbosity and width. Results go to stdout, everything else to stderr; there are
 * no colours. */
#ifndef LRA_BASE_OS_TERMINAL_H
#define LRA_BASE_OS_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum { LRA_LOG_QUIET, LRA_LOG_NORMAL, LRA_LOG_VERBOSE } lra_log_level;

/* Sets the verbosity. Called once, by main(). */
void lra_terminal_init(lra_log_level level);
lra_log_level lra_terminal_level(void);
bool lra_is_tty(FILE *f);

int lra_terminal_columns(FILE *f); /* width of the terminal in columns; 80 if it is unknown */

/* Duration for people: "4 min 12 s", "3.1 h". Returns buf. */
char *lra_time_text(char buf[32], double seconds);
double lra_now(void); /* monotonic time in seconds */

#endif
