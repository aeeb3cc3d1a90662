"""Parquet files: the converter of the package, and the command that the C program names."""
# labels: slow; timeout: 600

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import lra_locality as ll
from small_models import has

TEXTS = ["a warm film", 'quotes "and"\nlines', "", "Ünïcode 語"]
HERE = os.path.dirname(os.path.dirname(os.path.abspath(ll.__file__)))


def command(*arguments, **more):
    env = {**os.environ, "PYTHONPATH": HERE}
    return subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, **more)


class Convert(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.d = folder.name

    def path(self, *names):
        return os.path.join(self.d, *names)

    def write(self, name):
        if not has("pyarrow"):
            self.skipTest("needs pyarrow")
        import pyarrow
        import pyarrow.parquet

        label = [0, 1, 1, 0]
        table = {"text": TEXTS, "label": label, "ids": [[1, 2], [3], [4, 5, 6], [7]], "b": [b"x"] * 4}
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.table(table), self.path(name))

    def same(self, jsonl, parquet):
        with open(self.path(jsonl), encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
        self.assertEqual([r["text"] for r in rows], TEXTS)
        self.assertEqual([r["ids"] for r in rows], [[1, 2], [3], [4, 5, 6], [7]])
        for columns in (dict(text="text"), dict(tokens="ids")):
            a, b = (ll.rows(self.path(p), label="label", name="x", **columns) for p in (jsonl, parquet))
            self.assertEqual([x.tolist() for x in a.x], [x.tolist() for x in b.x])
            self.assertEqual((a.label.tolist(), a.split.tolist()), (b.label.tolist(), b.split.tolist()))

    def test_module(self):
        self.write("x.parquet")
        done = command("-m", "lra_locality.convert", "x.parquet", "y.jsonl", cwd=self.d)
        self.assertEqual((done.returncode, done.stdout), (0, "y.jsonl: 4 rows\n"), done.stderr)
        self.same("y.jsonl", "x.parquet")
        done = command("-m", "lra_locality.convert", "x.parquet", cwd=self.d)
        self.assertEqual(done.stdout, "x.jsonl: 4 rows\n")

    def test_folder(self):
        for name in ("set/train.parquet", "set/deep/test.parquet"):
            self.write(name)
        done = command("-m", "lra_locality.convert", "set", "out", cwd=self.d)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["test.jsonl", "train.jsonl"])

    def test_refused(self):
        if not has("pyarrow"):
            self.skipTest("needs pyarrow")
        with open(self.path("bad.parquet"), "wb") as f:
            f.write(b"PAR1 and nothing else PAR1")
        for arguments, code, pattern in (
            (["bad.parquet"], 1, "^convert: 'bad.parquet': .*\n$"),
            (["none.parquet"], 1, "^convert: 'none.parquet': .*\n$"),
            ([], 2, "^usage: "),
        ):
            done = command("-m", "lra_locality.convert", *arguments, cwd=self.d)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, pattern)
        self.assertEqual(os.listdir(self.d), ["bad.parquet"])

    def test_command_of_the_program(self):
        """The message about a Parquet file is a command; what it writes is read by the program."""
        try:
            ll.programs.command()
        except ll.ProgramError as e:
            self.skipTest(str(e))
        with open(self.path("x.parquet"), "wb") as f:
            f.write(b"PAR1....PAR1")
        words = ["data", "file", "--data-dir", self.path("x.parquet"), "--text", "text", "--label", "label"]
        done = ll.programs.run(words, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'x.parquet' is Parquet, which is not supported", done.stderr)
        code = re.search(r'python3 -c "(.*)"', done.stderr)
        self.assertTrue(code, done.stderr)
        self.write("x.parquet")
        done = command("-c", code[1], cwd=self.d)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.same("x.jsonl", "x.parquet")


if __name__ == "__main__":
    unittest.main()
