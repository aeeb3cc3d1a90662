"""Faults of a model and the messages about them: every row of the table is a test.  The table below names the test of each fault.

Faults that other files test are named by file and test; a test of this file checks that they exist.
"""
# labels: slow; timeout: 1200

import ast
import contextlib
import io
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import lra_locality as ll
from small_models import C, T, V, has

FAULTS = {
    "prints to stdout": "faults_test.test_model_that_prints",
    "raises": "audit_test.test_model_that_raises",
    "returns NaN": "check_test.test_nan",
    "wrong shape": "faults_test.test_wrong_shapes",
    "wrong batch size": "faults_test.test_wrong_shapes",
    "is on another device": "faults_test.test_another_device",
    "hangs": "faults_test.test_model_that_hangs",
    "is killed": "faults_test.test_model_process_is_killed",
    "the program is killed": "audit_test.test_killed_program",
    "leaks padding": "check_test.test_ignored_mask_is_not_passed",
    "mixes the examples of a batch": "check_test.test_time_first",
    "changes weights when called": "check_test.test_weights_that_change",
    "random outputs": "check_test.test_random_outputs",
    "needs a pad id": "wrap_test.test_batch_of_one_is_found_and_said",
    "batch of one only": "faults_test.test_batch_of_one",
    "output in bf16": "forms_test.bfloat16",
    "output on the GPU": "faults_test.test_another_device",
    "tuple": "forms_test.tuple",
    "dictionary": "forms_test.dictionary",
    "dataclass": "forms_test.dataclass",
    "packed sequences": "forms_test.packed LSTM",
    "KeyboardInterrupt in a notebook": "faults_test.test_interrupt_in_a_notebook",
    "KeyboardInterrupt in the model": "audit_test.test_interrupt",
    "a fork": "faults_test.test_forks",
    "two audits at once": "audit_options_test.test_two_audits_at_once",
    "the program is missing": "audit_test.test_missing_and_foreign_programs",
    "wrong architecture": "faults_test.test_foreign_architecture",
}
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(ll.__file__)))


def logits(x):
    return np.eye(C)[np.asarray(x)[:, 0] % C] + 0.1 * np.eye(C)[np.asarray(x)[:, -1] % C]


