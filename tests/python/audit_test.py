"""audit(): the child program ends in every case, its message is the error, and the model stays usable."""
# labels: slow; timeout: 1200

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import lra_locality as ll
import small_models as models
from small_models import C, T, V

PROGRAM = """#!{python}
# Takes the place of lra-probe: starts the program after "--", asks a few questions and ends as MODE says.
import os, signal, subprocess, sys, time
sys.path.insert(0, {path!r})
import numpy as np
from lra_locality import frames
mode = os.environ["MODE"]
arguments = sys.argv[1:]
with open(os.environ["LOG"], "w") as f:
    f.write(f"{{os.getpid()}}\\n" + "\\n".join(arguments))
if mode == "usage":
    sys.exit("lra-probe: unknown part 'none'")
model = subprocess.Popen(arguments[arguments.index("--") + 1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
c = frames.Channel(model.stdout, model.stdin)
c.send({{"op": "hello", "id": 0, "protocol": 1, "kind": "tokens", "vocab": {V}, "length": {T}}})
ready = c.receive()[0]
if ready["op"] == "error":
    sys.exit("lra-probe: the model refused: " + ready["text"])
for k in range(1, 4):
    c.send({{"op": "forward", "id": k}}, {{"tokens": np.full((2, {T}), k, np.int32), "length": np.full(2, {T}, np.int32)}})
    got = c.receive()
    if got is None:
        sys.exit("lra-probe: the model is gone")
    if got[0]["op"] == "error":
        sys.exit(f"lra-probe: the model failed at 'forward': {{got[0]['text']}}")
    if mode == "dies" and k == 2:
        sys.exit("lra-probe: no space left on device")
    if mode == "killed" and k == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "text" and k == 2:
        c._writer.write(b"Segmentation fault, core dumped\\n"); c._writer.flush(); sys.exit("lra-probe: core dumped")
    if mode == "stubborn" and k == 2:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
if mode == "unfinished":
    c.close(); sys.exit("lra-probe: the budget is too small")
c.send({{"op": "bye", "id": 9}})
print("wrote lra-out/runs/file-user.net-0123456789abcdef/influence.h5", file=sys.stderr)
"""


def sound(x):
    return np.eye(C)[np.asarray(x)[:, 0] % C]


