"""A JAX function f(params, x); gradients refer to the embedding among the parameters."""

import jax
import jax.numpy as jnp
import numpy as np

import lra_locality as ll


def features(params, x):
    h = params["embed"][x]
    return jnp.tanh(h + 0.5 * jnp.roll(h, 1, axis=1))  # each position and the one before


def f(params, x):
    return features(params, x).mean(1) @ params["head"]


a, b = jax.random.split(jax.random.PRNGKey(0))
params = {"embed": jax.random.normal(a, (8, 16)), "head": jax.random.normal(b, (16, 2))}
x = np.random.default_rng(0).integers(1, 8, (300, 24))
rows = ll.rows((x, x[:, 0] % 2), vocab=8, name="made-up")
m = ll.wrap((f, params), vocab=8, features=features, name="roll")
print(ll.check(m, rows))
print(ll.audit(m, rows, name="roll", parts=["jacobian"], examples=20))
