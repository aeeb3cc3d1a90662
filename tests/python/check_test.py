"""check(): each defect fails its own row and no other; serve(): the same numbers through frames."""
# labels: slow; timeout: 1200

import os
import socket
import subprocess
import sys
import threading
import unittest

import numpy as np

import lra_locality as ll
import small_models as models
from lra_locality import frames
from small_models import C, FORMS, T, V, has

if has("torch"):
    import torch
    from torch import nn

    class Noisy(models.Cnn):
        def forward(self, x):
            return super().forward(x) + torch.rand(1)

    class Writes(models.Cnn):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count += 1
            return super().forward(x)

    class Nan(models.Cnn):
        def forward(self, x):
            return super().forward(x) * float("nan")

    class Detached(models.Cnn):
        """The gradient that autograd computes is not the derivative."""

        def forward(self, x):
            h = self.embed(x)
            return self.head(self.encoder((3 * h - 2 * h.detach()).transpose(1, 2)).mean(2))


def states(table):
    return {r.name: r.state for r in table.rows}


@unittest.skipUnless(has("torch"), "needs torch")
class Defects(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def failed(self, model, rows=None, **options):
        table = ll.check(ll.wrap(model, quiet=True, **options), rows)
        return [r.name for r in table.rows if r.state == "failed"], table

    def test_sound_models_fail_nothing(self):
        for name, packages, make, options, *_ in FORMS:
            if not has(*packages) or "sklearn" in packages or name == "scikit-learn text":
                continue
            with self.subTest(name):
                torch.manual_seed(0)
                rows = models.batch_for(options, n=4)
                failed, table = self.failed(make(), rows, **options)
                self.assertEqual(failed, [], f"{name}\n{table}")
                self.assertTrue(table.ok)
                self.assertGreater(table.examples_per_second, 0)

    def test_time_first(self):
        failed, table = self.failed(models.TimeFirst())
        self.assertEqual(failed, ["batch"])
        self.assertIn("usual cause: the first axis is time", str(table))
        self.assertIn("remedy: wrap a function that transposes", str(table))
        self.assertIn("everything", table.disabled)

    def test_random_outputs(self):
        failed, table = self.failed(Noisy())
        self.assertIn("deterministic", failed)
        self.assertGreater(table.noise, 0)

    def test_weights_that_change(self):
        self.assertEqual(self.failed(Writes())[0], ["weights"])

    def test_nan(self):
        failed, table = self.failed(Nan())
        self.assertEqual(failed, ["finite"])
        self.assertFalse(table.ok)

    def test_detached_gradient(self):
        self.assertEqual(self.failed(Detached())[0], ["gradient"])

    def test_ignored_mask_is_not_passed(self):
        class Ignores(models.Cnn):
            def forward(self, x, attention_mask=None):
                return super().forward(x)

        failed, table = self.failed(Ignores())
        self.assertEqual(failed, [])
        self.assertIn("equal length", table.row("padding").found)

    def test_training_mode_is_named(self):
        table = ll.check(ll.wrap(models.Cnn(), quiet=True))
        self.assertIn("encoder.2 (Dropout)", table.row("evaluation").found)
        self.assertEqual(ll.check(ll.wrap(models.Cnn().eval(), quiet=True)).row("evaluation").state, "ok")

    def test_causal_as_declared(self):
        m = ll.wrap(models.Gated(), quiet=True)
        self.assertEqual(ll.check(m, causal=True).row("causal").state, "ok")
        self.assertEqual(ll.check(m, causal=False).row("causal").state, "failed")


class Labels(unittest.TestCase):
    class Rows:
        def __init__(self, x, label):
            self.x, self.label = x, label

        def examples(self, split, n):
            return self.x[:n], np.full(len(self.x[:n]), self.x.shape[1]), self.label[:n]

    def table(self, order):
        """A model whose outputs are in another order than the labels of the rows."""
        rng = np.random.default_rng(0)
        x = rng.integers(0, V, (200, T))
        right = x[:, 0] % C
        m = ll.wrap(lambda b: np.eye(C)[np.asarray(order)[b[:, 0] % C]], vocab=V, quiet=True)
        return ll.check(m, self.Rows(x, right))

    def test_right_order(self):
        self.assertEqual(self.table([0, 1, 2]).row("accuracy").state, "ok")

    def test_wrong_order_is_named(self):
        row = self.table([2, 0, 1]).row("accuracy")
        self.assertEqual(row.state, "failed")
        self.assertIn("100 %: 0->1, 1->2, 2->0", row.found)

    def test_random_labels_are_no_other_order(self):
        for seed in range(20):
            rng = np.random.default_rng(seed)
            for classes in (2, 3, 10):
                x = rng.integers(0, V, (200, T))
                m = ll.wrap(lambda b, c=classes: np.eye(c)[b[:, 0] % c], vocab=V, quiet=True)
                row = ll.check(m, self.Rows(x, rng.integers(0, classes, 200))).row("accuracy")
                self.assertNotEqual(row.state, "failed", row.found)


class Client:
    """The client of a server that runs in a thread."""

    def __init__(self, m):
        self.channel, end = frames.pair()
        self.error = None
        self.n = 0

        def run():
            try:
                ll.serve(m, end)
            except BaseException as e:
                self.error = e

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def ask(self, op, tensors=None, **meta):
        self.channel.send({"op": op, "id": self.n, **meta}, tensors)
        self.n += 1
        answer = self.channel.receive()
        assert answer[0]["id"] == str(self.n - 1)
        return answer

    def close(self):
        self.channel.close()
        self.thread.join()


class Serve(unittest.TestCase):
    def client(self, m, **hello):
        c = Client(m)
        self.addCleanup(c.close)
        facts = {
            "protocol": 1,
            "task": "t",
            "kind": "tokens",
            "classes": C,
            "vocab": V,
            "length": T,
            "pad": 0,
            "towers": 1,
        }
        return c, c.ask("hello", **{**facts, **hello})[0]

    def test_every_form_gives_the_same_numbers(self):
        for name, packages, make, options, kind, padding, offers in FORMS:
            if not has(*packages) or options.get("inputs") == "text":
                continue
            with self.subTest(name):
                if has("torch"):
                    torch.manual_seed(0)
                m = ll.wrap(make(), quiet=True, **options)
                x, length = models.batch_for(options)
                if name == "scikit-learn regression":
                    x, length = x[:, :, :1], np.full(len(x), T)
                numbers = options.get("inputs", "tokens") != "tokens"
                hello = {"kind": "values", "width": x.shape[2], "length": x.shape[1]} if numbers else {}
                c, ready = self.client(m, **hello)
                self.assertEqual(ready["op"], "ready")
                inputs = {
                    "values" if numbers else "tokens": x.astype(np.float32 if numbers else np.int32),
                    "length": length.astype(np.int32),
                }
                ops = ready["ops"].split()
                expected = offers - (set() if "features" in offers else {"vjp"})
                more = {name for name, has_it in (("logprob", m.next_token), ("head", m.head_works)) if has_it}
                self.assertEqual(set(ops), expected | more)
                meta, out = c.ask("forward", inputs)
                self.assertEqual(meta["op"], "result", meta)
                np.testing.assert_array_equal(out["logits"], m.logits(x, length))
                self.assertEqual(out["logits"].shape, (len(x), int(ready["classes"])))
                if "features" in ops:
                    h = c.ask("features", inputs)[1]["features"]
                    self.assertEqual(h.shape, (*x.shape[:2], int(ready["width"])))
                if "vjp" in ops:
                    v = np.random.default_rng(0).standard_normal((len(x), h.shape[2])).astype(np.float32)
                    at = (length - 1).astype(np.int32)
                    g = c.ask("vjp", {**inputs, "position": at, "cotangent": v})[1]["grad_sq"]
                    np.testing.assert_allclose(g, m.vjp(x, length, at, v), rtol=1e-5)
                if "attn" in ops:
                    layer = ready["layers"].split()[-1]
                    a = c.ask("attn", inputs, layer=layer, rows="1:4")[1]["attn"]
                    np.testing.assert_allclose(a, m.attention(x, length, layer, (1, 4)), rtol=1e-5)
                c.close()
                self.assertIsNone(c.error)

    def test_bad_requests(self):
        m = ll.wrap(models.counts(), vocab=V, quiet=True)
        c, _ = self.client(m)
        x = np.ones((2, T), np.int32)
        n = np.full(2, T, np.int32)
        for tensors in (
            {},
            {"tokens": x},
            {"tokens": x[0], "length": n},
            {"tokens": x + V, "length": n},
            {"tokens": x, "length": n + 1},
            {"tokens": x - 2, "length": n},
            {"tokens": x, "length": n[:1]},
        ):
            self.assertEqual(c.ask("forward", tensors)[0].get("code"), "bad_request")
        self.assertEqual(c.ask("vjp", {"tokens": x, "length": n})[0]["code"], "unsupported")
        self.assertEqual(c.ask("forward", {"tokens": x, "length": n})[0]["op"], "result")
        self.assertEqual(c.ask("forward", {"tokens": x, "length": 0 * n})[0]["op"], "result")

    def test_wrong_kind_of_task(self):
        m = ll.wrap(models.counts(), vocab=V, quiet=True)
        c, answer = self.client(m, kind="values", width=2)
        self.assertEqual((answer["op"], answer["code"]), ("error", "bad_request"))
        self.assertIn("takes tokens", answer["text"])
        c.close()
        self.assertIsInstance(c.error, frames.BadRequest)

    def test_model_that_raises(self):
        def fails(x):
            if x[0, 0] == 7:
                raise RuntimeError("CUDA out of memory")
            if x[0, 0] == 8:
                raise KeyError("weights")
            return np.zeros((len(x), C))

        m = ll.wrap(fails, vocab=V, quiet=True)
        c, _ = self.client(m)
        for token, code in ((7, "out_of_memory"), (8, "internal"), (1, None)):
            request = {"tokens": np.full((1, T), token, np.int32), "length": np.full(1, T, np.int32)}
            self.assertEqual(c.ask("forward", request)[0].get("code"), code)

    def test_on_stdin_and_stdout(self):
        """As lra-probe starts it: prints of the model do not reach the frames; it ends with its input."""
        program = (
            "import numpy as np, lra_locality as ll\n"
            "def f(x):\n"
            "    print('a print of the model')\n"
            "    return np.ones((len(x), 3))\n"
            "m = ll.wrap(f, vocab=20, quiet=True)\n"
            "ll.serve(m)\n"
        )
        for end in ("bye", "close"):
            child = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    program.replace("m = ", "import sys; m = ")
                    .replace("ll.wrap(f", "ll.wrap(lambda x: np.ones((len(x), 3))")
                    .replace("ll.serve(m)", "m.model = f; ll.serve(m)"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=os.environ,
            )
            channel = frames.Channel(child.stdout, child.stdin)
            channel.send({"op": "hello", "id": 0, "protocol": 1, "kind": "tokens", "vocab": 20, "length": 8})
            self.assertEqual(channel.receive()[0]["op"], "ready")
            channel.send(
                {"op": "forward", "id": 1},
                {"tokens": np.ones((2, 8), np.int32), "length": np.full(2, 8, np.int32)},
            )
            self.assertEqual(channel.receive()[1]["logits"].shape, (2, 3))
            if end == "bye":
                channel.send({"op": "bye", "id": 2})
            child.stdin.close()
            self.assertEqual(child.wait(60), 0)
            self.assertIn(b"a print of the model", child.stderr.read())
            child.stdout.close()
            child.stderr.close()

    def test_socket(self):
        a, b = socket.socketpair()
        m = ll.wrap(models.counts(), vocab=V, quiet=True)
        thread = threading.Thread(target=lambda: ll.serve(m, b))
        thread.start()
        a.close()
        thread.join()


if __name__ == "__main__":
    unittest.main()