class Conversation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = folder.name
        program = os.path.join(self.out, "lra-probe")
        source = os.path.dirname(os.path.dirname(os.path.abspath(ll.__file__)))
        with open(program, "w") as f:
            f.write(PROGRAM.format(python=sys.executable, path=source, V=V, T=T))
        os.chmod(program, os.stat(program).st_mode | stat.S_IXUSR)
        self.log = os.path.join(self.out, "log")
        before = {k: os.environ.get(k) for k in ("LRA_BIN", "MODE", "LOG")}
        os.environ.update(LRA_BIN=self.out, LOG=self.log, MODE="normal")
        self.addCleanup(
            lambda: [
                os.environ.__setitem__(k, v) if v is not None else os.environ.pop(k, None)
                for k, v in before.items()
            ]
        )
        rng = np.random.default_rng(0)
        x = rng.integers(0, V, (60, T))
        self.rows = ll.rows((x, x[:, 0] % C), vocab=V, name="made")

    def audit(self, model=sound, mode="normal", **options):
        os.environ["MODE"] = mode
        m = ll.wrap(model, vocab=V, quiet=True)
        try:
            return ll.audit(
                m, self.rows, name="net", quiet=True, out=os.path.join(self.out, "lra-out"), **options
            )
        finally:
            if os.path.exists(self.log):
                self.assert_gone()

    def assert_gone(self):
        """Fails if a process of the program is left, including zombies."""
        with open(self.log) as f:
            pid = int(f.readline())
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_arguments(self):
        a = self.audit(parts=["keep", "jacobian"], examples=20, budget="10 min", options=["--threads", "1"])
        with open(self.log) as f:
            words = f.read().splitlines()[1:]
        self.assertEqual(words[:3], ["audit", "--task", "file"])
        for option, value in (
            ("--name", "net"),
            ("--parts", "keep,jacobian"),
            ("--examples", "20"),
            ("--threads", "1"),
            ("--data-dir", words[4]),
            ("--out", os.path.join(self.out, "lra-out")),
        ):
            self.assertEqual(words[words.index(option) + 1], value)
        self.assertEqual(a.run, "lra-out/runs/file-user.net-0123456789abcdef")
        self.assertTrue(a.checks.ok)

    def fails(self, pattern, error=None, **options):
        with self.assertRaisesRegex(error or ll.AuditError, pattern):
            self.audit(**options)

    def test_message_of_the_program_is_the_error(self):
        self.fails("no space left on device", mode="dies")
        self.fails("budget is too small", mode="unfinished")
        self.fails("unknown part 'none'", mode="usage")

    def test_budget(self):
        for budget, passes in (("2 s", 1), (77, 77)):
            self.audit(budget=budget)
            with open(self.log) as f:
                words = f.read().splitlines()[1:]
            self.assertGreaterEqual(int(words[words.index("--budget") + 1]), passes)
        with self.assertRaisesRegex(ValueError, "budget='soon'"):
            self.audit(budget="soon")

    def test_killed_program(self):
        self.fails("status -9", mode="killed")

    def test_text_in_place_of_frames(self):
        self.fails("core dumped", mode="text")

    def test_model_that_raises(self):
        def fails(x):
            if (np.asarray(x) == 3).all():
                raise RuntimeError("weights are missing")
            return sound(x)

        self.fails("RuntimeError: weights are missing", model=fails)

    def test_interrupt(self):
        def interrupted(x):
            if (np.asarray(x) == 2).all():
                raise KeyboardInterrupt
            return sound(x)

        self.fails("", KeyboardInterrupt, model=interrupted)

    def test_interrupt_of_a_program_that_ignores_signals(self):
        def interrupted(x):
            if (np.asarray(x) == 3).all():
                raise KeyboardInterrupt
            return sound(x)

        before, ll.audit.__globals__["STOP_SECONDS"] = ll.audit.__globals__["STOP_SECONDS"], 0.1
        try:
            self.fails("", KeyboardInterrupt, model=interrupted, mode="stubborn")
        finally:
            ll.audit.__globals__["STOP_SECONDS"] = before

    def test_failed_check_ends_before_the_program_starts(self):
        self.fails("check 'finite' failed", model=lambda x: sound(x) * np.nan)
        self.assertFalse(os.path.exists(self.log))

    def test_two_at_once(self):
        errors = []

        def run(k):
            try:
                m = ll.wrap(sound, vocab=V, quiet=True)
                ll.audit(m, self.rows, name=f"net{k}", quiet=True, out=os.path.join(self.out, "lra-out"))
            except Exception as e:
                errors.append(e)

        threads = [threading.Thread(target=run, args=(k,)) for k in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(errors, [])

    def test_missing_and_foreign_programs(self):
        os.environ["LRA_BIN"] = "/nowhere"
        self.fails("in none of these folders: /nowhere", ll.ProgramError)
        os.environ["LRA_BIN"] = self.out
        with open(os.path.join(self.out, "lra-probe"), "wb") as f:
            f.write(b"\x7fELF of another machine")
        self.fails("does not start", ll.ProgramError)

    def test_versions_agree(self):
        here = os.path.dirname(
            os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(ll.__file__))))
        )
        with open(os.path.join(here, "CMakeLists.txt")) as f:
            self.assertIn(f"project(lra-locality VERSION {ll.__version__} ", f.read())

    def test_console_script_without_a_program(self):
        code = "from lra_locality import programs; programs.probe()"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "LRA_BIN": "/nowhere"},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("lra-probe: the program 'lra-probe' is in none", done.stderr)


