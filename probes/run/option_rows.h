/* Options shared by several commands: one row each, with a help text for each command. */
#ifndef LRA_PROBES_RUN_OPTION_ROWS_H
#define LRA_PROBES_RUN_OPTION_ROWS_H

#include "kernels/base/cli/options.h"
#include "probes/run/key_tables.h"

/* clang-format off */
#define LRA_MODEL_OPTION(text)                                                                     \
    {.name = "model", .letter = 'm', .kind = LRA_OPTION_TEXT, .value = "resconv", .arg = "MODEL",  \
     .help = text " ('lra-probe list models')"}
#define LRA_PRESET_OPTION(text)                                                                    \
    {.name = "preset", .letter = 'p', .kind = LRA_OPTION_CHOICE, .value = "quick",                 \
     .choices = "quick|small|paper", .help = text}
#define LRA_SET_OPTION(of)                                                                         \
    {.name = "set", .kind = LRA_OPTION_REPEAT, .arg = "KEY=VALUE", .key = lra_key_name,                 \
     .help = "set one parameter of " of "; same as --KEY VALUE, may be repeated"}
#define LRA_THREADS_OPTION(zero)                                                                   \
    {.name = "threads", .kind = LRA_OPTION_INT, .value = "0", .min = 0, .max = 1024, .arg = "N",   \
     .help = "number of threads (0 = " zero ")"}
#define LRA_DEVICE_OPTION(default_device, text)                                                             \
    {.name = "device", .letter = 'd', .kind = LRA_OPTION_TEXT, .value = default_device, .arg = "DEVICE",    \
     .help = text}
#define LRA_OUT_OPTION(text)                                                                       \
    {.name = "out", .letter = 'o', .kind = LRA_OPTION_TEXT, .value = "lra-out", .arg = "DIR",      \
     .help = text}
#define LRA_DATA_DIR_OPTION(text)                                                                  \
    {.name = "data-dir", .kind = LRA_OPTION_TEXT, .arg = "DIR",                                    \
     .help = "folder of official raw files" text}
/* Notes of commands that take own data, below their options. */
#define LRA_OWN_DATA_NOTES                                                                         \
    "  Own data (task 'file'): --text, --tokens or --values NAME names the column of the inputs,\n" \
    "  --label NAME the column of the labels (none: the data have no labels), --split NAME the\n"  \
    "  column that contains train, val or test; by default columns are found by their usual\n"     \
    "  names. --goal value predicts numbers, --length N truncates inputs to N tokens, --vocab N\n" \
    "  sets the number of token ids."
#define LRA_COUNT_OPTION(word, default_device, least, most, text)                                           \
    {.name = word, .kind = LRA_OPTION_INT, .value = default_device, .min = least, .max = most, .arg = "N",  \
     .help = text}
#define LRA_QUERIES_OPTION(text) LRA_COUNT_OPTION("queries", "32", 0, 1e9, text)
#define LRA_SEEDS_OPTION(text)                                                                     \
    {.name = "seeds", .letter = 's', .kind = LRA_OPTION_TEXT, .arg = "N|LIST",                     \
     .help = "number of seeds of every " text                                                      \
             ", or a list such as 0,2,5 or 3-7 (default: the preset's)"}
#define LRA_JOBS_OPTION(what)                                                                      \
    {.name = "jobs", .letter = 'j', .kind = LRA_OPTION_INT, .value = "1", .min = 1,                \
     .max = LRA_MOST_JOBS, .arg = "N",                                                             \
     .help = "number of " what " trained at the same time, each in a separate process"}
#define LRA_DRY_RUN_OPTION(text) {.name = "dry-run", .kind = LRA_OPTION_FLAG, .help = text}
#define LRA_JSON_OPTION(text)  {.name = "json", .kind = LRA_OPTION_FLAG, .help = text}
#define LRA_LOCK_OPTIONS                                                                           \
    {.name = "locks", .kind = LRA_OPTION_CHOICE, .value = "auto", .choices = "auto|claims|none",   \
     .arg = "KIND",                                                                                \
     .help = "locks between processes: auto = locks of the file system, or claim files if it has " \
             "none; claims = claim files (*.claim), for file systems whose locks do not reach "    \
             "other machines; none = no locks, so that only one process may use the folder"},      \
    {.name = "break-locks", .kind = LRA_OPTION_FLAG,                                               \
     .help = "take over claim files of processes on other machines at once (default: only those " \
             "that have not been renewed for 300 s)"},                                             \
    {.name = "no-locks", .kind = LRA_OPTION_FLAG, .help = "same as --locks none"}
#define LRA_RETRY_OPTION                                                                           \
    {.name = "retry", .kind = LRA_OPTION_FLAG,                                                     \
     .help = "train runs again that failed before; without it they are skipped, and the command "  \
             "fails at its end"}
#define LRA_FORCE_OPTION(text) {.name = "force", .kind = LRA_OPTION_FLAG, .help = text}
/* clang-format on */

#endif
