"""wrap(): every form of model gives logits and the other requests that it supports; the model is not modified."""
# labels: slow; timeout: 1200

import copy
import random
import unittest

import numpy as np

import lra_locality as ll
import small_models as models
from small_models import C, FORMS, T, V, has


def wrapped(form):
    name, packages, make, options, *_ = form
    if has("torch"):
        import torch

        torch.manual_seed(0)
    return ll.wrap(make(), quiet=True, **options)


def inputs_of(name, options):
    x, length = models.batch_for(options)
    if name == "scikit-learn regression":
        return x[:, :, :1], np.full(len(x), T)
    return x, length


class Forms(unittest.TestCase):
    pass


def add(form):
    name, packages, make, options, kind, padding, offers = form

    def test(self):
        if not has(*packages):
            self.skipTest(f"needs {', '.join(packages)}")
        m = wrapped(form)
        x, length = inputs_of(name, options)
        out = m.outputs(x, length)
        self.assertEqual((m.kind, m.padding), (kind, padding), str(m))
        self.assertEqual(set(m.offers()), offers, str(m))
        self.assertEqual(out.dtype, np.float32)
        self.assertEqual(len(out), len(x))
        self.assertTrue(np.isfinite(out).all())
        self.assertEqual(m.logits(x, length).shape, (len(x), m.classes))
        self.same_alone_and_together(m, x, length)
        if "features" in offers:
            self.assertEqual(m.features(x, length).shape[:2], x.shape[:2])
        if "vjp" in offers:
            self.gradients(m, x, length)
        if "attn" in offers:
            self.maps(m, x, length)
        self.assertIn(m.name, str(m))

    setattr(
        Forms,
        "test_" + name.replace(" ", "_").replace("-", "_").replace(".", "_"),
        test,
    )


def same_alone_and_together(self, m, x, length):
    """An example alone, without padding, has the same logits as in a batch of other lengths."""
    together = m.logits(x, length)
    for k in range(len(x)):
        alone = m.logits(x[k : k + 1, : length[k]] if m.padding != "fixed" else x[k : k + 1])
        self.assertTrue(m._same(together[k : k + 1], alone), (m.name, k, together[k], alone))


def gradients(self, m, x, length):
    v = np.random.default_rng(0).standard_normal((len(x), m.classes)).astype(np.float32)
    g = m.vjp(x, length, np.full(len(x), -1), v)
    self.assertEqual(g.shape, x.shape[:2])
    self.assertTrue(np.isfinite(g).all() and g.any())
    if m.padding == "trim":
        hidden = np.arange(x.shape[1])[None] >= length[:, None]
        self.assertEqual(np.abs(g[hidden]).max(initial=0), 0)
    if "features" in m.offers():
        h = m.features(x, length)
        v = (
            np.random.default_rng(0).standard_normal((len(x), h.shape[2])).astype(np.float32)
        )  # sums of layer norms are constant
        g = m.vjp(x, length, length - 1, v)
        self.assertTrue(g[np.arange(len(x)), length - 1].all(), m.name)
        if m.causal:
            at = np.minimum(2, length - 1)
            g = m.vjp(x, length, at, v)
            self.assertEqual(np.abs(g[:, 3:]).max(), 0)


def maps(self, m, x, length):
    for layer in m.attention_layers:
        a = m.attention(x, length, layer)
        self.assertEqual(a.shape[2:], (x.shape[1], x.shape[1]))
        if not m.renormalise:
            np.testing.assert_allclose(a[0].sum(-1), 1, atol=1e-3)
        np.testing.assert_array_equal(m.attention(x, length, layer, (2, 5)), a[:, :, 2:5])


Forms.same_alone_and_together, Forms.gradients, Forms.maps = (
    same_alone_and_together,
    gradients,
    maps,
)
for form in FORMS:
    add(form)