class Real(unittest.TestCase):
    """Tests with the real program."""

    def test_function_of_numpy_arrays(self):
        """A sum of three neighbours: occlusion finds exactly their distance; a model without reset is measured."""
        try:
            if ll.programs.run(["audit", "--help"], check=False).returncode != 0:
                self.skipTest("this lra-probe has no audit")
        except ll.ProgramError as e:
            self.skipTest(str(e))
        table = np.random.default_rng(0).standard_normal((V, 4)).astype(np.float32)

        def features(x):
            h = table[np.asarray(x)]
            padded = np.pad(h, ((0, 0), (1, 1), (0, 0)))
            return np.tanh(padded[:, :-2] + h + padded[:, 2:])

        x = np.random.default_rng(1).integers(0, V, (200, T))
        logits = lambda b: features(b).mean(1) @ np.eye(4)[:, :C]  # noqa: E731
        rows = ll.rows((x, logits(x).argmax(1)), vocab=V, name="neighbours")
        m = ll.wrap(logits, vocab=V, features=features, name="three", quiet=True)
        with tempfile.TemporaryDirectory() as d:
            a = ll.audit(m, rows, parts=["keep", "occlusion"], examples=10, out=d, quiet=True)
            self.assertTrue(os.path.isdir(a.run) or os.path.exists(a.run), a.run)
            self.assertEqual(
                {r["part"].split(".")[0] for r in a.records()} & {"keep", "occlusion"}, {"keep", "occlusion"}
            )
            self.assertEqual(a.value("occlusion", "dist.q50"), 1)
            self.assertTrue(all("three" in r["model"] for r in a.records()))

    def test_rows_without_labels(self):
        """Effects on the prediction are measured; gains are not defined, and the flag says why."""
        table = np.random.default_rng(0).standard_normal((V, C)).astype(np.float32)
        x = np.random.default_rng(1).integers(0, V, (200, T))
        m = ll.wrap(lambda b: table[np.asarray(b)].mean(1), vocab=V, quiet=True)
        rows = ll.rows({"tokens": list(x)}, vocab=V, name="free")
        with tempfile.TemporaryDirectory() as d:
            try:
                a = ll.audit(m, rows, parts=["keep", "order-in", "position"], examples=10, out=d, quiet=True)
            except ll.ProgramError as e:
                self.skipTest(str(e))
            found = {(r["part"], r["id"]): r for r in a.records()}
            self.assertGreater(found["keep", "kl.most"]["value"], 0)
            self.assertIsNone(found["keep", "keep.w95"]["value"])
            self.assertIn("no-gain", found["keep", "keep.w95"]["flags"])
            self.assertLess(found["order-in", "kl.most"]["value"], 1e-6)  # a mean does not depend on order
            self.assertIsNotNone(found["position", "position.edge"]["value"])

    def test_fixed_length(self):
        """A model of one length: parts that keep it are measured; rows of other lengths are rejected with one line."""
        table = np.random.default_rng(0).standard_normal((T, V, C)).astype(np.float32)

        def logits(b):
            if b.shape[1] != T:
                raise ValueError(f"{b.shape[1]} positions")
            return table[np.arange(T)[None], np.asarray(b)].mean(1)

        x = np.random.default_rng(1).integers(0, V, (200, T))
        m = ll.wrap(logits, vocab=V, length=T, quiet=True)
        equal, ragged = ll.rows((x, logits(x).argmax(1)), vocab=V), [row[: T - i % 3] for i, row in enumerate(x)]
        with tempfile.TemporaryDirectory() as d:
            try:
                a = ll.audit(m, equal, parts=["keep", "swap", "token", "order-in"], examples=10, out=d, quiet=True)
            except ll.ProgramError as e:
                self.skipTest(str(e))
            self.assertEqual({r["part"] for r in a.records()}, {"swap", "token", "order-in"})
            with self.assertRaisesRegex(ll.AuditError, f"takes inputs of exactly {T} tokens, and [0-9]+ of"):
                ll.audit(m, ll.rows({"tokens": ragged}, vocab=V), out=d, quiet=True, check=False)

    def test_page_figures_and_tables(self):
        rows = ll.rows((np.random.default_rng(3).integers(1, V, (200, T)), np.arange(200) % C), vocab=V, name="made")
        m = ll.wrap(sound, vocab=V, classes=C, name="net <b>", quiet=True)
        with tempfile.TemporaryDirectory() as d:
            a = ll.audit(m, rows, parts=["keep", "position"], examples=10, out=d, quiet=True)
            path = os.path.join(d, "page.html")
            self.assertEqual(a.html(path), path)
            with open(path, encoding="utf-8") as f:
                page = f.read()
            self.assertEqual(page.count("<h1>"), 1)
            self.assertIn("<h1>Locality of net--b- on file:made</h1>", page)
            self.assertNotIn("<b>-", page)
            self.assertEqual(a.html(path), path)  # an older page is replaced, another file is not
            other = os.path.join(d, "notes.html")
            with open(other, "w", encoding="utf-8") as f:
                f.write("mine")
            with self.assertRaisesRegex(ll.ProgramError, "is no page of lra-report"):
                a.html(other)
            shown = a._repr_html_()
            self.assertTrue(shown.startswith("<iframe ") and shown.endswith("</iframe>"))
            self.assertEqual(shown.count("<"), 2)
            self.assertIn("&lt;h1&gt;Locality of net--b-", shown)
            self.assertIn('<th scope="col">', a.table().html())
            self.assertIn("\\begin{tabular}", a.table("locality").latex())
            self.assertIn("| ---", a.table("locality").markdown())
            self.assertIn("inputs", repr(a.figure("inputs")))
            if shutil.which("gnuplot"):
                file = a.figure("inputs").save(os.path.join(d, "f.pdf"))
                with open(file, "rb") as f:
                    self.assertEqual(f.read(4), b"%PDF")
                self.assertIn("</svg>", a.figure("inputs").svg())
                with self.assertRaisesRegex(ValueError, "expected a name that ends with"):
                    a.figure("inputs").save("f.gif")

    def test_tables_of_a_trained_run(self):
        try:
            ll.programs.command("lra-report")
            ll.programs.command("lra-probe")
        except ll.ProgramError as e:
            self.skipTest(str(e))
        with tempfile.TemporaryDirectory() as d:
            ll.programs.run(
                [
                    "train",
                    "--task",
                    "xor",
                    *[
                        w
                        for kv in (
                            "distance=2",
                            "copies=1",
                            "length=32",
                            "train=64",
                            "val=32",
                            "test=32",
                            "layers=1",
                            "width=8",
                            "hidden=8",
                            "epochs=1",
                        )
                        for w in ("--set", kv)
                    ],
                    "--threads",
                    "1",
                    "--out",
                    d,
                ]
            )
            run = os.path.join(d, "runs", os.listdir(os.path.join(d, "runs"))[0])
            ll.programs.run(
                ["influence", run, "--parts", "keep", "--examples", "8", "--threads", "1", "--out", d]
            )
            t = ll.table("influence", run, out=d)
            records = t.records()
            self.assertTrue(all(r["part"] == "keep" for r in records) and records)
            self.assertIn("influential", t.title)
            self.assertIsInstance(t.verdict, list)
            self.assertIn("|", t.markdown())
            self.assertIn("tabular", t.latex())
            self.assertEqual(len(t.csv().splitlines()[1:]) >= len(records), True)
            if models.has("pandas"):
                self.assertEqual(len(t.frame()), len(records))
        with self.assertRaisesRegex(ll.ProgramError, "unknown table"):
            ll.table("none")


if __name__ == "__main__":
    unittest.main()
