"""The table of forms of models: which requests each answers without options.  As a program, this file prints the table."""
# labels: slow; timeout: 600

import sys
import unittest

import lra_locality as ll
import small_models as models
from small_models import FORMS, V, has

# The 18 forms on which the package was designed, by the name of their entry in FORMS; the others were added.
DESIGNED = [
    "CNN with named features",
    "nn.TransformerEncoder",
    "packed LSTM",
    "gated linear attention",
    "fixed length",
    "one-hot tokens",
    "tuple",
    "dictionary",
    "dataclass",
    "bfloat16",
    "series of numbers",
    "image CNN",
    "GPT-2",
    "GPT-2 classifier",
    "BERT classifier",
    "Llama",
    "Mamba",
    "ViT",
]
OPS = ("forward", "vjp", "features", "attn")


def row(form):
    """Name, yes or no for each request, and a note: what wrap() was told, what it found, or why something is missing."""
    name, packages, make, options, kind, padding, offers = form
    if not has(*packages):
        return [name, "-", "-", "-", "-", f"needs {', '.join(packages)}"]
    if has("torch"):
        import torch

        torch.manual_seed(0)
    m = ll.wrap(make(), quiet=True, **options)
    if not m.probed:
        from small_models import batch_for

        x, length = batch_for(options)
        m.outputs(x[:, :, :1] if name == "scikit-learn regression" else x, length)
    told = ", ".join(f"{k}={_short(v)}" for k, v in options.items() if k != "vocab")
    notes = [told] if told else []
    if (
        "attn" in m.missing
        and "softmax over pairs" not in m.missing["attn"]
        and "pass attention=" not in m.missing["attn"]
    ):
        notes.append(m.missing["attn"].split(";")[0])
    notes += [n for n in m.notes if not n.startswith("vocab=")]
    notes += [f"padding: {m._padding_text()}"] if m.padding in ("mask", "lengths") else []
    if "vjp" in m.missing:
        notes.append("distances by occlusion")
    found = m.offers()
    return [name, *("yes" if op in found else "no" for op in OPS), "; ".join(notes)]


def _short(value):
    """An option as text; functions by their names."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_short(v)}" for k, v in value.items()) + "}"
    return getattr(value, "__name__", value)


def table():
    head = ["form", "logits", "gradients", "features", "attention", "note"]
    rows = [head, *(row(form) for form in FORMS)]
    width = [max(len(r[k]) for r in rows) for k in range(5)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, width)) + "  " + r[5][:90] for r in rows)


class Forms(unittest.TestCase):
    def test_designed_forms_are_tested(self):
        names = [form[0] for form in FORMS]
        self.assertEqual(len(DESIGNED), 18)
        self.assertEqual(len(set(names)), len(names))
        self.assertEqual([n for n in DESIGNED if n not in names], [])

    def test_table(self):
        """Every form gives logits without more help than in its row; 17 of the 18 give gradients, 6 attention maps: the
        others have no attention, or (ViT) attention between patches of the input."""
        text = table()
        print(text, file=sys.stderr)
        lines = text.splitlines()[1:]
        self.assertEqual(len(lines), len(FORMS))
        if has("torch", "transformers"):
            rows = {form[0]: form for form in FORMS}
            self.assertEqual(sum("forward" in rows[n][6] for n in DESIGNED), 18)
            self.assertEqual(sum("vjp" in rows[n][6] for n in DESIGNED), 17)
            self.assertEqual(sum("attn" in rows[n][6] for n in DESIGNED), 6)

    def test_time_first(self):
        """(T,B) instead of (B,T): logits come out, and the check says that the examples of a batch mix."""
        if not has("torch"):
            self.skipTest("needs torch")
        import torch

        torch.manual_seed(0)
        m = ll.wrap(models.TimeFirst(), vocab=V, quiet=True)
        failed = [r.name for r in ll.check(m).rows if r.state == "failed"]
        self.assertTrue(any("batch" in name for name in failed), failed)


if __name__ == "__main__":
    print(table()) if sys.argv[1:] == ["table"] else unittest.main()
