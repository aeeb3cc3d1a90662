"""Small torch models for fit_test.py."""

import torch
from torch import nn


def mean(h, lengths):
    keep = (torch.arange(h.shape[1])[None] < lengths[:, None])[..., None]
    return (h * keep).sum(1) / lengths[:, None]


class Bag(nn.Module):
    def __init__(self, vocab, classes, width=8):
        super().__init__()
        self.embed, self.drop, self.head = (
            nn.Embedding(vocab, width),
            nn.Dropout(0.1),
            nn.Linear(width, max(classes, 1)),
        )

    def forward(self, x, lengths):
        return self.head(self.drop(mean(self.embed(x), lengths)))


class Window(nn.Module):
    """Features that depend on `reach` tokens to each side."""

    def __init__(self, vocab, classes, reach, width=8):
        super().__init__()
        self.embed, self.head = nn.Embedding(vocab, width), nn.Linear(width, classes)
        self.conv = nn.Conv1d(width, width, 2 * reach + 1, padding=reach)
        self.encoder = nn.Identity()

    def forward(self, x, lengths):
        keep = (torch.arange(x.shape[1])[None] < lengths[:, None])[..., None]
        h = self.encoder(torch.relu(self.conv((self.embed(x) * keep).transpose(1, 2))).transpose(1, 2))
        return self.head(mean(h, lengths))


class Normed(nn.Module):
    """A model that takes no lengths and uses batch statistics."""

    def __init__(self, vocab, classes, width=8):
        super().__init__()
        self.embed, self.norm, self.head = (
            nn.Embedding(vocab, width),
            nn.BatchNorm1d(width),
            nn.Linear(width, classes),
        )

    def forward(self, x):
        return self.head(self.norm(self.embed(x).mean(1)))


class Nothing(nn.Module):
    def forward(self, x):
        return x.float()[:, :10]


class Constant(nn.Module):
    """Outputs that are not finite in training."""

    def __init__(self, vocab, classes, factor):
        super().__init__()
        self.embed, self.head, self.factor = nn.Embedding(vocab, 8), nn.Linear(8, classes), factor

    def forward(self, x, lengths):
        y = self.head(mean(self.embed(x), lengths))
        return y * self.factor if self.training else y
