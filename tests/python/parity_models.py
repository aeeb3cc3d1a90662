"""Built-in models as torch modules: the references of tests/parity with the initial weights of the C program."""

import os
import sys

import torch
from torch import nn

from lra_locality import frames, programs

ROOT = os.environ.get("LRA_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "parity"))
SETTINGS = {
    "resconv": {"kernel": 7, "layers": 3, "width": 32, "hidden": 64},
    "transformer": {"layers": 2, "width": 32, "hidden": 64},
}


class Reference(nn.Module):
    """Embedding, encoder of tests/parity/NAME.py, mean over the tokens, linear classifier; float32."""

    def __init__(self, name, seed, vocab, classes, folder):
        super().__init__()
        import batch

        self.encode = __import__(name).encode
        self.single = batch.Single
        self.name = name
        path = os.path.join(folder, f"{name}-{seed}.safetensors")
        words = [w for k, v in SETTINGS[name].items() for w in ("--set", f"{k}={v}")]
        size = ["--seed", str(seed), "--vocab", str(vocab), "--classes", str(classes), "--precision", "f32"]
        programs.run(["export", "--gradients", "--model", name, *words, *size, "--force", path])
        b = batch.Batch(path, lines=True)
        self.config = b.config
        self.weight = nn.ParameterDict()
        for key, value in b.all("param").items():
            self.weight[key] = nn.Parameter(value.clone())
        self.features = nn.Identity()

    def forward(self, x, lengths):
        P = {k: self.weight[k] for k in self.weight}
        with self.single():
            h = self.encode(P, P["embed/table"][x], lengths, self.config, x.shape[1])
        h = self.features(h)
        keep = (torch.arange(x.shape[1])[None] < lengths[:, None])[..., None]
        pooled = (h * keep).sum(1) / lengths[:, None]
        return nn.functional.linear(pooled, P["head/w"].T, P["head/b"])
