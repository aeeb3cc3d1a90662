/* safetensors files from arbitrary bytes. An accepted file can be read to its last element, and is
 * the same after writing and reading it again. */
#include <stdio.h>
#include <unistd.h>

#include "kernels/base/formats/safetensors.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const struct {
        const char *header;
        size_t n; /* size of the data in bytes */
    } seeds[] = {
        {"{\"__metadata__\":{\"lra.format\":\"1\"},"
         "\"a\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
         "\"b/c\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[16,40]},"
         "\"s\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[40,42]}}      ",
         42},
        {"{\"z\":{\"dtype\":\"BF16\",\"shape\":[0,3],\"data_offsets\":[4,4]},"
         "\"y\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         4},
        {"{\"q\" : {\n\"shape\":[1,1,1,1,1,1,1,2], \"data_offsets\":[0,16],\t\"dtype\":\"C64\"}}",
         16},
        {"{\"f\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"\\u00e9\":{\"dtype\":\"F8_E5M2\",\"shape\":[1],\"data_offsets\":[1,2]}}",
         2},
        {"{\"__metadata__\":{}}", 0},
        {"{}", 0},
    };
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    size_t length = strlen(seeds[i].header);
    const unsigned char start[8] = {length & 255, (unsigned char)(length >> 8)};
    lra_text_bytes(to, start, sizeof start);
    lra_text_bytes(to, seeds[i].header, length);
    for (size_t k = 0; k < seeds[i].n; k++) lra_text_bytes(to, k % 3 ? "\0" : "\1", 1);
    return true;
}

static void read_all(const lra_ndarray *a, size_t n_file)
{
    lra_err e = {{0}};
    if ((uint64_t)a->n * a->element > n_file)
        LRA_BUG("%lld elements of %zu bytes in a file of %zu", (long long)a->n, a->element, n_file);
    float *floats = lra_alloc_array((size_t)a->n + 1, sizeof *floats);
    if (lra_ndarray_get_f32(a, "x", floats, &e) != 0) lra_fuzz_check_message(&e);
    lra_free(floats);
}

static bool same_array(const lra_ndarray *a, const lra_ndarray *b)
{
    return b && a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           (a->n == 0 || memcmp(a->bytes, b->bytes, (size_t)a->n * a->element) == 0);
}

static void check_round_trip(const lra_safetensors *t)
{
    char path[64];
    lra_err e = {{0}};
    lra_safetensors again;
    snprintf(path, sizeof path, "/tmp/lra-fuzz-%ld.safetensors", (long)getpid());
    if (lra_safetensors_write(path, t->n, t->tensor, t->meta, &e) != 0) LRA_BUG("%s", e.msg);
    if (lra_safetensors_read(path, &again, &e) != 0) LRA_BUG("%s", e.msg);
    bool same = again.n == t->n;
    for (int i = 0; i < t->n && same; i++)
        same = same_array(&t->tensor[i].array, lra_safetensors_find(&again, t->tensor[i].name));
    char *a = lra_config_lines(t->meta), *b = lra_config_lines(again.meta);
    if (!same || strcmp(a, b) != 0) LRA_BUG("arrays change when they are written and read");
    lra_free(a);
    lra_free(b);
    lra_safetensors_free(&again);
    remove(path);
}

/* Only one accepted input in 64 is written, because writing a file takes time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_safetensors t;
    if (lra_safetensors_parse(data, n, "x", &t, &e) != 0) {
        lra_fuzz_check_message(&e);
    } else {
        for (int i = 0; i < t.n; i++) read_all(&t.tensor[i].array, n);
        if (t.hash % 64 == 0) check_round_trip(&t);
    }
    lra_safetensors_free(&t);
    return 0;
}
