/* What log lines need of the progress line: out of the way, and back. */
#ifndef LRA_BASE_PROGRESS_LINE_H
#define LRA_BASE_PROGRESS_LINE_H

void lra_progress_hide(void);
void lra_progress_show(void);

#endif
