"""A GPT-2 of Hugging Face with random weights as a language model; load your own with from_pretrained()."""

import numpy as np
from transformers import GPT2Config, GPT2LMHeadModel

import lra_locality as ll

config = GPT2Config(vocab_size=50, n_positions=64, n_embd=32, n_layer=2, n_head=2)
x = np.random.default_rng(0).integers(0, 50, (600, 48))
rows = ll.rows({"tokens": x.tolist()}, vocab=50, name="made-up")  # no labels: the next token is predicted
m = ll.wrap(GPT2LMHeadModel(config))
print(ll.check(m, rows, causal=True))
x, length, _ = rows.examples("test", 4)
print("attention of", m.attention_layers[0], m.attention(x, length).shape)
audit = ll.audit(m, rows, name="gpt2", parts=["context", "loss", "retrieval", "jacobian"], examples=16)
print(audit)
print(audit.table("language"))  # loss by context length and position, key tokens, retrieval
