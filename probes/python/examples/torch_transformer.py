"""A PyTorch Transformer: its mask and its attention maps are found without further options."""

import torch
from torch import nn

import lra_locality as ll


class Encoder(nn.Module):
    def __init__(self, vocab=20, width=32, classes=2):
        super().__init__()
        self.embed, self.position = nn.Embedding(vocab, width), nn.Embedding(64, width)
        layer = nn.TransformerEncoderLayer(width, 4, 64, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x, mask=None):  # True: a token, False: padding
        hidden = None if mask is None else ~mask
        h = self.encoder(self.embed(x) + self.position.weight[: x.shape[1]], src_key_padding_mask=hidden)
        return self.head(h[:, 0])


x = torch.randint(1, 20, (300, 24))
rows = ll.rows((x.numpy(), (x[:, 3] % 2).numpy()), vocab=20, name="made-up")
m = ll.wrap(Encoder(), vocab=20, features="encoder")
print(ll.check(m, rows))
print(ll.audit(m, rows, name="encoder", parts=["jacobian", "keep"], examples=20))
