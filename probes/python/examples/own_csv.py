"""A text classifier of scikit-learn on a CSV file with the columns text and label."""

import csv
import random

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import lra_locality as ll

words = {"good": ["warm", "quick", "clear"], "bad": ["dull", "slow", "vague"]}
with open("reviews.csv", "w", newline="") as f:
    table = csv.writer(f)
    table.writerow(["text", "label"])
    for i in range(300):
        label = random.choice(list(words))
        table.writerow([" ".join(random.choices(words[label] + ["film", "plot"], k=8)), label])

rows = ll.rows("reviews.csv")
print(rows)
train = rows.index("train")
texts = [ll.text_of(rows.x[i]) for i in train]
model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, rows.label[train])
m = ll.wrap(model, inputs="text")
print(ll.check(m, rows))
print(ll.audit(m, rows, name="logistic", parts=["keep"], examples=20))
