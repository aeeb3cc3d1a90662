/* Pathfinder metadata, text or NumPy, from arbitrary bytes. What is accepted has names of files
 * inside of the folder and labels 0 and 1. */
#include "datasets/pathfinder/metadata.h"
#include "tests/fuzz/fuzz.h"

/* Appends an npy table of one row of 11 strings, each with `width` characters of `unit` bytes. */
static void add_table(lra_text *to, const char *descr, size_t unit, size_t width, bool fortran)
{
    static const char *const field[] = {"imgs/0", "s_0.png", "0", "1", "1.0", "14",
                                        "4",      "2",       "0", "1", "1"};
    char *header = lra_format("{'descr': '%s', 'fortran_order': %s, 'shape': (1, 11), }\n", descr,
                              fortran ? "True" : "False");
    const uint8_t start[] = {1, 0, (uint8_t)strlen(header), 0};
    lra_text_bytes(to, "\x93NUMPY", 6);
    lra_text_bytes(to, start, sizeof start);
    lra_text_bytes(to, header, strlen(header));
    for (int i = 0; i < 11; i++)
        for (size_t k = 0; k < width; k++) {
            lra_text_bytes(to, k < strlen(field[i]) ? field[i] + k : "", 1);
            lra_text_bytes(to, "\0\0\0", unit - 1);
        }
    lra_free(header);
}

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const texts[] = {
        "imgs/0 sample_0.png 0 0 1.0 14 4 2 0.5 1 1\nimgs/0 sample_1.png 1 1 1.0 14 4 2 0.5 1 1\n",
        "imgs/3\tsample_9.png 9 1  1.8 6 2 2 0.75 1 0.1\r\n\n", ""};
    if (i < 3) lra_text_bytes(to, texts[i], strlen(texts[i]));
    if (i == 3) add_table(to, "<U8", 4, 8, false);
    if (i == 4) add_table(to, "|S7", 1, 7, true);
    return i < 5;
}

static void check(const lra_pathfinder_list *l)
{
    for (int64_t i = 0; i < l->n; i++) {
        char *path = lra_format("/%s/", l->path[i]);
        if (strstr(path, "/../") || strstr(path, "/./") || strstr(path, "//"))
            LRA_BUG("'%s' is not a file below its folder", l->path[i]);
        lra_free(path);
        if (l->label[i] != 0 && l->label[i] != 1) LRA_BUG("label %d", l->label[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_pathfinder_list list = {0};
    if (lra_pathfinder_metadata(data, n, "x", &list, &e) != 0) lra_fuzz_check_message(&e);
    check(&list);
    lra_pathfinder_list_free(&list);
    return 0;
}
