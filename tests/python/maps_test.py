"""Attention maps and kernels of wrapped models: a made-up numpy model, and Hugging Face models where they exist."""

import contextlib
import os
import tempfile
import unittest
from unittest import mock

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
        c = self.t.GPT2Config(
            vocab_size=V, n_positions=64, n_embd=16, n_layer=2, n_head=2, num_labels=C, pad_token_id=0
        )
        self.check_model(self.t.GPT2ForSequenceClassification(c), True)

    def test_llama(self):
        c = self.t.LlamaConfig(
            vocab_size=V,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_labels=C,
            pad_token_id=0,
        )
        self.check_model(self.t.LlamaForSequenceClassification(c), True)

    def test_bert(self):
        c = self.t.BertConfig(
            vocab_size=V,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_labels=C,
        )
        self.check_model(self.t.BertForSequenceClassification(c), False)

    def test_no_maps_are_named(self):
        c = self.t.BertConfig(
            vocab_size=V,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_labels=C,
        )
        model = self.t.BertForSequenceClassification(c)
        forward = model.forward

        def without(*args, **kwargs):
            out = forward(*args, **kwargs)
            if kwargs.get("output_attentions"):
                out.attentions = ()
            return out

        without.__signature__ = __import__("inspect").signature(forward)
        model.forward = without
        m = ll.wrap(model, vocab=V, quiet=True)  # its softmax is observed instead
        self.assertEqual(m.attention_layers, ["bert.encoder.layer.0.attention.self"])
        del model.forward
        x = m.sample(9, 2)
        np.testing.assert_allclose(
            m.attention(x), ll.wrap(model, vocab=V, quiet=True).attention(x), atol=1e-5
        )
        model.forward = without
        nothing = mock.patch("lra_locality._torch.observing", lambda *a: contextlib.nullcontext([]))
        with nothing:
            m = ll.wrap(model, vocab=V, quiet=True)
        self.assertRegex(m.missing["attn"], "an empty tuple.*no softmax over pairs of positions")
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ll.AuditError, "an empty tuple"):
            ll.audit(m, some_rows(60), parts="attention", out=folder, quiet=True)


def have_torch():
    try:
        import torch
    except ImportError as e:
        raise unittest.SkipTest("torch is not installed") from e
    torch.manual_seed(0)
    return torch


