/* Attributes of a file's root that are members of a struct. A list declares each attribute once;
 * functions write, read and free all attributes of a list. */
#ifndef LRA_REPORTS_RESULTS_ATTRIBUTE_SCHEMA_H
#define LRA_REPORTS_RESULTS_ATTRIBUTE_SCHEMA_H

#include <stddef.h>

#include "kernels/base/formats/h5.h"

typedef struct {
    const char *name;
    size_t offset;
    enum {
        LRA_ATTRIBUTE_TEXT,
        LRA_ATTRIBUTE_INT,
        LRA_ATTRIBUTE_REAL
    } kind;        /* type of the member: char *, int64_t or double */
    int64_t least; /* minimum of an int64_t; the maximum is 2^60 */
} lra_attribute;
/* First two fields of an lra_attribute: {LRA_MEMBER(lra_result, seed), LRA_ATTRIBUTE_INT, 0} */
#define LRA_MEMBER(type, member) #member, offsetof(type, member)
/* First two fields of an lra_attribute for a member of a nested struct: `record` is a member of
 * `type`, and `member` one of record. */
#define LRA_NESTED_MEMBER(type, record, member) #member, offsetof(type, record.member)

int lra_attributes_write(lra_h5 *f, const lra_attribute *field, int n, const void *record,
                         lra_err *e);
/* Reads the attributes into the record; fails if a number is out of range. The record owns the
 * texts; lra_attributes_free() frees them, also after a failure. */
int lra_attributes_read(lra_h5 *f, const lra_attribute *field, int n, void *record, lra_err *e);
void lra_attributes_free(const lra_attribute *field, int n, void *record);

#endif
