/* Adds metadata to images: PNG chunks (PNG specification, 11.3), an incremental update at the end
 * of a PDF (ISO 32000-1, 7.5.6), and two elements of an SVG. This code is short and avoids a
 * dependency on libraries for PDF and PNG. */
#include "reports/draw/image_metadata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/draw/plot.h"

/* Replaces n bytes of the image at offset `at` by other bytes. */
static void replace(lra_text *image, size_t at, size_t n, const lra_text *by)
{
    lra_text rest = {0};
    lra_text_bytes(&rest, image->s + at + n, image->n - at - n);
    image->n = at;
    lra_text_bytes(image, by->s, by->n);
    lra_text_bytes(image, rest.s ? rest.s : "", rest.n);
    lra_text_free(&rest);
}

static char plain(char c)
{
    return c >= ' ' && c < 0x7F ? c : '?';
}

/* ---- PNG ------------------------------------------------------------------------------------- */

static uint32_t crc32_of(const char *s, size_t n)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)s[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

static void add_u32(lra_text *t, uint32_t x)
{
    const char bytes[] = {(char)(x >> 24), (char)(x >> 16), (char)(x >> 8), (char)x};
    lra_text_bytes(t, bytes, sizeof bytes);
}

/* Appends a PNG chunk. body: its type and its data. */
static void add_chunk(lra_text *t, const lra_text *body)
{
    add_u32(t, (uint32_t)(body->n - 4));
    lra_text_bytes(t, body->s, body->n);
    add_u32(t, crc32_of(body->s, body->n));
}

static void add_png_text(lra_text *t, const char *keyword, const char *text)
{
    lra_text body = {0};
    lra_text_add(&body, "tEXt%s", keyword);
    lra_text_bytes(&body, "", 1);
    for (; *text; text++) lra_text_bytes(&body, &(char){plain(*text)}, 1);
    add_chunk(t, &body);
    lra_text_free(&body);
}

static int add_to_png(lra_text *image, const char *title, const char *description)
{
    /* size in bytes of the signature and the chunk IHDR; text chunks can follow them */
    enum { HEAD = 33 };
    if (image->n < HEAD || memcmp(image->s, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) != 0)
        return LRA_FAILED;
    lra_text chunks = {0}, dots = {0};
    lra_text_add(&dots, "pHYs");
    for (int i = 0; i < 2; i++) add_u32(&dots, (uint32_t)(LRA_PNG_DPI / 0.0254 + 0.5));
    lra_text_bytes(&dots, "\1", 1); /* unit of the resolution: 1 = dots per metre */
    add_chunk(&chunks, &dots);
    add_png_text(&chunks, "Title", title);
    add_png_text(&chunks, "Description", description);
    replace(image, HEAD, 0, &chunks);
    lra_text_free(&dots);
    lra_text_free(&chunks);
    return 0;
}

/* ---- SVG ------------------------------------------------------------------------------------- */

static void add_xml(lra_text *t, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '<': lra_text_add(t, "&lt;"); break;
        case '>': lra_text_add(t, "&gt;"); break;
        case '&': lra_text_add(t, "&amp;"); break;
        default: lra_text_add(t, "%c", plain(*text));
        }
}

/* Replaces gnuplot's own metadata, from the first <title> to the first </desc>. */
static int add_to_svg(lra_text *image, const char *title, const char *description)
{
    const char *from = image->s ? strstr(image->s, "<title>") : NULL,
               *to = from ? strstr(from, "</desc>") : NULL;
    if (!to) return LRA_FAILED;
    lra_text t = {0};
    lra_text_add(&t, "<title>");
    add_xml(&t, title);
    lra_text_add(&t, "</title>\n<desc>");
    add_xml(&t, description);
    replace(image, (size_t)(from - image->s), (size_t)(to - from), &t);
    lra_text_free(&t);
    return 0;
}

/* ---- PDF ------------------------------------------------------------------------------------- */