def children():
    """Child processes of this process that have not ended."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            out.append(int(pid))
    return out


def audit_in_a_fork(rows, out, queue):
    try:
        a = ll.audit(
            ll.wrap(logits, vocab=V, name="forked", quiet=True),
            rows,
            parts=["position"],
            examples=4,
            check=False,
            out=out,
            quiet=True,
        )
        queue.put(len(a.records()))
    except Exception as e:
        queue.put(repr(e))


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.d = folder.name
        x = np.random.default_rng(1).integers(0, V, (200, T))
        self.rows = ll.rows((x, logits(x).argmax(1)), vocab=V, name="faults")

    def audit(self, model=logits, **options):
        self.needs_program()
        m = model if isinstance(model, ll.Model) else ll.wrap(model, vocab=V, name="net", quiet=True)
        options = {"parts": ["position"], "examples": 4, "check": False, "quiet": True, **options}
        before = children()
        try:
            return ll.audit(m, self.rows, out=os.path.join(self.d, "o"), **options)
        finally:
            self.assertEqual([p for p in children() if p not in before], [])

    def needs_program(self):
        try:
            if ll.programs.run(["audit", "--help"], check=False).returncode != 0:
                self.skipTest("this lra-probe has no audit")
        except ll.ProgramError as e:
            self.skipTest(str(e))

    def fails(self, pattern, error=None, **options):
        with self.assertRaisesRegex(error or ll.AuditError, pattern):
            self.audit(**options)

    # ---- the table

    def test_every_row_has_its_test(self):
        from small_models import FORMS

        names = {form[0] for form in FORMS}
        for fault, where in FAULTS.items():
            file, test = where.split(".", 1)
            if file == "forms_test":
                self.assertIn(test, names, fault)
                continue
            with open(os.path.join(HERE, f"{file}.py")) as f:
                tree = ast.parse(f.read())
            defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
            self.assertIn(test, defined, fault)

    # ---- the model

    def test_model_that_prints(self):
        """Text on stdout is no part of the protocol: the model is in this process, its prints stay there."""

        def loud(x):
            print("Loading checkpoint")
            os.write(1, b"")
            return logits(x)

        with contextlib.redirect_stdout(io.StringIO()) as said:
            a = self.audit(loud)
        self.assertIn("Loading checkpoint", said.getvalue())
        self.assertTrue(a.records())
        self.assertEqual(a.records(), self.audit().records())

    def test_wrong_shapes(self):
        for model, pattern in (
            (lambda x: logits(x)[:1], "returned shape .* for a batch of 2"),
            (lambda x: np.zeros((len(x), 2, 3, 4)), "returned shape .2, 2, 3, 4. for a batch of 2"),
            (lambda x: np.array(["a"] * len(x)), "returned <U1, expected real numbers"),
            (lambda x: None, "returned a NoneType, expected an array of logits; pass output="),
        ):
            with self.assertRaisesRegex(ll.WrapError, pattern):
                ll.wrap(model, vocab=V, quiet=True)
        # A shape that is wrong for some batches ends the audit with the shape.
        self.fails(
            "returned shape .2, 3. for a batch of", model=lambda x: logits(x)[: 2 if len(x) > 2 else None]
        )

    def test_wrong_number_of_classes(self):
        self.fails("the model has 2 outputs, .* has 3", model=lambda x: logits(x)[:, :2])

    def test_another_device(self):
        if not has("torch"):
            self.skipTest("needs torch")
        import torch
        from small_models import Cnn

        with self.assertRaisesRegex(ll.WrapError, "device='cuda', and the model 'Cnn' is on cpu"):
            ll.wrap(Cnn(), device="cuda", quiet=True)
        if torch.cuda.is_available():
            m = ll.wrap(Cnn().cuda(), quiet=True)
            self.assertEqual(m.logits(m.sample(T)).dtype, np.float32)

    def test_model_that_hangs(self):
        """The program gives up after its time limit; its message is the error once the model returns."""
        limit = threading.Event()

        def hangs(x):
            if len(x) > 2:
                limit.wait(60)
            return logits(x)

        self.needs_program()
        m = ll.wrap(hangs, vocab=V, name="net", quiet=True)
        out = os.path.join(self.d, "h")
        watch = threading.Thread(target=self._release, args=(children(), limit))
        watch.start()
        try:
            with self.assertRaisesRegex(ll.AuditError, "(?s)1 s"):
                ll.audit(m, self.rows, check=False, out=out, quiet=True, options=["--model-timeout", "1"])
        finally:
            limit.set()
            watch.join()

    def _release(self, before, limit):
        """Lets the model return when the program, which was started later, has ended."""
        started = False
        while not limit.is_set():
            now = [p for p in children() if p not in before]
            started = started or bool(now)
            if started and not now:
                limit.set()
            limit.wait(0.01)

    def test_model_process_is_killed(self):
        """A program that serves a model and is killed: the message names the signal."""
        self.rows.save(os.path.join(self.d, "rows.jsonl"))
        try:
            done = ll.programs.run(
                [
                    *"audit --task file --tokens tokens --label label --no-check --data-dir".split(),
                    os.path.join(self.d, "rows.jsonl"),
                    *["--out", self.d, "--", sys.executable, "-c"],
                    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
                ],
                check=False,
            )
        except ll.ProgramError as e:
            self.skipTest(str(e))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "model ended (with|by) .*(signal|SIGKILL|Killed)")

    def test_batch_of_one(self):
        def one(x):
            if len(x) != 1:
                raise ValueError("one example, please")
            return logits(x)

        m = ll.wrap(one, vocab=V, name="net", quiet=True)
        self.assertEqual(m.max_batch, 1)
        self.assertIn("one example at a time", str(m))
        self.assertEqual(self.audit(m).records(), self.audit().records())

    # ---- processes

    def test_interrupt_in_a_notebook(self):
        """SIGINT to this process, as a notebook's stop button sends it: no child is left, results are kept."""
        code = f"""
import os, signal, sys
sys.path[:0] = {[SOURCE, HERE]!r}
import numpy as np, lra_locality as ll
import faults_test as f
x = np.random.default_rng(1).integers(0, f.V, (200, f.T))
rows = ll.rows((x, f.logits(x).argmax(1)), vocab=f.V, name="faults")
calls = []
def model(x):
    calls.append(len(x))
    if len(calls) == stop:
        os.kill(os.getpid(), signal.SIGINT)
    return f.logits(x)
def once():
    return ll.audit(ll.wrap(model, vocab=f.V, name="net", quiet=True), rows, parts=["position", "keep"], examples=4,
                    check=False, out={os.path.join(self.d, "n")!r}, quiet=True)
stop = 0
stop = int(sys.argv[1])
try:
    once()
    print("not interrupted", len(calls))
except KeyboardInterrupt:
    print("interrupted", f.children())
stop = 0
print(len(once().records()) > 0, f.children())
"""
        try:
            ll.programs.command()
        except ll.ProgramError as e:
            self.skipTest(str(e))
        done = subprocess.run(
            [sys.executable, "-c", code, "20"], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        self.assertEqual(done.stdout, "interrupted []\nTrue []\n", done.stderr)

    def test_forks(self):
        """An audit in a forked process; and a model that leaves a process behind, which inherits everything."""
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        try:
            ll.programs.command()
        except ll.ProgramError as e:
            self.skipTest(str(e))
        p = context.Process(target=audit_in_a_fork, args=(self.rows, os.path.join(self.d, "f"), queue))
        p.start()
        self.assertGreater(queue.get(), 0)
        p.join()
        sleepers = []

        def forks(x):
            if not sleepers and len(x) > 2:
                pid = os.fork()
                if pid == 0:  # the child inherits the connection and keeps it open
                    threading.Event().wait(600)
                    os._exit(0)
                sleepers.append(pid)
            return logits(x)

        m = ll.wrap(forks, vocab=V, name="net", quiet=True)
        before = children()
        try:
            a = ll.audit(
                m,
                self.rows,
                parts=["position"],
                examples=4,
                check=False,
                quiet=True,
                out=os.path.join(self.d, "g"),
            )
            self.assertEqual([p for p in children() if p not in before], sleepers)
            self.assertFalse(any("SIGTERM" in line or "did not end" in line for line in a.messages))
        finally:
            for pid in sleepers:
                os.kill(pid, 9)
                os.waitpid(pid, 0)

    def test_foreign_architecture(self):
        """A program of another machine is refused by the system; the message states the remedy."""
        path = os.path.join(self.d, "lra-probe")
        with open(path, "wb") as f:  # an ELF header of aarch64
            f.write(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\xb7\0" + bytes(44))
        os.chmod(path, 0o755)
        before = os.environ.get("LRA_BIN")
        os.environ["LRA_BIN"] = self.d
        try:
            with self.assertRaisesRegex(ll.ProgramError, "does not start: .*Exec format"):
                ll.audit(ll.wrap(logits, vocab=V, quiet=True), self.rows, check=False, quiet=True)
        finally:
            os.environ.pop("LRA_BIN") if before is None else os.environ.__setitem__("LRA_BIN", before)


if __name__ == "__main__":
    unittest.main()
