/* Writes, reads and frees the attributes of a struct by a list (attribute_schema.h). */
#include "reports/results/attribute_schema.h"

#include "kernels/base/core/mem.h"

static void *member(const lra_attribute *f, void *record)
{
    return (char *)record + f->offset;
}

int lra_attributes_write(lra_h5 *f, const lra_attribute *field, int n, const void *record,
                         lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        const void *at = (const char *)record + field[i].offset;
        const char *name = field[i].name;
        switch (field[i].kind) {
        case LRA_ATTRIBUTE_TEXT: rc = lra_h5_set_text(f, "/", name, *(char *const *)at, e); break;
        case LRA_ATTRIBUTE_INT: rc = lra_h5_set_int(f, "/", name, *(const int64_t *)at, e); break;
        case LRA_ATTRIBUTE_REAL: rc = lra_h5_set_real(f, "/", name, *(const double *)at, e); break;
        }
    }
    return rc;
}

static int read_int(lra_h5 *f, const lra_attribute *field, int64_t *to, lra_err *e)
{
    if (lra_h5_get_int(f, "/", field->name, to, e) != 0) return LRA_FAILED;
    if (*to >= field->least && *to <= (int64_t)1 << 60) return 0;
    return lra_fail(e, "'%s' is %lld, expected %lld to 2^60", field->name, (long long)*to,
                    (long long)field->least);
}

int lra_attributes_read(lra_h5 *f, const lra_attribute *field, int n, void *record, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        void *at = member(&field[i], record);
        const char *name = field[i].name;
        switch (field[i].kind) {
        case LRA_ATTRIBUTE_TEXT:
            *(char **)at = lra_h5_attr_text(f, "/", name, e);
            rc = *(char **)at ? 0 : LRA_FAILED;
            break;
        case LRA_ATTRIBUTE_INT: rc = read_int(f, &field[i], at, e); break;
        case LRA_ATTRIBUTE_REAL: rc = lra_h5_get_real(f, "/", name, at, e); break;
        }
    }
    return rc;
}

void lra_attributes_free(const lra_attribute *field, int n, void *record)
{
    for (int i = 0; i < n; i++)
        if (field[i].kind == LRA_ATTRIBUTE_TEXT) lra_free(*(char **)member(&field[i], record));
}
