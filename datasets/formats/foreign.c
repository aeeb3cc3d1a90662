/* Recognises files of other formats. */
#include "datasets/formats/foreign.h"

#include <stdbool.h>
#include <string.h>

#define CONVERT(read)                                                                              \
    "convert it: python3 -c \"import pandas; pandas." read "('IN').to_json('OUT.jsonl', "          \
    "orient='records', lines=True)\""
#define PICKLE                                                                                     \
    "which can run code and is not read; save its arrays: numpy.savez('OUT.npz', NAME=ARRAY, ...)"

const char lra_foreign_npz[] = "an npz file; its name has to end in .npz";
const char lra_foreign_safetensors[] = "a safetensors file; its name has to end in .safetensors";

static const struct {
    const char *start;
    size_t n;
    const char *what;
} known[] = {{"PAR1", 4, "a Parquet file; " CONVERT("read_parquet")},
             {"\x1F\x8B", 2, "compressed by gzip; unpack it: gunzip -k FILE"},
             {"\xFD"
              "7zXZ",
              5, "compressed by xz; unpack it: xz -dk FILE"},
             {"BZh", 3, "compressed by bzip2; unpack it: bunzip2 -k FILE"},
             {"\x28\xB5\x2F\xFD", 4, "compressed by zstd; unpack it: zstd -d FILE"},
             {"7z\xBC\xAF\x27\x1C", 6, "a 7z archive; unpack it"},
             {"\x89HDF", 4,
              "an HDF5 file; " CONVERT(
                  "read_hdf") ", or save its arrays: numpy.savez('OUT.npz', NAME=ARRAY, ...)"},
             {"\x93NUMPY", 6,
              "one array without a name (npy); save all arrays as one file: "
              "numpy.savez('OUT.npz', values=numpy.load('IN'), label=LABELS)"},
             {"ARROW1", 6, "an Arrow file; " CONVERT("read_feather")},
             {"FEA1", 4, "a Feather file; " CONVERT("read_feather")},
             {"ORC", 3, "an ORC file; " CONVERT("read_orc")},
             {"\xD0\xCF\x11\xE0", 4, "an Excel workbook; " CONVERT("read_excel")},
             {"SQLite format 3", 15, "an SQLite database; export a table as csv"},
             {"GGUF", 4, "a GGUF file, which holds weights and no examples"}};

static bool holds(const unsigned char *p, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(p + i, word, length) == 0) return true;
    return false;
}

/* True if control characters follow: a text file may start with the same letters as a format. */
static bool is_binary(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n && i < 64; i++)
        if (p[i] < '\t') return true;
    return false;
}

/* Recognises the kind of a zip archive by the names of its first members, which are among its first
 * bytes. */
static const char *zip_format(const unsigned char *p, size_t n)
{
    if (holds(p, n, "data.pkl")) return "a PyTorch file, " PICKLE;
    if (holds(p, n, "[Content_Types].xml") || holds(p, n, "xl/"))
        return "an Excel workbook; " CONVERT("read_excel");
    if (holds(p, n, ".npy")) return lra_foreign_npz;
    return "a zip archive; unpack it";
}

const char *lra_foreign_format(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    if (n > 4096) n = 4096;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= known[i].n && memcmp(p, known[i].start, known[i].n) == 0 && is_binary(p, n))
            return known[i].what;
    if (n >= 23 && memcmp(p, "version https://git-lfs", 23) == 0)
        return "a Git LFS pointer, which stands for a file that is not there; fetch it: git lfs pull";
    if (n >= 9 && (memcmp(p, "<!DOCTYPE", 9) == 0 || memcmp(p, "<!doctype", 9) == 0 ||
                   memcmp(p, "<html", 5) == 0))
        return "an HTML page, not a file of examples; download the file again";
    if (n >= 4 && memcmp(p, "PK\3\4", 4) == 0) return zip_format(p, n);
    if (n >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5) return "a Python pickle, " PICKLE;
    if (n >= 262 && memcmp(p + 257, "ustar", 5) == 0) return "a tar archive; unpack it";
    if (n > 9 && p[6] == 0 && p[7] == 0 && p[8] == '{' && p[9] == '"')
        return lra_foreign_safetensors;
    return NULL;
}
