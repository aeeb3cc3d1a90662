/* Slurm job arrays (slurm_script.h). */
#include "probes/run/slurm_script.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/executable.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/shell.h"

/* The program of this process as a word of the shell: an absolute path, if it can be found. */
static char *program_word(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *found = n > 0 ? NULL : lra_process_find("lra-probe");
    if (n > 0) path[n] = 0;
    char *word = lra_shell_word(n > 0 ? path : found ? found : "lra-probe");
    lra_free(found);
    return word;
}

static int make_log_folder(const char *out, lra_err *e)
{
    char *logs = lra_format("%s/slurm", out);
    int rc = lra_folder_make(logs, e);
    lra_free(logs);
    return rc;
}

int lra_slurm_script_write(const char *path, const lra_slurm_job *job, lra_err *e)
{
    char folder[PATH_MAX];
    char *line = lra_command_words_line(job->command, e);
    if (!line) return LRA_FAILED;
    if (!getcwd(folder, sizeof folder) || strpbrk(job->out, "\n\r")) {
        lra_free(line);
        return lra_fail(e, "the working folder or the output folder has no name of one line");
    }
    int rc = make_log_folder(job->out, e);
    char *program = program_word(), *here = lra_shell_word(folder);
    lra_text t = {0};
    lra_text_add(
        &t,
        "#!/bin/sh\n"
        "# Identical workers of one sweep; submit from %s:\n"
        "#   sbatch [--partition=NAME] [--time=HH:MM:SS] [--mem=SIZE] FILE\n"
        "# Each worker takes the next run that no other worker trains. A task that Slurm stops or\n"
        "# that reaches its time limit saves its checkpoints, and is put back into the queue.\n"
        "#SBATCH --job-name=%s\n"
        "#SBATCH --array=1-%d\n"
        "#SBATCH --cpus-per-task=%d\n"
        "#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n"
        "#SBATCH --signal=B:USR1@120\n"
        "#SBATCH --output=%s/slurm/%%A_%%a.log\n\n",
        folder, job->name, job->workers, job->cpus, job->out);
    lra_text_add(&t, "cd %s || exit 1\n%s %s &\n", here, program, line);
    lra_text_add(
        &t, "%s",
        "worker=$!\n"
        "again=no\n"
        "trap 'again=yes; kill -USR1 $worker' USR1\n"
        "trap 'kill -TERM $worker' TERM # cancelled, or put back by Slurm itself\n"
        "# a signal ends wait with a code above 128 while the worker still runs\n"
        "code=129\n"
        "while [ $code -gt 128 ] && kill -0 $worker 2>/dev/null; do wait $worker; code=$?; done\n"
        "if [ $code -eq 75 ] && [ $again = yes ]; then\n"
        "    scontrol requeue \"${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}"
        "${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}\"\n"
        "fi\n"
        "exit $code\n");
    if (rc == 0) rc = lra_file_write(path, t.s, strlen(t.s), e);
    lra_text_free(&t);
    lra_free(program);
    lra_free(here);
    lra_free(line);
    return rc;
}
