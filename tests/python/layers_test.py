"""Distances by layer and the context limit of a PyTorch model: stacked convolutions, whose reach is known."""

import tempfile
import unittest

import numpy as np

import lra_locality as ll

try:
    import torch
    from torch import nn
except ImportError:
    torch = None

V, T, D, C = 10, 20, 8, 3

if torch is not None:

    class Block(nn.Module):
        """(B,T,D) -> (B,T,D): each position sees its two neighbours, and no padding."""

        def __init__(self):
            super().__init__()
            self.mix = nn.Linear(3 * D, D)

        def forward(self, h):
            before = nn.functional.pad(h, (0, 0, 1, 0))[:, :-1]
            after = nn.functional.pad(h, (0, 0, 0, 1))[:, 1:]
            return torch.tanh(self.mix(torch.cat([before, h, after], 2)))

    class Net(nn.Module):
        def __init__(self, blocks):
            super().__init__()
            self.embed, self.head = nn.Embedding(V, D), nn.Linear(D, C)
            self.blocks = nn.ModuleList(Block() for _ in range(blocks))

        def forward(self, x):
            h = self.embed(x)
            for block in self.blocks:
                h = block(h)
            return self.head(torch.relu(h).mean(1))


@unittest.skipIf(torch is None, "torch is not installed")
class Layers(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.blocks = 3
        net = Net(self.blocks)
        names = [f"blocks.{i}" for i in range(self.blocks)]
        x = np.random.default_rng(0).integers(0, V, (300, T))
        with torch.no_grad():  # each class is predicted for some rows
            net.head.bias -= net(torch.from_numpy(x)).mean(0)
        self.m = ll.wrap(net, vocab=V, features=names, quiet=True, name="stack")
        self.rows = ll.rows({"tokens": x, "label": self.m.logits(x).argmax(1)}, tokens="tokens", label="label")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_each_layer_sees_one_token_farther(self):
        audit = ll.audit(self.m, self.rows, parts=["layers", "jacobian"], examples=3, out=self.folder.name, quiet=True)
        for i in range(self.blocks):
            self.assertEqual(audit.value(f"layers.blocks.{i}", "dist.q99"), i + 1)
        self.assertEqual(audit.value("jacobian", "dist.q99"), self.blocks)
        self.assertIn("blocks.2", str(audit.table("language")))

    def test_the_context_is_the_reach(self):
        audit = ll.audit(self.m, self.rows, parts=["context"], examples=16, out=self.folder.name, quiet=True)
        self.assertLessEqual(audit.value("context", "context.r99"), self.blocks)
        x = {r["x"]: r["value"] for r in audit.table("influence").records() if r["id"] == "kl"}
        self.assertGreater(x[1], 1e-6)
        for radius, kl in x.items():
            if radius >= self.blocks:
                self.assertLess(abs(kl), 1e-9)
        self.assertIn("head of the features", str(audit.table("checks")))


if __name__ == "__main__":
    unittest.main()