class Observed(unittest.TestCase):
    """Attention of code without an interface for it: softmax and the attention functions of torch and JAX."""

    def setUp(self):
        self.torch = have_torch()
        import small_models

        self.models = small_models

    def maps(self, way, window=None, **options):
        """Model, its maps and allowed pairs of both layers, of the same weights for each way."""
        self.torch.manual_seed(0)
        m = ll.wrap(self.models.Heads(way, window), quiet=True, **options)
        x, length = m.sample(11, 3), np.array([11, 8, 5])
        return m, [m.attention_pairs(x, length, layer) for layer in m.attention_layers]

    def test_ways_agree(self):
        """Five implementations of the same attention have the same maps, with and without a window."""
        s = self.models
        for window in (None, 2):
            m, first = self.maps(s.by_hand, window)
            self.assertEqual(m.attention_layers, ["blocks.0", "blocks.1"])
            self.assertEqual(first[0][0].shape, (3, 2, 11, 11))
            for way, options in (
                (s.head_major, {}),
                (s.built_in, {}),
                (s.built_in, dict(attention=["blocks.0", "blocks.1"])),
                (s.without_softmax, dict(attention={"blocks.*": s.maps_of_module})),
            ):
                for (a, p), (b, q) in zip(first, self.maps(way, window, **options)[1]):
                    np.testing.assert_allclose(a, b, atol=1e-5)
                    self.assertEqual(p is None, window is None)
                    if window is not None:
                        np.testing.assert_array_equal(p, q)
                        at = np.arange(5)
                        np.testing.assert_array_equal(q[2, 0, :5, :5], abs(at[:, None] - at) <= window)

    def test_nothing_is_invented(self):
        """Softmax of classes, of the vocabulary or of other axes is no attention; results do not change."""
        torch, nn = self.torch, self.torch.nn
        V, D = self.models.V, self.models.D

        class Other(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.head = nn.Embedding(V, D), nn.Linear(D, 32)

            def forward(self, x):
                h = self.embed(x).softmax(-1)  # (B,T,D)
                h = h + torch.softmax(h, 1)  # over positions, of no pairs
                return self.head(h).softmax(-1).mean(1)[:, :3]  # (B,T,32): square for T = 32 alone

        for model in (Other(), self.models.Heads(self.models.without_softmax), self.models.Cnn()):
            m = ll.wrap(model, quiet=True)
            self.assertEqual(m.attention_layers, [])
            self.assertRegex(m.missing["attn"], "no softmax over pairs|are not 32 positions")
        model = self.models.Heads(self.models.by_hand).eval()
        x = torch.randint(1, V, (2, 9))
        before = model(x)
        ll.wrap(model, quiet=True).attention(x.numpy())
        self.assertTrue(torch.equal(before, model(x)))
        self.assertTrue(torch.backends.mha.get_fastpath_enabled())

    def test_multi_head_attention(self):
        """nn.MultiheadAttention: maps of each head, its masks, and results as the caller asks for them."""
        torch, nn = self.torch, self.torch.nn
        V, D = self.models.V, self.models.D
        got = []

        class Net(nn.Module):
            def __init__(self, ask):
                super().__init__()
                self.embed, self.attn, self.ask = (
                    nn.Embedding(V, D),
                    nn.MultiheadAttention(D, 2, batch_first=True),
                    ask,
                )

            def forward(self, x):
                T = x.shape[1]
                mask = torch.ones(T, T, dtype=torch.bool).triu(1)
                h, w = self.attn(self.embed(x), self.embed(x), self.embed(x), attn_mask=mask, **self.ask)
                got.append(None if w is None else tuple(w.shape))
                return h.mean(1)

        for ask, shape in (
            (dict(need_weights=False), None),
            ({}, (2, 9, 9)),
            (dict(average_attn_weights=False), (2, 2, 9, 9)),
        ):
            m = ll.wrap(Net(ask).eval(), quiet=True)
            maps, allowed = m.attention_pairs(m.sample(9, 2))
            self.assertEqual(got[-1], shape)
            self.assertEqual((maps.shape, m.attention_layers), ((2, 2, 9, 9), ["attn"]))
            np.testing.assert_allclose(maps.sum(-1), 1, atol=1e-5)
            np.testing.assert_array_equal(allowed[0, 0], np.tri(9, dtype=bool))

    def test_windowed_hugging_face_model(self):
        if not self.models.has("transformers"):
            self.skipTest("transformers is not installed")
        m = ll.wrap(self.models.hf("mistral"), quiet=True)  # itself and three tokens before it
        maps, allowed = m.attention_pairs(m.sample(10, 2), layer="layer.1")
        distance = np.arange(10)[:, None] - np.arange(10)
        np.testing.assert_array_equal(allowed[1, 1], (distance >= 0) & (distance < 4))
        self.assertEqual(np.abs(maps[~allowed]).max(), 0)

    def test_uniform_weights_of_a_window(self):
        """The null value of uniform weights uses the allowed pairs: a window of +-2 has a mean distance near 1.5."""
        s = self.models
        with tempfile.TemporaryDirectory() as folder:
            null = {}
            for window in (None, 2):
                self.torch.manual_seed(0)
                m = ll.wrap(s.Heads(s.built_in, window), vocab=V, quiet=True, name=f"window{window}")
                a = ll.audit(m, some_rows(60), parts="attention", examples=8, out=folder, quiet=True)
                rows = [r for r in a.table("attention").records() if r["id"] == "dist.mean"]
                null[window] = rows[0]["null_uniform"]
        self.assertAlmostEqual(null[None], (T + 1) / 3, 5)
        self.assertAlmostEqual(null[2], 1.5, 1)

    def test_declared_windows(self):
        """allowed= in each of its forms; a pair that is excluded and has a weight is an error."""

        def inside(n):
            at = np.arange(n)
            return (at[:, None] - at <= 4) & (at - at[:, None] <= 1)

        def uniform(module, h):
            pairs = inside(h.shape[1])
            return np.broadcast_to(pairs / pairs.sum(1, keepdims=True), (len(h), 2, *pairs.shape))

        by_layer = ({"blocks.0": (4, 1)}, lambda n: {"blocks.0": inside(n)})
        for allowed in ((4, 1), inside, *by_layer):
            model = self.models.Heads(self.models.without_softmax)
            m = ll.wrap(model, quiet=True, attention={"blocks.*": uniform}, allowed=allowed)
            x, full = m.sample(11, 2), np.full(2, 11)
            np.testing.assert_array_equal(m.attention_pairs(x, full, "blocks.0")[1][1, 1], inside(11))
            self.assertEqual(m.attention_pairs(x, full, "blocks.1")[1] is None, allowed in by_layer)
        m = ll.wrap(self.models.Heads(self.models.by_hand), quiet=True, allowed=2)
        with self.assertRaisesRegex(ll.WrapError, "layer 'blocks.0', head .*declared as excluded"):
            m.attention(m.sample(11, 2))
        m = ll.wrap(self.models.Heads(self.models.by_hand), quiet=True, allowed=lambda n: np.ones((3, 3)))
        with self.assertRaisesRegex(ll.WrapError, r"float64 of shape \(3, 3\), expected bool"):
            m.attention(m.sample(11, 2))

    def test_patterns(self):
        s = self.models
        for request, text in (
            ({"block.*": s.maps_of_module}, "no module has this name; nearest"),
            ({"blocks.*": 3}, "is no function"),
        ):
            with self.assertRaisesRegex(ll.WrapError, text):
                ll.wrap(s.Heads(s.by_hand), quiet=True, attention=request)

    def test_jax(self):
        if not self.models.has("jax"):
            self.skipTest("jax is not installed")
        import jax
        import jax.numpy as jnp

        f, params = self.models.jax_attention()
        m = ll.wrap((f, params), vocab=V, quiet=True)
        x = m.sample(7, 3)
        h = params["embed"][x] + jnp.sin(jnp.arange(7))[:, None]
        q, k, _ = (t.reshape(3, 7, 2, -1) for t in jnp.split(h @ params["qkv"][0], 3, -1))
        expected = jax.nn.softmax(jnp.einsum("bthk,bjhk->bhtj", q, k) * 0.5)
        np.testing.assert_allclose(m.attention(x, layer="layer.0"), expected, atol=1e-5)
        self.assertEqual(m.attention_layers, ["layer.0", "layer.1"])
        f, params = self.models.jax_pair()
        self.assertIn("no softmax over pairs", ll.wrap((f, params), vocab=V, quiet=True).missing["attn"])


class Limits(unittest.TestCase):
    """Distance limits in the layers of attention."""

    def model(self, way="by_hand", window=None, **options):
        torch = have_torch()
        import small_models as s

        class Net(s.Heads):
            def __init__(self):
                super().__init__(getattr(s, way), window)
                self.encoder = torch.nn.Identity()

            def forward(self, x):
                h = self.embed(x) + self.position[: x.shape[1]]
                for block in self.blocks:
                    h = h + block(h)
                return self.head(self.encoder(h).mean(1))

        torch.manual_seed(0)
        return ll.wrap(Net(), quiet=True, features="encoder", **options)

    def test_reach(self):
        """Two layers with limit r: features depend on tokens at most 2 r away, one limited layer: on all tokens."""
        for way in ("by_hand", "head_major", "built_in"):
            m = self.model(way)
            self.assertTrue(m.limits)
            self.assertEqual(m.limit_layers, ["blocks.0", "blocks.1"])
            x = m.sample(12, 1)
            for r, layer, reach in ((0, "", 0), (1, "", 2), (3, "", 6), (2, "blocks.0", 11), (12, "", 11)):
                far = np.zeros(12, int)
                with m.limited(r, layer):
                    plain = m.features(x)
                    for j in range(12):
                        other = x.copy()
                        other[0, j] = x[0, j] % 18 + 1
                        for i in np.flatnonzero(np.abs(m.features(other) - plain).max((0, 2)) > 1e-7):
                            far[i] = max(far[i], abs(i - j))
                self.assertEqual(far.max(), reach, (way, r, layer))
            with m.limited(12):
                np.testing.assert_allclose(m.logits(x), ll.wrap(m.model, quiet=True).logits(x), atol=1e-6)
            with self.assertRaisesRegex(ValueError, "limit=-1"), m.limited(-1):
                pass

    def test_models_without_limits(self):
        """A convolution in addition to attention, and attention that is not found, take no limits."""
        torch = have_torch()
        m = self.model("without_softmax")
        self.assertFalse(m.limits)
        with self.assertRaisesRegex(ll.Unsupported, "no distance limit"), m.limited(1):
            pass

        class Mixed(type(self.model().model)):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv1d(8, 8, 3, padding=1)

            def forward(self, x):
                h = self.conv(self.embed(x).transpose(1, 2)).transpose(1, 2)
                return self.head(self.encoder(h + self.blocks[0](h)).mean(1))

        m = ll.wrap(Mixed(), quiet=True, features="encoder")
        self.assertEqual((m.attention_layers, m.limits), (["blocks.0"], False))

    def test_audit(self):
        """Parts cut and context of an audit; a window of 2 tokens in two layers has a context of 4."""
        m = self.model("built_in", window=2, vocab=V)
        with tempfile.TemporaryDirectory() as folder:
            a = ll.audit(m, some_rows(120), parts="cut,context", examples=20, out=folder, quiet=True)
            values = {(r["part"], r["id"]) for r in a.table("influence").records()}
            self.assertTrue({p for p, _ in values} >= {"cut", "context"}, values)


class Head(unittest.TestCase):
    """Outputs of given features."""

    def test_head(self):
        have_torch()
        import small_models as s

        for model, options in ((s.Encoder(), dict(features="encoder")), (s.Cnn(), dict(features="embed"))):
            m = ll.wrap(model, quiet=True, **options)
            self.assertTrue(m.head_works)
            x, length = m.sample(10, 3), np.array([10, 7, 4])
            features = m.features(x, length)
            np.testing.assert_allclose(m.head(x, length, features), m.logits(x, length), atol=1e-6)
            other = m.logits(x[::-1], length[::-1])
            np.testing.assert_allclose(m.head(x[::-1], length[::-1], features[::-1]), other, atol=1e-6)
            self.assertGreater(np.abs(m.head(x, length, features * 0) - m.logits(x, length)).max(), 1e-4)
            with self.assertRaisesRegex(ValueError, "features of shape"):
                m.head(x, length, features[:, :3])

    def test_features_that_bypass(self):
        """The output of a block without its residual connection does not determine the outputs: no head."""
        have_torch()
        import small_models as s

        m = ll.wrap(s.Heads(s.by_hand), quiet=True, features="blocks.1")
        self.assertFalse(m.head_works)
        with self.assertRaisesRegex(ll.Unsupported, "no outputs of given features"):
            m.head(m.sample(5, 2), None, np.zeros((2, 5, s.D)))


if __name__ == "__main__":
    unittest.main()
