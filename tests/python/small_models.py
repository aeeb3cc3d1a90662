"""Small made-up models of every form that wrap() takes.  FORMS: name, packages, how it is made and wrapped, expectations."""

import dataclasses
import importlib.util

import numpy as np

import lra_locality as ll

V, C, T, D = 20, 3, 24, 8


def has(*packages):
    return all(importlib.util.find_spec(p) is not None for p in packages)


if has("torch"):
    import torch
    from torch import nn
    import torch.nn.functional as F

    class Flat(nn.Module):
        """Fixed length: one linear layer over all positions."""

        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(V, D), nn.Linear(T * D, C)

        def forward(self, x):
            return self.head(self.embed(x).flatten(1))

    class Cnn(nn.Module):
        def __init__(self, kernel=5, layers=2, dropout=0.1):
            super().__init__()
            self.embed = nn.Embedding(V, D)
            self.encoder = nn.Sequential(
                *[
                    m
                    for _ in range(layers)
                    for m in (
                        nn.Conv1d(D, D, kernel, padding=kernel // 2),
                        nn.ReLU(),
                        nn.Dropout(dropout),
                    )
                ]
            )
            self.head = nn.Linear(D, C)

        def forward(self, x):
            return self.head(self.encoder(self.embed(x).transpose(1, 2)).mean(2))

    class Packed(nn.Module):
        """An LSTM over packed sequences: needs lengths."""

        def __init__(self):
            super().__init__()
            self.embed, self.rnn, self.head = (
                nn.Embedding(V, D),
                nn.LSTM(D, D, batch_first=True),
                nn.Linear(D, C),
            )

        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(
                self.embed(x), lengths, batch_first=True, enforce_sorted=False
            )
            return self.head(self.rnn(packed)[1][0][-1])

    class Encoder(nn.Module):
        """nn.TransformerEncoder with its own mask convention (True: hidden)."""

        def __init__(self):
            super().__init__()
            self.embed, self.position = (
                nn.Embedding(V, D),
                nn.Parameter(torch.randn(64, D)),
            )
            layer = nn.TransformerEncoderLayer(D, 2, 16, batch_first=True)
            self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(D, C)

        def forward(self, x, src_key_padding_mask=None):
            h = self.encoder(
                self.embed(x) + self.position[: x.shape[1]],
                src_key_padding_mask=src_key_padding_mask,
            )
            if src_key_padding_mask is None:
                return self.head(h.mean(1))
            w = (~src_key_padding_mask).float()[:, :, None]
            return self.head((h * w).sum(1) / w.sum(1))

    class Gated(nn.Module):
        """A causal gated linear attention with logits at every position."""

        def __init__(self):
            super().__init__()
            self.embed, self.qkvg, self.head = (
                nn.Embedding(V, D),
                nn.Linear(D, 4 * D),
                nn.Linear(D, V),
            )

        def forward(self, x):
            q, k, v, g = self.qkvg(self.embed(x)).chunk(4, -1)
            state, out = torch.zeros(len(x), D, D), []
            for t in range(x.shape[1]):
                state = torch.sigmoid(g[:, t])[:, :, None] * state + k[:, t, :, None] * v[:, t, None, :]
                out.append(torch.einsum("bd,bde->be", q[:, t], state))
            return self.head(torch.stack(out, 1))

    def gated_maps(model, x):
        """(B,1,T,T): weight of the value of token j in the output of token t of Gated, of any sign."""
        q, k, _, g = model.qkvg(model.embed(x)).chunk(4, -1)
        decay = torch.log(torch.sigmoid(g)).cumsum(1)
        ratio = torch.exp((decay[:, :, None] - decay[:, None]).clamp(max=0))
        return torch.einsum("btd,bjd,btjd->btj", q, k, ratio).tril()[:, None]

    class Heads(nn.Module):
        """Two layers of attention of two heads, computed in one of several ways; window: tokens to each side."""

        def __init__(self, way, window=None, position=True):
            super().__init__()
            self.embed = nn.Embedding(V, D)
            self.position = nn.Parameter(torch.randn(64, D) * (1.0 if position else 0.0))
            self.blocks = nn.ModuleList(SelfAttention(way, window) for _ in range(2))
            self.head = nn.Linear(D, C)

        def forward(self, x):
            h = self.embed(x) + self.position[: x.shape[1]]
            for block in self.blocks:
                h = h + block(h)
            return self.head(h.mean(1))

    class SelfAttention(nn.Module):
        def __init__(self, way, window):
            super().__init__()
            self.qkv, self.way, self.window = nn.Linear(D, 3 * D), way, window

        def heads(self, h):
            """q, k, v (B,H,T,K)."""
            return (t.unflatten(-1, (2, D // 2)).transpose(1, 2) for t in self.qkv(h).chunk(3, -1))

        def mask(self, T):
            at = torch.arange(T)
            return None if self.window is None else (at[:, None] - at).abs() <= self.window

        def forward(self, h):
            q, k, v = self.heads(h)
            return self.way(q, k, v, self.mask(h.shape[1])).transpose(1, 2).flatten(2)

    def by_hand(q, k, v, mask):
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1) @ v

    def head_major(q, k, v, mask):
        """One matrix for each pair of head and example, heads first, as some older code has it."""
        B, H = q.shape[:2]
        q, k, v = (t.transpose(0, 1).flatten(0, 1) for t in (q, k, v))
        return by_hand(q, k, v, mask).unflatten(0, (H, B)).transpose(0, 1)

    def built_in(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    def without_softmax(q, k, v, mask):
        """As a kernel of its own: exp and division, one query after the other."""
        out = []
        for t in range(q.shape[2]):
            e = torch.exp((q[:, :, t, None] * k).sum(-1) * q.shape[-1] ** -0.5)
            e = e if mask is None else e * mask[t]
            out.append((e[..., None] * v).sum(2) / e.sum(2)[..., None])
        return torch.stack(out, 2)

    def maps_of_module(module, h):
        """Attention weights of a SelfAttention, and the pairs that its window allows."""
        q, k, _ = module.heads(h)
        return ll.attention_weights(q, k, module.mask(h.shape[1]))

    class Wrapped(nn.Module):
        """Wraps a model so that it returns its output in another form."""

        def __init__(self, form):
            super().__init__()
            self.inner, self.form = Cnn(), form

        def forward(self, x):
            return self.form(self.inner(x))

    @dataclasses.dataclass
    class Output:
        loss: object
        logits: object

    class Regression(Cnn):
        def forward(self, x):
            return super().forward(x)[:, 0]

    class OneHot(nn.Module):
        """No embedding module: gradients by tokens do not exist."""

        def __init__(self):
            super().__init__()
            self.conv, self.head = nn.Conv1d(V, D, 3, padding=1), nn.Linear(D, C)

        def forward(self, x):
            return self.head(torch.relu(self.conv(F.one_hot(x, V).float().transpose(1, 2))).mean(2))

    class TimeFirst(nn.Module):
        """A model that mistakes (B,T) for (T,B), so that examples of a batch affect each other."""

        def __init__(self):
            super().__init__()
            self.embed, self.rnn, self.head = (
                nn.Embedding(V, D),
                nn.GRU(D, D),
                nn.Linear(D, C),
            )

        def forward(self, x):
            return self.head(self.rnn(self.embed(x))[0].mean(1))

    class Series(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.head = nn.GRU(2, D, batch_first=True), nn.Linear(D, C)

        def forward(self, x):
            return self.head(self.rnn(x)[0].mean(1))

    class ImageCnn(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.head = (
                nn.Conv2d(1, D, 3, padding=1),
                nn.BatchNorm2d(D),
                nn.Linear(D, C),
            )

        def forward(self, x):
            return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


def hf(name, **more):
    """A small Hugging Face model with random weights."""
    import transformers as t

    t.logging.set_verbosity_error()
    small = {
        "gpt2": (
            t.GPT2Config,
            dict(vocab_size=V, n_positions=64, n_embd=16, n_layer=2, n_head=2),
        ),
        "bert": (
            t.BertConfig,
            dict(
                vocab_size=V,
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=16,
                max_position_embeddings=64,
                num_labels=C,
            ),
        ),
        "llama": (
            t.LlamaConfig,
            dict(
                vocab_size=V,
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=16,
                max_position_embeddings=64,
            ),
        ),
        "mamba": (
            t.MambaConfig,
            dict(vocab_size=V, hidden_size=16, num_hidden_layers=2, state_size=4),
        ),
        "mamba2": (
            t.Mamba2Config,
            dict(
                vocab_size=V,
                hidden_size=16,
                num_hidden_layers=2,
                state_size=4,
                num_heads=4,
                head_dim=8,
                n_groups=1,
                chunk_size=8,
            ),
        ),
        "mistral": (
            t.MistralConfig,
            dict(
                vocab_size=V,
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                num_key_value_heads=1,
                intermediate_size=16,
                max_position_embeddings=64,
                sliding_window=4,
            ),
        ),
        "vit": (
            t.ViTConfig,
            dict(
                image_size=16,
                patch_size=4,
                num_channels=1,
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=16,
                num_labels=C,
            ),
        ),
    }
    config, settings = small[name.split("-")[0]]
    cls = {
        "gpt2": "GPT2LMHeadModel",
        "gpt2-classifier": "GPT2ForSequenceClassification",
        "bert": "BertForSequenceClassification",
        "llama": "LlamaForCausalLM",
        "mistral": "MistralForCausalLM",
        "mamba": "MambaForCausalLM",
        "mamba2": "Mamba2ForCausalLM",
        "vit": "ViTForImageClassification",
    }[name]
    torch.manual_seed(0)
    return getattr(t, cls)(config(**settings, **more))


def jax_pair():
    import jax
    import jax.numpy as jnp

    k1, k2 = jax.random.split(jax.random.PRNGKey(0))
    params = {
        "embed": jax.random.normal(k1, (V, D)),
        "head": jax.random.normal(k2, (D, C)),
    }

    def f(params, x):
        h = params["embed"][x]
        h = jnp.tanh(h + 0.5 * jnp.roll(h, 1, 1))
        return h.mean(1) @ params["head"]

    return f, params


def jax_attention():
    """A jitted JAX function with a loop over two layers of attention of two heads."""
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(1), 3)
    params = {
        "embed": jax.random.normal(keys[0], (V, D)),
        "qkv": 0.3 * jax.random.normal(keys[1], (2, D, 3 * D)),
        "head": jax.random.normal(keys[2], (D, C)),
    }

    def layer(h, qkv):
        q, k, v = (t.reshape(*t.shape[:2], 2, D // 2) for t in jnp.split(h @ qkv, 3, -1))
        w = jax.nn.softmax(jnp.einsum("bthk,bjhk->bhtj", q, k) * (D // 2) ** -0.5)
        return h + jnp.einsum("bhtj,bjhk->bthk", w, v).reshape(h.shape), None

    @jax.jit
    def f(params, x):
        h = params["embed"][x] + jnp.sin(jnp.arange(x.shape[1]))[:, None]
        return jax.lax.scan(layer, h, params["qkv"])[0].mean(1) @ params["head"]

    return f, params


def forest():
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    x = rng.integers(0, V, (120, T))
    return RandomForestClassifier(10, random_state=0).fit(x, x[:, 3] % C)


def ridge():
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, T))
    return Ridge().fit(x, x[:, 0] - x[:, 5])


def text_pipeline():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = ["a good film", "a bad film", "good and warm", "bad and dull"] * 4
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0] * 4)


def counts():
    """A plain function of numpy arrays."""
    weight = np.random.default_rng(1).standard_normal((V, C))
    return lambda x: np.eye(V)[x].mean(1) @ weight


ALL = {"forward", "features", "vjp", "attn"}
# name, packages, model, options of wrap(), kind, padding, requests that are offered
FORMS = [
    (
        "fixed length",
        ["torch"],
        lambda: Flat(),
        dict(length=T),
        "class",
        "fixed",
        {"forward", "vjp"},
    ),
    (
        "CNN with named features",
        ["torch"],
        lambda: Cnn(),
        dict(features="embed"),
        "class",
        "trim",
        {"forward", "features", "vjp"},
    ),
    (
        "packed LSTM",
        ["torch"],
        lambda: Packed(),
        {},
        "class",
        "lengths",
        {"forward", "vjp"},
    ),
    (
        "nn.TransformerEncoder",
        ["torch"],
        lambda: Encoder(),
        dict(features="encoder"),
        "class",
        "mask",
        ALL,
    ),
    (
        "gated linear attention",
        ["torch"],
        lambda: Gated(),
        dict(attention=gated_maps, renormalise=True) if has("torch") else {},
        "position",
        "trim",
        ALL,
    ),
    (
        "attention by hand",
        ["torch"],
        lambda: Heads(by_hand),
        {},
        "class",
        "trim",
        {"forward", "vjp", "attn"},
    ),
    (
        "attention, heads first",
        ["torch"],
        lambda: Heads(head_major),
        {},
        "class",
        "trim",
        {"forward", "vjp", "attn"},
    ),
    (
        "scaled_dot_product_attention, window",
        ["torch"],
        lambda: Heads(built_in, window=3),
        {},
        "class",
        "trim",
        {"forward", "vjp", "attn"},
    ),
    (
        "attention without softmax",
        ["torch"],
        lambda: Heads(without_softmax),
        {},
        "class",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "the same, with a function of the module",
        ["torch"],
        lambda: Heads(without_softmax, window=3),
        dict(attention={"blocks.*": maps_of_module}) if has("torch") else {},
        "class",
        "trim",
        {"forward", "vjp", "attn"},
    ),
    (
        "tuple",
        ["torch"],
        lambda: Wrapped(lambda y: (y, None)),
        {},
        "class",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "dictionary",
        ["torch"],
        lambda: Wrapped(lambda y: {"scores": y}),
        {},
        "class",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "dataclass",
        ["torch"],
        lambda: Wrapped(lambda y: Output(None, y)),
        {},
        "class",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "output named",
        ["torch"],
        lambda: Wrapped(lambda y: {"a": y[:, :1], "b": y}),
        dict(output="b"),
        "class",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "regression",
        ["torch"],
        lambda: Regression(),
        {},
        "value",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "one-hot tokens",
        ["torch"],
        lambda: OneHot(),
        dict(vocab=V),
        "class",
        "trim",
        {"forward"},
    ),
    (
        "bfloat16",
        ["torch"],
        lambda: Cnn().to(torch.bfloat16),
        {},
        "class",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "series of numbers",
        ["torch"],
        lambda: Series(),
        dict(inputs="values"),
        "class",
        "trim",
        {"forward", "vjp"},
    ),
    (
        "image CNN",
        ["torch"],
        lambda: ImageCnn(),
        dict(inputs="image", length=(6, 4)),
        "class",
        "fixed",
        {"forward", "vjp"},
    ),
    (
        "GPT-2",
        ["torch", "transformers"],
        lambda: hf("gpt2"),
        {},
        "position",
        "mask",
        ALL,
    ),
    (
        "GPT-2 classifier",
        ["torch", "transformers"],
        lambda: hf("gpt2-classifier", num_labels=C),
        {},
        "class",
        "trim",
        ALL,
    ),
    (
        "BERT classifier",
        ["torch", "transformers"],
        lambda: hf("bert"),
        {},
        "class",
        "mask",
        ALL,
    ),
    (
        "Llama",
        ["torch", "transformers"],
        lambda: hf("llama"),
        {},
        "position",
        "mask",
        ALL,
    ),
    (
        "Mistral, window",
        ["torch", "transformers"],
        lambda: hf("mistral"),
        {},
        "position",
        "mask",
        ALL,
    ),
    (
        "Mamba",
        ["torch", "transformers"],
        lambda: hf("mamba"),
        {},
        "position",
        "mask",
        {"forward", "features", "vjp"},
    ),
    (
        "Mamba-2",
        ["torch", "transformers"],
        lambda: hf("mamba2"),
        {},
        "position",
        "mask",
        {"forward", "features", "vjp"},
    ),
    (
        "ViT",
        ["torch", "transformers"],
        lambda: hf("vit"),
        dict(inputs="image", length=(16, 16)),
        "class",
        "fixed",
        {"forward", "vjp"},
    ),
    ("JAX pair", ["jax"], jax_pair, dict(vocab=V), "class", "trim", {"forward", "vjp"}),
    (
        "JAX attention",
        ["jax"],
        jax_attention,
        dict(vocab=V),
        "class",
        "trim",
        {"forward", "vjp", "attn"},
    ),
    (
        "scikit-learn forest",
        ["sklearn"],
        forest,
        dict(vocab=V),
        "class",
        "fixed",
        {"forward"},
    ),
    (
        "scikit-learn regression",
        ["sklearn"],
        ridge,
        dict(inputs="values"),
        "value",
        "fixed",
        {"forward"},
    ),
    (
        "scikit-learn text",
        ["sklearn"],
        text_pipeline,
        dict(inputs="text"),
        "class",
        "trim",
        {"forward"},
    ),
    (
        "function of numpy arrays",
        [],
        counts,
        dict(vocab=V),
        "class",
        "trim",
        {"forward"},
    ),
    (
        "function of torch tensors",
        ["torch"],
        lambda: Cnn().eval().forward,
        dict(vocab=V),
        "class",
        "trim",
        {"forward"},
    ),
    (
        "function of torch tensors, attention",
        ["torch"],
        lambda: Heads(by_hand).eval().forward,
        dict(vocab=V),
        "class",
        "trim",
        {"forward", "attn"},
    ),
]


def batch_for(options, seed=0, n=4):
    """Inputs and lengths in the form that a model with these options takes."""
    rng = np.random.default_rng(seed)
    kind = options.get("inputs", "tokens")
    length = np.array([T, T - 7, T, 5])[:n]
    if kind == "image":
        pixels = int(np.prod(options["length"]))
        return rng.standard_normal((n, pixels, 1)).astype(np.float32), np.full(n, pixels)
    if kind == "values":
        return rng.standard_normal((n, T, 2)).astype(np.float32), length
    if kind == "text":
        return np.array([[b + 4 for b in b"a good and warm film....."[:T]]] * n), np.full(n, T)
    x = rng.integers(1, V, (n, T))
    x[np.arange(T)[None] >= length[:, None]] = 0
    return x, length