static void add_pdf_text(lra_text *t, const char *key, const char *text)
{
    lra_text_add(t, "   /%s (", key);
    for (; *text; text++) lra_text_add(t, strchr("()\\", *text) ? "\\%c" : "%c", plain(*text));
    lra_text_add(t, ")\n");
}

/* Last occurrence of a text in n bytes; NULL: none. */
static const char *find_last(const char *s, size_t n, const char *what)
{
    size_t length = strlen(what);
    for (size_t at = n >= length ? n - length + 1 : 0; at-- > 0;)
        if (memcmp(s + at, what, length) == 0) return s + at;
    return NULL;
}

/* Fields of the file trailer that an incremental update needs. */
typedef struct {
    unsigned long long size, root,
        /* size: number of objects; root: number of the catalogue; table: offset of the
         * cross-reference table */
        table;
    bool stream; /* the cross-reference table is a stream, as in files of cairo 1.17.6 and later */
} pdf_tail;

static bool read_tail(const lra_text *image, pdf_tail *p)
{
    const char *start = image->s ? find_last(image->s, image->n, "startxref") : NULL;
    if (!start || memcmp(image->s, "%PDF-", 5) != 0) return false;
    p->table = strtoull(start + 9, NULL, 10);
    if (p->table >= image->n) return false;
    const char *table = image->s + p->table, *size = strstr(table, "/Size "), *root;
    p->stream = strncmp(table, "xref", 4) != 0;
    root = strstr(table, "/Root ");
    if (!size || !root) return false;
    p->size = strtoull(size + 6, NULL, 10);
    p->root = strtoull(root + 6, NULL, 10);
    return p->size > 0 && p->root > 0;
}

/* Appends an object with the metadata, a cross-reference table with its offset, and a trailer. The
 * table has the same format as the existing one. */
static int add_to_pdf(lra_text *image, const char *title, const char *description)
{
    pdf_tail p;
    if (!read_tail(image, &p)) return LRA_FAILED;
    lra_text_add(image, "\n");
    size_t info = image->n;
    lra_text_add(image, "%llu 0 obj\n<<\n", p.size);
    add_pdf_text(image, "Title", title);
    add_pdf_text(image, "Subject", description);
    add_pdf_text(image, "Creator", "lra-report, gnuplot");
    lra_text_add(image, ">>\nendobj\n");
    size_t table = image->n;
    if (p.stream) {
        lra_text_add(
            image,
            "%llu 0 obj\n<< /Type /XRef /Size %llu /Root %llu 0 R /Info %llu 0 R /Prev %llu\n"
            "   /Index [%llu 2] /W [1 4 1] /Length 12 >>\nstream\n",
            p.size + 1, p.size + 2, p.root, p.size, p.table, p.size);
        const size_t place[] = {info, table};
        for (int i = 0; i < 2; i++) {
            lra_text_bytes(image, "\1", 1);
            add_u32(image, (uint32_t)place[i]);
            lra_text_bytes(image, "", 1);
        }
        lra_text_add(image, "\nendstream\nendobj\n");
    } else {
        lra_text_add(image,
                     "xref\n%llu 1\n%010zu 00000 n \ntrailer\n"
                     "<< /Size %llu /Root %llu 0 R /Info %llu 0 R /Prev %llu >>\n",
                     p.size, info, p.size + 1, p.root, p.size, p.table);
    }
    lra_text_add(image, "startxref\n%zu\n%%%%EOF\n", table);
    return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

int lra_metadata_add(lra_text *image, const char *format, const char *title,
                     const char *description, lra_err *e)
{
    static const struct {
        const char *format;
        int (*add)(lra_text *image, const char *title, const char *description);
    } kind[] = {{"pdf", add_to_pdf}, {"svg", add_to_svg}, {"png", add_to_png}};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        if (strcmp(kind[i].format, format) == 0)
            return kind[i].add(image, title, description) == 0
                       ? 0
                       : lra_fail(e, "the file that gnuplot wrote is not in %s format", format);
    LRA_BUG("unknown image format '%s'", format);
}
