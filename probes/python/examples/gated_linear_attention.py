"""A causal gated linear attention with logits at every position; the positions' logits are its features."""

import torch
from torch import nn

import lra_locality as ll


class Gated(nn.Module):
    def __init__(self, vocab=20, width=16):
        super().__init__()
        self.embed, self.qkvg = nn.Embedding(vocab, width), nn.Linear(width, 4 * width)
        self.head = nn.Linear(width, vocab)

    def forward(self, x):
        q, k, v, g = self.qkvg(self.embed(x)).chunk(4, -1)
        state, out = x.new_zeros(len(x), k.shape[-1], k.shape[-1], dtype=k.dtype), []
        for t in range(x.shape[1]):
            state = torch.sigmoid(g[:, t])[:, :, None] * state + k[:, t, :, None] * v[:, t, None, :]
            out.append((q[:, t, :, None] * state).sum(1))
        return self.head(torch.stack(out, 1))


x = torch.randint(0, 20, (400, 25)).numpy()
rows = ll.rows((x[:, :-1], x[:, -1]), vocab=20, name="made-up")  # label: the next token
m = ll.wrap(Gated())
print(ll.check(m, rows, causal=True))
print(ll.audit(m, rows, name="gated", parts=["jacobian"], examples=20))
