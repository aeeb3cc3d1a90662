"""A GPT-2 of Hugging Face with random weights; load your own with from_pretrained()."""

import numpy as np
from transformers import GPT2Config, GPT2LMHeadModel

import lra_locality as ll

config = GPT2Config(vocab_size=50, n_positions=64, n_embd=32, n_layer=2, n_head=2)
x = np.random.default_rng(0).integers(0, 50, (1000, 33))
rows = ll.rows((x[:, :-1], x[:, -1]), vocab=50, name="made-up")  # label: the next token
m = ll.wrap(GPT2LMHeadModel(config))
print(ll.check(m, rows, causal=True))
x, length, _ = rows.examples("test", 4)
print("attention of", m.attention_layers[0], m.attention(x, length).shape)
print(ll.audit(m, rows, name="gpt2", parts=["jacobian"], examples=20))