@unittest.skipUnless(has("torch"), "needs torch")
class Torch(unittest.TestCase):
    def setUp(self):
        import torch

        torch.manual_seed(0)

    def test_state_is_restored(self):
        import torch

        net = models.Encoder()
        net.head.eval()
        for p in net.position, *net.embed.parameters():
            p.requires_grad_(False)
        before = copy.deepcopy(net.state_dict())
        modes = [m.training for m in net.modules()]
        flags = [p.requires_grad for p in net.parameters()]
        states = (
            torch.get_rng_state(),
            np.random.get_state()[1].copy(),
            random.getstate(),
        )
        m = ll.wrap(net, features="encoder", quiet=True)
        x, length = models.batch_for({})
        m.outputs(x, length)
        m.attention(x, length)
        m.vjp(x, length, length - 1, np.ones((4, 8), np.float32))
        with self.assertRaises(Exception):
            m.vjp(x, length, length - 1, np.ones((4, 9), np.float32))
        self.assertEqual(modes, [m.training for m in net.modules()])
        self.assertEqual(flags, [p.requires_grad for p in net.parameters()])
        self.assertTrue(all(p.grad is None for p in net.parameters()))
        self.assertTrue(all(torch.equal(a, before[k]) for k, a in net.state_dict().items()))
        self.assertTrue(torch.equal(states[0], torch.get_rng_state()))
        self.assertTrue((states[1] == np.random.get_state()[1]).all() and states[2] == random.getstate())
        self.assertTrue(torch.is_grad_enabled())
        self.assertTrue(torch.backends.mha.get_fastpath_enabled())
        self.assertEqual(
            sum(len(s._forward_hooks) + len(s._forward_pre_hooks) for s in net.modules()),
            0,
        )

    def test_gradient_equals_a_direct_computation(self):
        import torch

        net = models.Cnn(dropout=0.5).eval()
        m = ll.wrap(net, features="embed", quiet=True)
        x = m.sample(T)
        v = np.random.default_rng(0).standard_normal((2, C)).astype(np.float32)
        e = net.embed(torch.from_numpy(x)).detach().requires_grad_()
        out = net.head(net.encoder(e.transpose(1, 2)).mean(2))
        (g,) = torch.autograd.grad((out * torch.from_numpy(v)).sum(), e)
        np.testing.assert_allclose(m.vjp(x, None, [-1, -1], v), g.square().sum(-1).numpy(), rtol=1e-5)

    def test_reach_of_convolutions_is_recovered(self):
        """Random weights: gradients reach exactly as far as the kernels, for six sizes."""
        for kernel in (1, 3, 5, 7, 9, 11):
            net = models.Cnn(kernel=kernel, layers=1)
            caught = models.nn.Sequential(net.embed, _Transposed(net.encoder[0]))
            m = ll.wrap(caught, vocab=V, quiet=True)
            x = m.sample(T)
            h = m.features(x)
            g = m.vjp(x, None, [12, 12], np.ones((2, h.shape[2]), np.float32))
            reach = np.abs(np.nonzero(g[0])[0] - 12).max()
            self.assertEqual(reach, kernel // 2)

    def test_attention_implementation_is_restored(self):
        if not has("transformers"):
            self.skipTest("needs transformers")
        net = models.hf("llama")
        before = net.config._attn_implementation
        m = ll.wrap(net, quiet=True)
        m.attention(m.sample(8))
        self.assertNotEqual(before, "eager")
        self.assertEqual(net.config._attn_implementation, before)

    def test_batch_of_one_is_found_and_said(self):
        if not has("transformers"):
            self.skipTest("needs transformers")
        m = ll.wrap(models.hf("gpt2-classifier", num_labels=C), quiet=True)
        self.assertEqual(m.max_batch, 1)
        self.assertIn("one example at a time", str(m))

    def test_missing_parts_state_the_remedy(self):
        m = ll.wrap(models.Cnn(), quiet=True)
        self.assertIn("features=MODULE", m.missing["features"])
        self.assertIn("embed", m.missing["features"])
        self.assertIn("attention=FUNCTION", m.missing["attn"])
        with self.assertRaisesRegex(ll.Unsupported, "features=MODULE"):
            m.features(m.sample(8))
        self.assertIn(
            "embedding=MODULE",
            ll.wrap(models.OneHot(), vocab=V, quiet=True).missing["vjp"],
        )

    def refused(self, pattern, model, **options):
        with self.assertRaisesRegex(ll.WrapError, pattern):
            ll.wrap(model, quiet=True, **options)

    def test_refused(self):
        self.refused("no module of 'Cnn'; nearest: encoder", models.Cnn(), features="encodr")
        self.refused("expected .batch, 32, features.", models.Cnn(), features="encoder.0")
        self.refused("no module of 'Cnn'", models.Cnn(), embedding="nothing")
        self.refused("without 'logits'", models.Wrapped(lambda y: {"a": y, "b": y}))
        self.refused("'a', 'b'", models.Wrapped(lambda y: {"a": y, "b": y}), output="c")
        self.refused("classes=5, and the model 'Cnn' returns 3", models.Cnn(), classes=5)
        self.refused("shape .* for a batch of 2", models.Wrapped(lambda y: y[:1]))
        self.refused("raises RuntimeError for a batch of shape 2x32", models.Flat())
        self.refused("ignores mask='m'", models.Cnn(), mask="m")
        self.refused("inputs='token'", models.Cnn(), inputs="token")
        self.refused("a NoneType is no model", None)
        self.refused("device='cuda', and the model 'Cnn' is on cpu", models.Cnn(), device="cuda")
        self.refused("wrapped already", ll.wrap(models.Cnn(), quiet=True))

    def test_mask_with_the_other_meaning(self):
        class Masked(models.Cnn):
            def forward(self, x, mask=None):
                h = self.embed(x)
                w = torch.ones_like(h[..., :1]) if mask is None else (~mask).float()[..., None]
                return self.head((h * w).sum(1) / w.sum(1))

        import torch

        m = ll.wrap(Masked(), quiet=True)
        self.assertEqual((m.padding, m.keep_honoured), ("mask", True))
        keep = np.ones((2, T), bool)
        keep[:, 4] = False
        x = m.sample(T)
        y = x.copy()
        y[:, 4] = (y[:, 4] % (V - 1)) + 1
        np.testing.assert_allclose(m.outputs(x, keep=keep), m.outputs(y, keep=keep))
        self.assertGreater(np.abs(m.outputs(x) - m.outputs(y)).max(), 1e-4)

    def test_frozen_and_inference_parameters(self):
        net = models.Cnn().requires_grad_(False)
        m = ll.wrap(net, quiet=True)
        import torch

        with torch.inference_mode():
            g = m.vjp(m.sample(T), None, [-1, -1], np.ones((2, C), np.float32))
        self.assertTrue(g.any())


if has("torch"):

    class _Transposed(models.nn.Module):
        def __init__(self, conv):
            super().__init__()
            self.conv = conv

        def forward(self, h):
            return self.conv(h.transpose(1, 2)).transpose(1, 2)


class Jax(unittest.TestCase):
    def test_gradient_equals_a_direct_computation(self):
        if not has("jax"):
            self.skipTest("needs jax")
        import jax
        import jax.numpy as jnp

        f, params = models.jax_pair()
        m = ll.wrap((f, params), vocab=V, quiet=True)
        x = m.sample(T)
        v = np.random.default_rng(0).standard_normal((2, C)).astype(np.float32)

        def by_embedding(h):
            return ((jnp.tanh(h + 0.5 * jnp.roll(h, 1, 1)).mean(1) @ params["head"]) * v).sum()

        g = np.asarray(jax.grad(by_embedding)(params["embed"][x]))
        np.testing.assert_allclose(m.vjp(x, None, [-1, -1], v), np.square(g).sum(-1), rtol=1e-4, atol=1e-9)

    def test_tied_embedding_falls_back(self):
        if not has("jax"):
            self.skipTest("needs jax")
        f, params = models.jax_pair()
        m = ll.wrap((lambda p, x: p["embed"][x] @ p["embed"].T, params), vocab=V, quiet=True)
        self.assertIn("occlusion", m.missing["vjp"])


class Numbers(unittest.TestCase):
    def test_predict_proba(self):
        if not has("sklearn"):
            self.skipTest("needs sklearn")
        net = models.forest()
        m = ll.wrap(net, vocab=V, quiet=True)
        x = m.sample(T)
        np.testing.assert_array_equal(m.logits(x).argmax(1), net.predict_proba(x).argmax(1))

    def test_function_that_fails(self):
        def fails(x):
            raise KeyError("weights")

        with self.assertRaisesRegex(ll.WrapError, "raises KeyError .* batch of shape 2x32"):
            ll.wrap(fails, vocab=V, quiet=True)

    def test_lengths_are_checked(self):
        m = ll.wrap(models.counts(), vocab=V, quiet=True)
        with self.assertRaisesRegex(ValueError, "lengths of 2 examples up to 9"):
            m.logits(np.ones((2, 8), int), [9, 1])


if __name__ == "__main__":
    unittest.main()
