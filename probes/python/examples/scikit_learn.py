"""A random forest on sequences of one length: logits are logarithms of predict_proba."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import lra_locality as ll

rng = np.random.default_rng(0)
x = rng.integers(1, 8, (600, 16))
rows = ll.rows((x, x[:, 3] > 4), vocab=8, name="one-token")
train = rows.arrays("train")
forest = RandomForestClassifier(50, random_state=0).fit(train[0], train[2])
m = ll.wrap(forest, vocab=8)
print(ll.check(m, rows))
print(ll.audit(m, rows, name="forest", parts=["order-in"], examples=20))
