"""Attention maps and kernels of wrapped models: a made-up numpy model, and Hugging Face models where they exist."""

import os
import tempfile
import unittest

import numpy as np

import lra_locality as ll
from lra_locality.frames import save

V, T, C = 12, 24, 3
TABLE = np.random.default_rng(1).standard_normal((V, C)).astype(np.float32)


def classify(batch):
    """(B,C): the mean of one vector per token."""
    return TABLE[np.asarray(batch)].mean(1)


def back(batch, k=3, scale=1.0):
    """Maps of two layers with two heads: each token attends to the token k before it (to itself if there is none)."""
    B, n = np.asarray(batch).shape
    maps = np.zeros((B, 2, n, n), np.float32)
    for i in range(n):
        maps[:, :, i, i - k if i >= k else i] = scale
    return {"first": maps, "second": np.full_like(maps, scale / n)}


def decay(tau=20.0, lags=64):
    return np.exp(-np.arange(lags) / tau)[None].repeat(5, 0)


def some_rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, V, (n, T))
    return ll.rows({"tokens": x, "label": classify(x).argmax(1)}, tokens="tokens", label="label")


def wrap(**options):
    return ll.wrap(classify, vocab=V, quiet=True, name="made-up", **options)


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def audit(self, m, **options):
        return ll.audit(m, some_rows(), out=self.folder.name, quiet=True, **options)

    def test_attention_of_a_function(self):
        a = self.audit(wrap(attention=back), parts="attention", examples=40)
        means = [r["value"] for r in a.table("attention").records() if r["id"] == "dist.mean"]
        self.assertTrue(os.path.exists(os.path.join(a.run, "attention.h5")))
        text = str(a.table("attention"))
        self.assertIn("first.head0", text)
        self.assertEqual(len(means), 4)
        for v, expected in zip(sorted(means), (3, 3, (T + 1) / 3, (T + 1) / 3)):
            self.assertAlmostEqual(v, expected, 5)

    def test_kernels_of_a_function_and_of_a_file(self):
        path = os.path.join(self.folder.name, "k.safetensors")
        save(path, {"kernel/conv": decay().astype(np.float32)})
        for kernels in (lambda: {"conv": decay()}, lambda model: decay(), path):
            a = self.audit(wrap(kernels=kernels), parts="kernels")
            tau = [r["value"] for r in a.table("kernels").records() if r["id"] == "decay.tau"]
            self.assertTrue(tau and abs(tau[0] - 20) < 1e-3, tau)

    def test_check(self):
        rows = some_rows()
        table = ll.check(wrap(attention=back, kernels=decay), rows)
        self.assertEqual(table.row("attention").state, "ok")
        self.assertEqual(table.row("kernels").state, "ok")
        nan = lambda batch: {"first": np.full((len(batch), 1, T, T), np.nan, np.float32)}  # noqa: E731
        for maps, text in (
            (lambda batch: back(batch, scale=2.0), "sum to 2, expected 1"),
            (lambda batch: {"first": -back(batch)["first"]}, "a weight is -1"),
            (nan, "a weight is nan"),
        ):
            row = ll.check(wrap(attention=maps), rows).row("attention")
            self.assertEqual((row.state, row.disables), ("failed", ("attention",)))
            self.assertIn(text, row.found)
            self.assertNotIn("\n", row.found)
        m = wrap(attention=lambda batch: back(batch, scale=2.0), renormalise=True)
        self.assertEqual(ll.check(m, rows).row("attention").state, "ok")

    def test_wrong_arguments(self):
        with self.assertRaisesRegex(ll.AuditError, "part 'attention': pass attention="):
            self.audit(wrap(), parts="attention")
        with self.assertRaisesRegex(ll.AuditError, "sum to 2, expected 1"):
            self.audit(wrap(attention=lambda b: back(b, scale=2.0)), parts="attention", check=False)
        for kernels, text in (
            ("none.safetensors", "none.safetensors"),
            (lambda: np.zeros(3), r"shape \(3,\) for layer .layer0.; expected real or complex"),
            (lambda: {"a": np.full((2, 3), np.inf)}, "not finite for layer 'a'"),
            (lambda: {}, "gave no arrays"),
        ):
            with self.assertRaisesRegex(ll.WrapError, text):
                wrap(kernels=kernels)


class HuggingFace(unittest.TestCase):
    """Eager attention is used for calls that need maps, and the previous implementation is restored afterwards."""

    def setUp(self):
        try:
            import torch
            import transformers
        except ImportError:
            self.skipTest("transformers is not installed")
        torch.manual_seed(0)
        self.t = transformers

    def check_model(self, model, causal):
        before = model.config._attn_implementation
        m = ll.wrap(model, vocab=V, quiet=True)
        self.assertEqual(len(m.attention_layers), 2, m.missing)
        self.assertEqual(model.config._attn_implementation, before)
        x = m.sample(10, 3)
        length = np.array([10, 7, 4])
        maps = m.attention(x, length, "layer.1")
        self.assertEqual(maps.shape, (3, 2, 10, 10))
        for b, n in enumerate(length):
            np.testing.assert_allclose(maps[b, :, :n, :n].sum(-1), 1, atol=1e-5)
        if causal:
            self.assertEqual(np.abs(np.triu(maps, 1)).max(), 0)
        with tempfile.TemporaryDirectory() as folder:
            a = ll.audit(m, some_rows(60), parts="attention", examples=8, out=folder, quiet=True, check=False)
            self.assertIn("layer1.head1", str(a.table("attention")))
        self.assertEqual(model.config._attn_implementation, before)

    def test_gpt2(self):
        c = self.t.GPT2Config(vocab_size=V, n_positions=64, n_embd=16, n_layer=2, n_head=2, num_labels=C, pad_token_id=0)
        self.check_model(self.t.GPT2ForSequenceClassification(c), True)

    def test_llama(self):
        c = self.t.LlamaConfig(
            vocab_size=V, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
            num_labels=C, pad_token_id=0,
        )
        self.check_model(self.t.LlamaForSequenceClassification(c), True)

    def test_bert(self):
        c = self.t.BertConfig(
            vocab_size=V, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2, num_labels=C
        )
        self.check_model(self.t.BertForSequenceClassification(c), False)

    def test_no_maps_are_named(self):
        c = self.t.BertConfig(vocab_size=V, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, num_labels=C)
        model = self.t.BertForSequenceClassification(c)
        forward = model.forward

        def without(*args, **kwargs):
            out = forward(*args, **kwargs)
            if kwargs.get("output_attentions"):
                out.attentions = ()
            return out

        without.__signature__ = __import__("inspect").signature(forward)
        model.forward = without
        m = ll.wrap(model, vocab=V, quiet=True)
        self.assertIn("an empty tuple", m.missing["attn"])
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ll.AuditError, "an empty tuple"):
            ll.audit(m, some_rows(60), parts="attention", out=folder, quiet=True)


if __name__ == "__main__":
    unittest.main()
