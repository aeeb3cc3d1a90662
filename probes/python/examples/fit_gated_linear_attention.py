"""A gated linear attention trained as the built-in models are, in one table with four of them."""

import torch
from torch import nn

import lra_locality as ll


class Gated(nn.Module):  # y[i] = sum over j <= i of (q[i] . k[j], each channel decayed by its gates) v[j]
    def __init__(self, vocab, classes, D=32):
        super().__init__()
        self.embed, self.norm, self.mix = nn.Embedding(vocab, D), nn.LayerNorm(D), nn.Linear(D, 4 * D)
        self.out, self.last, self.head = nn.Linear(D, D), nn.LayerNorm(D), nn.Linear(D, classes)

    def forward(self, x, lengths):
        h, T = self.embed(x), x.shape[1]
        q, k, v, g = self.mix(self.norm(h)).chunk(4, -1)
        c = nn.functional.logsigmoid(g + 2).cumsum(1)
        later = torch.ones(T, T, dtype=torch.bool).triu(1)[..., None]
        decay = (c[:, :, None] - c[:, None]).masked_fill(later, -torch.inf).exp()
        h = self.last(h + self.out(torch.einsum("bid,bjd,bijd->bij", q, k, decay) @ v))
        return self.head((h * (torch.arange(T) < lengths[:, None])[..., None]).sum(1) / lengths[:, None])


runs = ll.fit(
    lambda task, seed: Gated(task.vocab, task.classes), "listops", name="gla", wrap={"features": "last"}
)
print(ll.compare(runs, "resconv", "transformer", "s4d", "mega"))
