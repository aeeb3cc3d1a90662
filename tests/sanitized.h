#ifndef LRA_TESTS_SANITIZED_H
#define LRA_TESTS_SANITIZED_H

/* The build with sanitizers, where everything is slow, walks the same code but leaves most numbers
 * (derivatives, models' variants at lower levels, statistics of many images) to the other build,
 * which `./bootstrap test` runs before it. */
#if defined(LRA_DEBUG)
enum { sanitized = 1 };
#else
enum { sanitized = 0 };
#endif

#endif
