/* Pathfinder metadata: any bytes, as text or as a NumPy array of texts; paths that are accepted stay below their
 * folder, labels are 0 or 1. */
#include "datasets/pathfinder_file.h"
#include "tests/fuzz/fuzz.h"

static void add_numpy(lra_text *to, const char *dtype, int width, int unit)
{
    static const char *const field[] = {"imgs/0", "sample_0.png", "0", "1", "1.0", "6", "2",
                                        "2",      "0.5",          "1", "1"};
    char *header = lra_format("{'descr': '%s', 'fortran_order': False, 'shape': (1, 11), }\n",
                              dtype);
    const unsigned char length[] = {(unsigned char)strlen(header), 0};
    lra_text_bytes(to, "\x93NUMPY\1\0", 8);
    lra_text_bytes(to, length, 2);
    lra_text_bytes(to, header, strlen(header));
    for (int k = 0; k < 11; k++)
        for (int c = 0; c < width; c++) {
            char element[4] = {c < (int)strlen(field[k]) ? field[k][c] : 0};
            lra_text_bytes(to, element, (size_t)unit);
        }
    lra_free(header);
}

bool lra_fuzz_seed(int i, lra_text *to)
{
    if (i == 0)
        lra_text_add(to, "imgs/0 sample_0.png 0 1 1.0 6 2 2 0.5 1 1\n"
                         "imgs/0 sample_2.png 2 0 1.0 6 2 2 0.5 1 1\r\n\n");
    if (i == 1) add_numpy(to, "<U12", 12, 4);
    if (i == 2) add_numpy(to, "|S12", 12, 1);
    return i < 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_pathfinder_list list = {0};
    if (lra_pathfinder_metadata(data, n, "f", "x", &list, &e) != 0) lra_fuzz_check_message(&e);
    for (int64_t i = 0; i < list.n; i++) {
        if (strncmp(list.path[i], "f/", 2) != 0 || strstr(list.path[i], "/../"))
            LRA_BUG("path '%s' leaves its folder", list.path[i]);
        if (list.label[i] != 0 && list.label[i] != 1) LRA_BUG("label %d", (int)list.label[i]);
    }
    lra_pathfinder_list_free(&list);
    return 0;
}
