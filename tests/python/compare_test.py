"""compare(): a run beside shipped reference results, as table, Markdown, LaTeX, figure; what is missing is named."""

import json
import os
import shutil
import tempfile
import unittest

import numpy as np

import lra_locality as ll
from lra_locality import frames, programs
from lra_locality.compare import REFERENCE
from lra_locality.fit import Plan


# Models without reference results.
NOT_MEASURED = {"retnet", "gla", "mamba2", "deltanet", "gated-deltanet", "hybrid"}


class Reference(unittest.TestCase):
    def test_shipped_rows(self):
        rows = ll.reference()
        models = {m["name"] for m in json.loads(programs.run(["list", "models", "--json"]).stdout)["models"]}
        for task in ("listops", "text", "smnist"):
            of_task = [r for r in rows if r["task"] == task]
            self.assertEqual({r["model"].split(" ")[0] for r in of_task}, models - NOT_MEASURED, task)
            for r in of_task:
                self.assertGreaterEqual(r["seeds"], 2)
                self.assertTrue(r["value_lo"] <= r["value"] <= r["value_hi"], r["model"])
                self.assertTrue(r["preset"] and r["precision"] and r["data"], r["model"])
        self.assertLess(os.path.getsize(REFERENCE), 200_000)


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.out = os.path.join(cls.folder.name, "out")
        cls.net = cls.imported(["--task", "listops", "--preset", "quick"])

    @classmethod
    def imported(cls, data):
        """A run of an external model with random outputs."""
        words = ["fit", *data, "--out", cls.out, "--name", "net"]
        path = os.path.join(cls.folder.name, "f.safetensors")
        programs.run([*words, "--batches", path])
        plan = Plan(path)
        rng = np.random.default_rng(0)
        size = {
            "train": len(plan.arrays["sample"]),
            "val": (plan.arrays["val/row"] >= 0).sum(),
            "test": (plan.arrays["test/row"] >= 0).sum(),
        }
        arrays = {f"{s}/output": rng.standard_normal((n, 10)).astype(np.float32) for s, n in size.items()}
        arrays["history"] = np.tile(np.arange(7.0), (3, 1))
        meta = {"fingerprint": plan.meta["fingerprint"], "parameters": "9", "steps": "30", "skipped": "0"}
        frames.save(path, arrays, {**meta, "best_epoch": "2", "seconds": "1.5"})
        programs.run([*words, "--import", path])
        return plan.folder

    def test_a_run_and_reference_results(self):
        c = ll.compare(self.net, "resconv", "mega")
        rows = {r["model"]: r for r in c.records()}
        self.assertEqual(set(rows), {"user.net", "resconv K = 5 (reference)", "mega (reference)"})
        shipped = next(r for r in ll.reference() if r["model"] == "mega" and r["task"] == "listops")
        for key in (
            "value",
            "value_lo",
            "dist_mean_rel",
            "dist_q95",
            "self",
            "self_initial",
            "dist_mean_grew",
        ):
            self.assertEqual(rows["mega (reference)"][key], shipped[key], key)
        self.assertEqual(rows["mega (reference)"]["seeds"], 3)
        self.assertIsNone(rows["user.net"]["dist_mean_rel"])
        text = str(c)
        for word in ("preset quick", "precision bf16", "3 seeds", "EPYC", "user.net", "MEGA (reference)"):
            self.assertIn(word, text)
        self.assertIn("| MEGA (reference) |", c.markdown())
        self.assertIn("MEGA (reference) &", c.latex())
        self.assertEqual(len(c.csv().strip().splitlines()), 4)

    def test_own_runs_come_first(self):
        out = os.path.join(self.folder.name, "built-in")
        words = [
            "--task",
            "listops",
            "--preset",
            "quick",
            "--model",
            "resconv",
            "--set",
            "epochs=1",
            "--out",
            out,
        ]
        programs.run(["train", *words])
        c = ll.compare(self.net, "resconv", "mega", out=out)
        self.assertEqual({r["model"] for r in c.records()}, {"user.net", "resconv K = 5", "mega (reference)"})
        self.assertIn(f"resconv: 1 run below {out}", str(c))

    def test_other_data_have_no_reference(self):
        run = self.imported(
            ["--task", "listops", "--preset", "quick", "--set", "train=640", "--set", "val=100"]
        )
        c = ll.compare(run, "mega")
        self.assertEqual([r["model"] for r in c.records()], ["user.net"])
        self.assertIn("no reference result for 'mega' on these data of listops", str(c))
        self.assertIn("lra-probe train --task listops --preset quick --model mega --seed 0", str(c))
        with self.assertRaisesRegex(ll.CompareError, "different data"):
            ll.compare([run, self.net], "mega")

    def test_errors(self):
        with self.assertRaisesRegex(ll.CompareError, "'meg' is no built-in model"):
            ll.compare(self.net, "meg")
        with self.assertRaisesRegex(ll.CompareError, "no results"):
            ll.compare([], "mega")
        with self.assertRaisesRegex(ll.CompareError, "no result.h5"):
            ll.compare(self.folder.name, "mega")

    @unittest.skipUnless(shutil.which("gnuplot"), "needs gnuplot")
    def test_figure(self):
        path = os.path.join(self.folder.name, "c.svg")
        ll.compare(self.net, "resconv", "mega", "transformer").figure(path)
        with open(path, encoding="utf-8") as f:
            self.assertIn("MEGA", f.read())

    def test_faulty_reference_files(self):
        good = {
            "schema": 1,
            "tables": [{"rows": [next(r for r in ll.reference() if r["task"] == "listops")]}],
        }
        row = good["tables"][0]["rows"][0]
        path = os.path.join(self.folder.name, "r.json")
        for text, message in (
            ("{", "expected table 'locality' as JSON"),
            ("[]", "has no rows of table 'locality'"),
            (json.dumps({"tables": [{"rows": [{**row, "seeds": 0}]}]}), "number of seeds"),
            (json.dumps({"tables": [{"rows": [{**row, "seeds": 1e9}]}]}), "number of seeds"),
            (json.dumps({"tables": [{"rows": [{**row, "metric": "x"}]}]}), "metric"),
            (json.dumps({"tables": [{"rows": [{**row, "task": "a b"}]}]}), "row 1"),
            (json.dumps({"tables": [{"rows": [{**row, "model": "a\u001b[31m"}]}]}), "row 1"),
            (json.dumps({"tables": [{"rows": [{**row, "max_length": "x"}]}]}), "max_length"),
            (json.dumps({"tables": [{"rows": [row]}], "made": "a\u001b[31m"}), "made"),
        ):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            with self.assertRaises(programs.ProgramError) as caught:
                programs.run(["tables", self.net, "--table", "locality", "--reference-results", path], "lra-report")
            self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
