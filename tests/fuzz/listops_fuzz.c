/* ListOps TSV files from arbitrary bytes. Rows that are accepted have a value; they are the same
 * after writing and reading them again. */
#include <stdio.h>
#include <unistd.h>

#include "datasets/listops/file.h"
#include "datasets/listops/tree.h"
#include "kernels/base/os/file.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const seeds[] = {
        "Source\tTarget\r\n( ( ( [MAX 4 ) ( ( ( [MIN 2 ) 3 ) ] ) ) ] )\t4\r\n",
        "Source\tTarget\n( ( ( [SM 9 ) 8 ) ] )\t7\n7\t7\n",
        "Target\tSource\n4\t[MED 1 4 9 ]\n3\t[MED 2 4 ]",
        "4\t[MAX 4 [MIN 2 3 ] ]\n[MAX 4 [MIN 2 3 ] ]\t4\n",
        "[SM [SM [SM 1 1 ] [MED 5 6 7 8 ] ] [MAX 0 ] ]\t8\n",
    };
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    lra_text_bytes(to, seeds[i], strlen(seeds[i]));
    return true;
}

static void check_rows(const lra_sequences *r, bool labels_checked)
{
    for (int64_t i = 0; i < r->n; i++) {
        lra_err e = {{0}};
        const uint16_t *token = r->token + r->start[i];
        int64_t n = r->start[i + 1] - r->start[i];
        if (n < 2 || token[n - 1] != LISTOPS_EOS) LRA_BUG("row %lld has no end", (long long)i);
        for (int64_t k = 0; k < n; k++)
            if (token[k] >= LISTOPS_VOCAB) LRA_BUG("token %d", token[k]);
        int value = lra_listops_value(token, n, LISTOPS_WHOLE, false, &e);
        if (value < 0 || value > 9 || r->label[i] < 0 || r->label[i] > 9 ||
            (labels_checked && value != r->label[i]))
            LRA_BUG("row %lld: value %d, label %d", (long long)i, value, r->label[i]);
    }
}

/* Only one input in 64 is written, because writing a file takes time. */
static void check_round_trip(const lra_sequences *r)
{
    char path[64];
    lra_err e = {{0}};
    snprintf(path, sizeof path, "/tmp/lra-fuzz-listops-%ld.tsv", (long)getpid());
    lra_sequences again = {0};
    if (lra_listops_write(path, r, &e) != 0) LRA_BUG("%s", e.msg);
    if (lra_listops_read(path, false, &again, &e) != 0) LRA_BUG("%s", e.msg);
    if (again.n != r->n ||
        memcmp(again.start, r->start, (size_t)(r->n + 1) * sizeof *r->start) != 0 ||
        memcmp(again.token, r->token, (size_t)r->start[r->n] * sizeof *r->token) != 0 ||
        memcmp(again.label, r->label, (size_t)r->n * sizeof *r->label) != 0)
        LRA_BUG("rows change when they are written and read");
    lra_sequences_free(&again);
    remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int check = 0; check < 2; check++) {
        lra_err e = {{0}};
        lra_sequences rows = {0};
        if (lra_listops_parse((const char *)data, n, "x", check, &rows, &e) != 0)
            lra_fuzz_check_message(&e);
        check_rows(&rows, check);
        if (e.msg[0] == 0 && lra_hash64(data, n) % 64 == 0) check_round_trip(&rows);
        lra_sequences_free(&rows);
    }
    return 0;
}
