"""A convolutional classifier in PyTorch; features= names the module before the pooling."""

import torch
from torch import nn

import lra_locality as ll


class Cnn(nn.Module):
    def __init__(self, vocab=20, width=32, classes=2):
        super().__init__()
        self.embed, self.head = nn.Embedding(vocab, width), nn.Linear(width, classes)
        self.conv = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(2))
        self.encoder = nn.Identity()

    def forward(self, x):
        h = self.embed(x).transpose(1, 2)
        for conv in self.conv:
            h = h + torch.relu(conv(h))
        return self.head(self.encoder(h.transpose(1, 2)).mean(1))


x = torch.randint(1, 20, (400, 32))
rows = ll.rows((x.numpy(), (x[:, 3] % 2).numpy()), vocab=20, name="made-up")
m = ll.wrap(Cnn(), features="encoder")
print(ll.check(m, rows))
print(ll.audit(m, rows, name="cnn", parts=["jacobian", "keep"], examples=20))
