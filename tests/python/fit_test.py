"""fit(), ladder(): batches and rates of the C program, import of a trained model; with torch the training itself."""

import json
import os
import tempfile
import unittest

import numpy as np

import lra_locality as ll
from lra_locality import frames, programs
from lra_locality.fit import Data, Plan
from small_models import has

SMALL = [
    "--task",
    "listops",
    "--preset",
    "quick",
    "--set",
    "train=640",
    "--set",
    "val=100",
    "--set",
    "test=200",
]


class Protocol(unittest.TestCase):
    """Tests of lra-probe fit that need only numpy."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "out")
        self.words = [
            "fit",
            *SMALL,
            "--out",
            self.out,
            "--name",
            "net",
            "--seed",
            "3",
            "--source",
            "0123456789abcdef",
        ]

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def plan(self, *more):
        programs.run([*self.words, *more, "--batches", self.path("b.safetensors")])
        return Plan(self.path("b.safetensors"))

    def test_batches(self):
        plan = self.plan()
        self.assertEqual((plan.epochs, plan.steps, plan.outputs, plan.goal), (3, 10, 10, "class"))
        rows = ll.task("listops", out=self.out, train=640, val=100, test=200)
        lengths = np.array([len(rows.x[i]) for i in rows.index("train")])
        for epoch in range(3):
            used = []
            for index, T in plan.batches("train", epoch):
                self.assertEqual(len(index), 64)
                self.assertTrue(0 <= T - lengths[index].max() < 4)
                used += index.tolist()
            self.assertEqual(sorted(used), list(range(640)))
        self.assertFalse(np.array_equal(plan.arrays["train/row"][0], plan.arrays["train/row"][1]))
        for split, n in (("val", 100), ("test", 200)):
            used = np.concatenate([index for index, _ in plan.batches(split)])
            self.assertEqual(sorted(used), list(range(n)))
        np.testing.assert_array_equal(plan.arrays["sample"], np.arange(640))

    def test_rates(self):
        plan = self.plan(
            "--set", "epochs=10", "--set", "warmup=5", "--set", "final-share=0.2", "--set", "rate=0.01"
        )
        rate = [plan.rate(e, s, 1.0) for e in range(10) for s in range(10)]
        np.testing.assert_allclose(rate[:6], [0.002, 0.004, 0.006, 0.008, 0.01, 0.01], rtol=1e-6)
        np.testing.assert_allclose(rate[79], 0.01, rtol=1e-6)
        np.testing.assert_allclose(rate[99], 0.01 * plan.number("final-rate"), rtol=1e-6)
        self.assertEqual([plan.is_final(e) for e in (7, 8, 9)], [False, True, True])
        np.testing.assert_allclose(plan.rate(5, 0, 0.25), 0.0025, rtol=1e-6)

    def trained(self, plan, **change):
        rng = np.random.default_rng(0)
        n = {"train": 640, "val": 100, "test": 200}
        arrays = {f"{s}/output": rng.standard_normal((k, 10)).astype(np.float32) for s, k in n.items()}
        arrays["history"] = np.tile(np.arange(7.0), (3, 1))
        meta = {"fingerprint": plan.meta["fingerprint"], "parameters": "1234", "steps": "30", "skipped": "0"}
        meta.update(best_epoch="2", seconds="1.5", libraries="numpy")
        meta.update({k: v for k, v in change.items() if isinstance(v, str)})
        arrays.update({k: v for k, v in change.items() if not isinstance(v, str)})
        frames.save(self.path("t.safetensors"), {k: v for k, v in arrays.items() if v is not None}, meta)
        return arrays

    def test_import(self):
        plan = self.plan()
        arrays = self.trained(plan)
        done = programs.run([*self.words, "--import", self.path("t.safetensors")])
        file = os.path.join(plan.folder, "result.h5")
        self.assertIn(file, done.stdout)
        with open(file, "rb") as f:
            self.assertIn(b"lra-locality seal", f.read()[-64:])
        shown = json.loads(programs.run(["show", "--json", file], "lra-report").stdout)["results"][0]
        rows = ll.task("listops", out=self.out, train=640, val=100, test=200)
        correct = arrays["test/output"].argmax(1) == rows.label[rows.index("test")]
        self.assertAlmostEqual(shown["value"], correct.mean(), 6)
        self.assertEqual((shown["model"], shown["seed"], shown["parameters"]), ("user.net", 3, 1234))
        self.assertEqual(shown["config"]["model.source"], "0123456789abcdef")
        self.assertEqual(shown["origin"]["libraries"], "numpy")
        self.assertFalse(shown["unsealed"])
        row = ll.table("locality", [plan.folder], self.out).records()[0]
        self.assertEqual(row["model"], "user.net")

    def test_import_keeps_a_result(self):
        plan = self.plan()
        self.trained(plan)
        programs.run([*self.words, "--import", self.path("t.safetensors")])
        file = os.path.join(plan.folder, "result.h5")
        with open(file, "rb") as f:
            before = f.read()
        self.trained(plan, seconds="2.5")
        programs.run([*self.words, "--import", self.path("t.safetensors")])
        with open(file, "rb") as f:
            self.assertEqual(f.read(), before)

    def test_import_refuses(self):
        plan = self.plan()
        bad = np.zeros((200, 10), np.float32)
        bad[7, 3] = np.nan
        for change, message in (
            ({"test/output": bad}, "output 3 of row 7 of 'test/output' is not finite"),
            ({"test/output": bad[:199]}, "array 'test/output' has shape (199, 10)"),
            ({"val/output": None}, "no array 'val/output'"),
            ({"fingerprint": "0" * 16}, "was made with data 0000000000000000"),
            ({"best_epoch": "4"}, "metadata 'best_epoch' is '4'"),
            ({"steps": "x"}, "metadata 'steps' is 'x'"),
        ):
            self.trained(plan, **change)
            with self.assertRaises(programs.ProgramError) as caught:
                programs.run([*self.words, "--import", self.path("t.safetensors")])
            self.assertIn(message, str(caught.exception))
            self.assertFalse(os.path.exists(os.path.join(plan.folder, "result.h5")))

    def test_refused_settings(self):
        for words, message in (
            (["--set", "accumulate=2"], "'accumulate' is not available"),
            (["--set", "permute-labels=1"], "'permute-labels' is not available"),
            (["--objective", "pretrain-masked"], "objective 'pretrain-masked' is not available"),
            (["--epoch", "-1"], "--epoch"),
            (["--inputs", self.path("i")], "expected one of --batches FILE, --inputs FILE and --import FILE"),
            (["--rung"], "--rung needs --reach"),
            (["--settings", "abc"], "expected 16 hex digits"),
        ):
            with self.assertRaises(programs.ProgramError) as caught:
                self.plan(*words)
            self.assertIn(message, str(caught.exception))

    def test_augmented_inputs(self):
        """Inputs of an epoch: each image is one of the eight symmetries of its row, another one in the next epoch."""
        settings = {"images": 80, "augment": 1, "batch": 16, "epochs": 2}
        words = [w for k, v in settings.items() for w in ("--set", f"{k}={v}")]
        self.words = [
            "fit",
            "--task",
            "pathfinder",
            "--preset",
            "quick",
            *words,
            "--out",
            self.out,
            "--name",
            "net",
        ]
        plan = self.plan()
        plan.words = self.words
        self.assertEqual(plan.meta["inputs"], "epoch")
        data = Data(ll.task("pathfinder", out=self.out, images=80), plan)
        side, found = int(data.rows.length**0.5), []
        for epoch in (0, 1):
            for i, (index, T) in enumerate(plan.batches("train", epoch)):
                x, length, label = data.train_batch(epoch, i, index, T)
                plain, length0, label0 = data.batch("train", index, T)
                np.testing.assert_array_equal((length, label), (length0, label0))
                for k, a, b in zip(index, x.reshape(-1, side, side), plain.reshape(-1, side, side)):
                    turned = [np.rot90(v, s) for s in range(4) for v in (b, b.T)]
                    same = [s for s in range(8) if np.array_equal(a, turned[s])]
                    self.assertEqual(len(same), 1)
                    found.append((epoch, k, same[0]))
        each = np.bincount([s for _, _, s in found], minlength=8)
        self.assertGreater(each.min(), 0)
        by_row = {(e, k): s for e, k, s in found}
        moved = [by_row[0, k] != s for e, k, s in found if e == 1 and (0, k) in by_row]
        self.assertGreater(np.mean(moved), 0.5)
        again = Data(data.rows, plan)
        index, T = next(iter(plan.batches("train", 1)))
        np.testing.assert_array_equal(
            again.train_batch(1, 0, index, T)[0], data.train_batch(1, 0, index, T)[0]
        )

    def pairs(self):
        """A folder of the files of task retrieval with pairs of documents of different lengths."""
        rng = np.random.default_rng(0)
        folder = os.path.join(self.folder.name, "aan")
        os.makedirs(folder, exist_ok=True)
        for part, n in (("train", 96), ("eval", 32), ("test", 32)):
            with open(os.path.join(folder, f"new_aan_pairs.{part}.tsv"), "w", encoding="utf-8") as f:
                for i in range(n):
                    words = ["".join(rng.choice(list("abcdef "), rng.integers(5, 40))) for _ in range(2)]
                    f.write(f"{i % 2}.0\tA00-{i:04}\tB00-{i:04}\t{part}{i} {words[0]}\t{words[1]}{i}\n")
        return folder

    def test_pairs(self):
        folder = self.pairs()
        rows = ll.task("retrieval", data_dir=folder, out=self.out)
        self.words = ["fit", "--task", "retrieval", "--data-dir", folder, "--out", self.out, "--name", "net"]
        self.words += ["--set", "batch=8", "--set", "epochs=1"]
        plan = self.plan()
        self.assertEqual((plan.towers, plan.goal, plan.outputs), (2, "class", 2))
        data = Data(rows, plan)
        index, T = next(iter(plan.batches("train", 0)))
        x, length, label = data.batch("train", index, T)
        self.assertEqual((x.shape, length.shape, label.shape), ((8, 2, T), (8, 2), (8,)))
        first = data.split["train"][index[0]]
        for k, part in enumerate(np.split(rows.x[first], [rows.middle[first]])):
            np.testing.assert_array_equal(x[0, k, : length[0, k]], part)
            self.assertEqual(x[0, k, length[0, k] :].sum(), 0)
        y = np.eye(2, dtype=np.float32)
        arrays = {"history": np.tile([12, 1.5, 0.4, 1.6, 0.5, 1e-3, 1.0], (1, 1))}
        for split, at in (("test", np.arange(32)), ("val", np.arange(32)), ("train", plan.arrays["sample"])):
            arrays[f"{split}/output"] = y[rows.label[data.split[split][at]]]
        meta = {"fingerprint": plan.meta["fingerprint"], "parameters": "10", "steps": "12", "skipped": "0"}
        frames.save(self.path("t.safetensors"), arrays, {**meta, "best_epoch": "1", "seconds": "2"})
        said = programs.run([*self.words, "--import", self.path("t.safetensors")]).stdout
        self.assertIn("accuracy 100.00 %", said)

    def test_means_of_targets(self):
        rng = np.random.default_rng(0)
        x, y = rng.integers(1, 9, (200, 12)), rng.normal(5, 1, 200)
        rows = ll.rows({"tokens": x, "label": y}, tokens="tokens", label="label", vocab=9)
        path = self.path("own.jsonl")
        self.words = ["fit", *rows.save(path), "--out", self.out, "--name", "net"]
        plan = self.plan()
        self.assertEqual((plan.goal, len(plan.arrays["mean"])), ("value", 1))
        np.testing.assert_allclose(plan.arrays["mean"][0], rows.label[rows.index("train")].mean(), rtol=1e-6)

    def test_a_ladder_of_imported_runs(self):
        folders = []
        for reach in (1, 2, 4):
            for seed in (0, 1):
                words = ["--rung", "--reach", str(reach), "--settings", "f" * 16, "--seed", str(seed)]
                plan = self.plan(*words)
                rows = ll.task("listops", out=self.out, train=640, val=100, test=200)
                y = np.eye(10, dtype=np.float32)[rows.label[rows.index("test")]]
                y[:: reach + 1] = 0
                self.trained(plan, **{"test/output": y})
                programs.run([*self.words, *words, "--import", self.path("t.safetensors")])
                folders.append(plan.folder)
        table = ll.table("ladder", folders, self.out)
        document = table.document["tables"]
        self.assertEqual(len(document), 1)
        rungs = [r for r in document[0]["rows"] if r["kind"] == "rung"]
        self.assertEqual([r["reach"] for r in rungs], [1, 2, 4])
        self.assertEqual([r["seeds"] for r in rungs], [2, 2, 2])
        self.assertIsNotNone(document[0]["facts"]["li"])


@unittest.skipUnless(has("torch"), "needs torch")
class Training(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "out")

    def net(self):
        from fit_models import Bag

        return lambda task, seed: Bag(task.vocab, task.classes)

    def fit(self, build=None, **more):
        options = {
            "train": 640,
            "val": 100,
            "test": 200,
            "seeds": 1,
            "measure": False,
            "quiet": True,
            "out": self.out,
        }
        return ll.fit(build or self.net(), "listops", **{**options, **more})

    def history(self, folder):
        file = os.path.join(folder, "result.h5")
        return json.loads(programs.run(["show", "--json", file], "lra-report").stdout)["results"][0][
            "history"
        ]

    def test_losses_equal_those_of_the_program(self):
        """20 epochs of one step, then 3 epochs of 20 steps, from the same initial weights."""
        from parity_models import Reference

        for name, more in (
            ("resconv", {"train": 64, "epochs": 20, "rate": 0.001}),
            ("transformer", {"train": 64, "epochs": 20}),
            ("resconv", {"train": 1280, "epochs": 3, "rate": 0.001}),
            ("transformer", {"train": 1280, "epochs": 3}),
        ):
            words = [w for k, v in {"val": 100, "test": 200, **more}.items() for w in ("--set", f"{k}={v}")]
            words += ["--set", "kernel=7"] if name == "resconv" else []
            done = programs.run(
                [
                    "train",
                    "--task",
                    "listops",
                    "--model",
                    name,
                    "--precision",
                    "f32",
                    "--out",
                    self.out,
                    *words,
                ]
            )
            file = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("wrote "))
            expected = [h["train_loss"] for h in self.history(os.path.dirname(file))]
            runs = self.fit(
                lambda task, seed: Reference(name, seed, task.vocab, task.classes, self.folder.name),
                like=name,
                **more,
            )
            found = [h["train_loss"] for h in self.history(runs[0].folder)]
            self.assertEqual(len(found), len(expected))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)

    def test_pairs_are_trained(self):
        """Models of pairs with lengths and with a mask are trained alike; one with neither is refused."""
        import torch
        from fit_models import Bag, mean

        class Two(Bag):
            def forward(self, x, lengths):
                first, second = (mean(self.embed(x[:, k]), lengths[:, k]) for k in (0, 1))
                return self.head(first * second)

        class Masked(Two):
            def forward(self, x, pad_mask):
                return super().forward(x, (~pad_mask).sum(-1))

        class Neither(Two):
            def forward(self, x):
                return super().forward(x, torch.full(x.shape[:2], x.shape[2]))

        folder = Protocol.pairs(self)
        rows = ll.task("retrieval", data_dir=folder, out=self.out)
        options = dict(seeds=1, quiet=True, out=self.out, batch=8, epochs=2, wrap={})
        losses = []
        for net in (Two, Masked):
            runs = ll.fit(lambda task, seed: net(task.vocab, task.classes), rows, **options)
            losses.append([h["train_loss"] for h in self.history(runs[0].folder)])
            self.assertIsNone(runs[0].audit)
        np.testing.assert_allclose(losses[0], losses[1], atol=1e-6)
        with self.assertRaisesRegex(ll.FitError, "needs an argument `lengths`"):
            ll.fit(lambda task, seed: Neither(task.vocab, task.classes), rows, **options)

    def test_augmented_training(self):
        """Training on augmented images ends with a result; without augmentation its losses are others."""
        from torch import nn

        class Pixels(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(1024, 2)

            def forward(self, x):
                return self.head(x[:, :, 0])

        losses = []
        for augment in (True, False):
            runs = ll.fit(
                lambda task, seed: Pixels(),
                "pathfinder",
                seeds=1,
                quiet=True,
                measure=False,
                out=self.out,
                images=80,
                batch=16,
                epochs=2,
                augment=augment,
            )
            losses.append([h["train_loss"] for h in self.history(runs[0].folder)])
        self.assertTrue(np.isfinite(losses).all())
        self.assertFalse(np.allclose(losses[0], losses[1]))

    def test_head_of_a_regression(self):
        """The bias of the last layer becomes the mean of the targets; a model without such a layer stays as it is."""
        from fit_models import Bag
        from lra_locality import _loop
        from torch import nn

        m = ll.wrap(Bag(9, 2), vocab=9, quiet=True)
        x, length = m.sample(6, 2), np.array([6, 6])
        self.assertTrue(_loop.centre_head(m, np.array([5.0, -3.0]), x, length))
        self.assertEqual(m.model.head.bias.tolist(), [5.0, -3.0])
        squashed = nn.Sequential(nn.Embedding(9, 2), nn.Flatten(), nn.Linear(12, 2), nn.Tanh())
        m = ll.wrap(squashed, vocab=9, length=6, quiet=True)
        before = squashed[2].bias.tolist()
        self.assertFalse(_loop.centre_head(m, np.array([5.0, -3.0]), x, length))
        self.assertEqual(squashed[2].bias.tolist(), before)

    def test_resume_is_exact(self):
        from lra_locality import _loop

        whole = self.history(self.fit(out=self.out + "1")[0].folder)
        update, count = _loop.Training.update, [0]

        def stops(t, *args):
            count[0] += 1
            if count[0] == 16:
                raise KeyboardInterrupt
            return update(t, *args)

        _loop.Training.update = stops
        try:
            with self.assertRaises(KeyboardInterrupt):
                self.fit(checkpoint_every=0)
        finally:
            _loop.Training.update = update
        runs = self.fit()
        self.assertEqual(
            [{k: v for k, v in h.items() if k != "seconds"} for h in self.history(runs[0].folder)],
            [{k: v for k, v in h.items() if k != "seconds"} for h in whole],
        )

    def test_a_finished_run_is_not_trained_again(self):
        import torch

        a = self.fit()[0]
        stamp = os.stat(os.path.join(a.folder, "result.h5")).st_mtime_ns
        b = self.fit()[0]
        self.assertEqual(a.folder, b.folder)
        self.assertEqual(os.stat(os.path.join(a.folder, "result.h5")).st_mtime_ns, stamp)
        for x, y in zip(a.model.parameters(), b.model.parameters()):
            self.assertTrue(torch.equal(x, y))

    def test_identity(self):
        from fit_models import Bag

        a = self.fit()[0].folder
        b = self.fit(lambda task, seed: Bag(task.vocab, task.classes, width=12))[0].folder
        c = self.fit(rate=0.002)[0].folder
        self.assertEqual(len({a, b, c}), 3)

    def test_errors(self):
        import torch
        from fit_models import Bag, Constant, Normed, Nothing

        for build, message, more in (
            (lambda task, seed: Nothing(), "no parameters", {}),
            (lambda task, seed: 3, "expected a torch.nn.Module", {}),
            (lambda task, seed: Bag(task.vocab, 7), "returned (64, 7)", {}),
            (lambda task, seed: Constant(task.vocab, task.classes, float("nan")), "not finite", {}),
            (lambda task, seed: Normed(task.vocab, task.classes), "LayerNorm", {}),
            (self.net(), "finds no CUDA device", {"device": "cuda"}),
        ):
            if more and torch.cuda.is_available():
                continue
            with self.assertRaises((ll.FitError, ll.WrapError)) as caught:
                self.fit(build, **more)
            self.assertIn(message, str(caught.exception))

    def test_own_data(self):
        rng = np.random.default_rng(0)
        x = [rng.integers(1, 9, rng.integers(4, 12)) for _ in range(600)]
        y = np.array([int((row == 3).sum() > 1) for row in x])
        rows = ll.rows((x, y), vocab=9, name="made-up")
        runs = ll.fit(self.net(), rows, seeds=2, epochs=6, measure=False, quiet=True, out=self.out, batch=16)
        record = runs.table().records()[0]
        self.assertEqual((record["seeds"], record["task"]), (2, "file:made-up"))
        number = ll.rows((x, np.array([len(row) / 3 + 0.1 for row in x])), vocab=9, name="numbers")
        runs = ll.fit(
            self.net(), number, seeds=1, epochs=3, measure=False, quiet=True, out=self.out, batch=16
        )
        self.assertIn(runs.table().records()[0]["metric"], ("rmse", "r2"))

    def test_ladder(self):
        from fit_models import Window

        lad = ll.ladder(
            lambda task, seed, reach: Window(task.vocab, task.classes, reach),
            "listops",
            reach=[1, 2],
            seeds=2,
            wrap={"features": "encoder"},
            out=self.out,
            quiet=True,
            train=640,
            val=100,
            test=200,
        )
        self.assertEqual([r["reach"] for r in lad.records() if r["kind"] == "rung"], [1, 2])
        self.assertIn("li", lad.facts)
        with self.assertRaisesRegex(ll.FitError, "declared reach 1, but"):
            ll.ladder(
                lambda task, seed, reach: Window(task.vocab, task.classes, reach + 1),
                "listops",
                reach=[1],
                seeds=1,
                wrap={"features": "encoder"},
                out=self.out,
                quiet=True,
                train=640,
                val=100,
                test=200,
            )

    def test_locality_is_measured_into_the_run(self):
        from fit_models import Window

        runs = self.fit(
            lambda task, seed: Window(task.vocab, task.classes, 2),
            measure=True,
            wrap={"features": "encoder"},
            audit={"parts": "jacobian", "examples": 20},
        )
        self.assertTrue(os.path.exists(os.path.join(runs[0].folder, "influence.h5")))
        row = runs.records()[0]
        self.assertIsNotNone(row["dist_mean_rel"])
        self.assertIsNotNone(row["dist_mean_rel_initial"])
        self.assertLessEqual(row["dist_q95"], 2.01)


if __name__ == "__main__":
    unittest.main()
