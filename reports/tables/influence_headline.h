/* Measurements that reports print of probe influence. */
#ifndef LRA_REPORTS_TABLES_INFLUENCE_HEADLINE_H
#define LRA_REPORTS_TABLES_INFLUENCE_HEADLINE_H

/* Ids of the measurements in tables for people (lra_measurement_is()), NULL after the last; CSV and
 * JSON contain all measurements. */
extern const char *const lra_influence_headline[];

#endif
