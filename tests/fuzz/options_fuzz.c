/* Options: arbitrary bytes as the arguments of a command line. An accepted value is within its
 * range, and makes a job whose configuration can be printed, hashed and read again. */
#include "kernels/base/cli/program.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_WORDS = 64 };

static const lra_option own[] = {
    {.name = "kernels",
     .letter = 'k',
     .kind = LRA_OPTION_INTS,
     .min = 1,
     .max = 65535,
     .arg = "LIST"},
    {.name = "seeds", .letter = 's', .kind = LRA_OPTION_INT, .min = 1, .max = 1e9, .arg = "N"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_job_options, lra_common_options, NULL};
static const lra_command command = {.program = "lra-probe fuzz",
                                    .summary = "Reads options.",
                                    .usage = "[WORD...]",
                                    .examples = "",
                                    .max_args = 3,
                                    .tables = tables};

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const seeds[] = {
        "--task\nlistops\n--preset=quick\n--set\nkernel=7\n--seeds\n3",
        "-p\nsmall\n--set=rate=0.001\n--set=layers=2\n-q\n--kernels=1,3,5",
        "-tlistops\n--precision\nbf16\nword\n--\n--another\n--set",
        "--set=max-depth=3\n--set=op=0.25\n--set=root=op\n--set=pool=last\n-k\n5,7",
        "--checkpoint-every=0.5\n--threads=2\n-d\ncpu\n-o\nout\n-h",
        "--set=dropout=0.1\n--set=groups=4\n--set=batch=8\n--set=epochs=1\n-v\n--no-color",
    };
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    lra_text_bytes(to, seeds[i], strlen(seeds[i]));
    return true;
}

static void evaluate_pairs(const lra_options *o)
{
    for (int i = 0; lra_option_entry(&command, i); i++) {
        const lra_option *entry = lra_option_entry(&command, i);
        int64_t list[16];
        double value = entry->min;
        if (entry->kind == LRA_OPTION_FLAG) lra_option_flag(o, entry->name);
        if (entry->kind == LRA_OPTION_TEXT || entry->kind == LRA_OPTION_CHOICE)
            lra_option_text(o, entry->name);
        for (int k = 0; entry->kind == LRA_OPTION_REPEAT && lra_option_repeat(o, entry->name, k);)
            k++;
        if (!lra_option_given(o, entry->name)) continue;
        if (entry->kind == LRA_OPTION_REAL) value = lra_option_real(o, entry->name);
        if (entry->kind == LRA_OPTION_INT) value = (double)lra_option_int(o, entry->name);
        int n = entry->kind == LRA_OPTION_INTS ? lra_option_ints(o, entry->name, list, 16) : 0;
        for (int k = 0; k < n; k++)
            if ((double)list[k] < entry->min || (double)list[k] > entry->max)
                LRA_BUG("'--%s' holds %lld", entry->name, (long long)list[k]);
        if (entry->kind != LRA_OPTION_FLAG && (value < entry->min || value > entry->max))
            LRA_BUG("'--%s' is %g", entry->name, value);
    }
    for (int i = 0; i < lra_option_n_args(o); i++) lra_option_arg(o, i);
}

static void check_config(const lra_config *c)
{
    lra_err e = {{0}};
    char a[17], b[17];
    char *lines = lra_config_lines(c);
    lra_config *again = lra_config_parse(lines, &e);
    if (!again) LRA_BUG("%s", e.msg);
    lra_config_hash(c, a);
    lra_config_hash(again, b);
    if (strcmp(a, b) != 0) LRA_BUG("another configuration after printing:\n%s", lines);
    lra_config_free(again);
    lra_free(lines);
}

static void open_job(const lra_options *o)
{
    lra_err e = {{0}};
    lra_job job = {0};
    if (lra_job_open(&job, o, &e) != 0) {
        lra_fuzz_check_message(&e);
    } else {
        check_config(job.task_config);
        check_config(job.model_config);
        check_config(job.train_config);
        lra_job_reach(&job);
    }
    lra_job_close(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = lra_format("%.*s", (int)(n < 1 << 16 ? n : 1 << 16), (const char *)data);
    char *word[MAX_WORDS];
    int n_words = 0;
    for (char *at = text; at && n_words < MAX_WORDS; n_words++) {
        word[n_words] = at;
        at = strchr(at, '\n');
        if (at) *at++ = 0;
    }
    lra_err e = {{0}};
    lra_options *o = lra_options_parse(&command, n_words, word, &e);
    if (!o) {
        lra_fuzz_check_message(&e);
    } else if (!lra_options_help_wanted(o)) {
        evaluate_pairs(o);
        open_job(o);
    }
    lra_options_free(o);
    lra_free(text);
    return 0;
}
