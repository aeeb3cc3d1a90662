/* lra-probe serve: answers LRAX/1 requests (probes/audit/frame.h) on stdin and stdout by a trained
 * model of this program. An audit of a served run gives the same measurements as lra-probe
 * influence on the run, and thus tests the protocol. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/log.h"
#include "kernels/base/os/terminal.h"
#include "models/training/session.h"
#include "probes/audit/serve_frames.h"
#include "probes/influence/context.h"
#include "probes/kernels/served_kernels.h"
#include "probes/probe.h"
#include "probes/run/finished_run.h"
#include "probes/shared/engine_responder.h"

static const lra_option own[] = {
    {.name = "weights",
     .kind = LRA_OPTION_CHOICE,
     .value = "best",
     .choices = "best|initial|last",
     .help = "weights that answer requests: of the best epoch, before training, or of the last "
             "checkpoint"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe serve",
    .summary = "Answers requests about a trained model on stdin and stdout (protocol LRAX/1).",
    .usage = "RUN",
    .examples = "  lra-probe audit --task listops --preset quick -- lra-probe serve "
                "listops-resconv-0123456789abcdef\n"
                "  lra-probe serve lra-out/runs/listops-s4d-0123456789abcdef --weights initial",
    .notes =
        "  Only answers (frames of the protocol) are written to stdout; messages go to stderr.\n"
        "  The program ends at the end of its input.",
    .min_args = 1,
    .max_args = 1,
    .tables = tables,
};

static lra_weights_kind weights_of(const lra_options *o)
{
    const char *name = lra_option_text(o, "weights");
    return strcmp(name, "initial") == 0 ? LRA_INITIAL_WEIGHTS
           : strcmp(name, "last") == 0  ? LRA_LAST_WEIGHTS
                                        : LRA_BEST_WEIGHTS;
}

/* Sets *out to a copy of the descriptor of stdout, and redirects stdout to stderr, so that printed
 * text cannot get between the frames. */
static int take_stdout(int *out, lra_err *e)
{
    fflush(stdout);
    *out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (*out < 0 || dup2(2, 1) < 0) return lra_fail_errno(e, "cannot use stdout for frames");
    return 0;
}

static int serve_run(lra_finished_run *run, const lra_options *o, int out, lra_err *e)
{
    lra_train_spec spec;
    lra_device device = run->job.device;
    lra_finished_run_spec(run, &spec);
    const lra_network_spec network = lra_session_network(&spec);
    const lra_wire_shape shape = {network.vocab, network.channels,
                                  network.head == LRA_HEAD_PAIR ? 2 : 1};
    lra_served_kernels kernels;
    lra_responder *r = lra_engine_responder_new(&spec, &device);
    lra_engine_responder_use(r, weights_of(o));
    r->facts.weights = lra_option_text(o, "weights");
    if (lra_served_kernels_open(&kernels, &spec, &device, e) == 0)
        lra_engine_responder_add_kernels(r, &kernels.base);
    else
        lra_note("kernels are not answered: %s", e->msg);
    if (!lra_context_undefined(&spec)) {
        int64_t period = lra_model_period(spec.model, spec.model_config, spec.data->longest);
        lra_engine_responder_add_head(r, period);
    }
    int rc = lra_engine_responder_add_attention(r, e);
    if (rc == 0) rc = lra_serve_frames(r, &shape, 0, out, e);
    lra_responder_close(r);
    lra_served_kernels_close(&kernels);
    lra_job_spec_free(&spec);
    return rc;
}

static int serve(const lra_options *o, lra_err *e)
{
    lra_finished_run run;
    int out = -1;
    if (lra_is_tty(stdin))
        return lra_fail_usage(e, "stdin is a terminal; expected frames of 'lra-probe audit ... -- "
                                 "lra-probe serve RUN'");
    if (take_stdout(&out, e) != 0) return LRA_FAILED;
    int rc = lra_finished_run_open(&run, lra_option_arg(o, 0), NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0) rc = serve_run(&run, o, out, e);
    lra_finished_run_close(&run);
    close(out);
    return rc;
}

const lra_probe lra_probe_serve = {"serve", "answers requests about a trained model (LRAX/1)",
                                   &command, serve};
