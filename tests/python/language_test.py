"""Language models through the package: a k-gram, whose context is known exactly, and losses by hand."""

import tempfile
import unittest

import numpy as np

import lra_locality as ll

V, K, T, ROWS = 11, 3, 40, 240


def expected(x: np.ndarray) -> np.ndarray:
    """(B,T): the token that follows positions >= K - 1; a function of exactly the last K tokens."""
    out = np.full(x.shape, -1, np.int64)
    for t in range(K - 1, x.shape[1]):
        out[:, t] = (3 + sum((k + 1) * x[:, t - K + 1 + k] for k in range(K))) % V
    return out


def k_gram(x: np.ndarray) -> np.ndarray:
    """Logits (B,T,V): probability 0.9 of the expected token; uniform where the context is too short."""
    x = np.asarray(x)
    next_token = expected(x)
    p = np.full((*x.shape, V), 0.1 / (V - 1))
    np.put_along_axis(p, np.maximum(next_token, 0)[:, :, None], 0.9, 2)
    p[next_token < 0] = 1 / V
    return np.log(p).astype(np.float32)


def made_rows(ragged: bool) -> "ll.Rows":
    rng = np.random.default_rng(0)
    x = rng.integers(0, V, (ROWS, T))
    for t in range(K, T):
        next_token = expected(x[:, :t])[:, -1]
        x[:, t] = np.where(rng.random(ROWS) < 0.9, next_token, x[:, t])
    length = rng.integers(1, T + 1, ROWS) if ragged else np.full(ROWS, T)
    return ll.rows({"tokens": [row[:n].tolist() for row, n in zip(x, length)]}, vocab=V, name="k-gram")


def table(audit: "ll.Audit", part: str, id: str) -> dict:
    """Values of a curve by its points."""
    return {r["x"]: r["value"] for r in audit.records() if r["part"] == part and r["id"] == id}


class Language(unittest.TestCase):
    def audit(self, model, rows, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        m = ll.wrap(model, vocab=V, name="k-gram", quiet=True)
        self.assertTrue(m.next_token)
        return ll.audit(m, rows, out=folder.name, quiet=True, **options)

    def test_context_of_a_k_gram(self):
        for ragged in (False, True):
            audit = self.audit(
                k_gram, made_rows(ragged), parts=["context", "loss"], options=["--key-context", str(K - 1)]
            )
            for q in (50, 90, 95, 99):
                self.assertEqual(audit.value("context-curve", f"context.c{q}"), K)
            loss = table(audit, "context-curve", "loss")
            full = loss[max(loss)]
            for c, value in loss.items():
                self.assertAlmostEqual(value, full if c >= K else np.log2(V), 5)
            self.assertEqual(table(audit, "context-curve", "kl")[K], 0)
            key = audit.value("context-curve.key", f"key.share.{K - 1}")
            wrong, right = -np.log2(0.1 / (V - 1)), -np.log2(0.9)
            self.assertAlmostEqual(key, (wrong - full) / (wrong - right), 5)
            self.assertIn("predicted tokens lose more than 2 nats", str(audit.table("language")))

    def test_losses_by_position(self):
        for ragged in (False, True):
            rows = made_rows(ragged)
            audit = self.audit(k_gram, rows, parts=["loss"], examples=ROWS)
            x, length, _ = rows.arrays("test")
            logits = k_gram(x)
            log_p = np.log2(np.exp(logits.astype(np.float64)))
            loss = -np.take_along_axis(log_p[:, :-1], x[:, 1:, None], 2)[:, :, 0]
            known = np.arange(1, x.shape[1])[None, :] < length[:, None]
            found = table(audit, "token-loss", "loss")
            for t in range(1, 16):
                self.assertAlmostEqual(found[t], loss[known[:, t - 1], t - 1].mean(), 4)
            means = [row[k].mean() for row, k in zip(loss, known) if k.any()]
            self.assertAlmostEqual(audit.value("token-loss", "loss.mean"), np.mean(means), 4)

    def test_a_uniform_model_has_no_context(self):
        audit = self.audit(lambda x: np.zeros((*np.shape(x), V), np.float32), made_rows(False), parts=["context"])
        self.assertIsNone(audit.value("context-curve", "context.c95"))
        self.assertAlmostEqual(audit.value("context-curve", "loss.full"), np.log2(V), 5)
        self.assertTrue(any("the model has no context" in line for line in audit.messages))

    def test_bos_stays_in_front(self):
        rows = made_rows(False)
        bos = V  # an id that the rows do not contain elsewhere

        def with_bos(x):
            x = np.asarray(x)
            logits = np.full((*x.shape, V + 1), -20, np.float32)
            logits[:, 1:, :V] = k_gram(np.minimum(x[:, 1:], V - 1)) if x.shape[1] > 1 else 0
            logits[x[:, 0] != bos] = 0
            return logits

        marked = ll.rows({"tokens": [[bos, *a.tolist()] for a in rows.x]}, vocab=V + 1, name="bos")
        values = []
        for declared in (bos, None):
            with tempfile.TemporaryDirectory() as out:
                m = ll.wrap(with_bos, vocab=V + 1, name="bos", bos=declared, quiet=True)
                audit = ll.audit(m, marked, parts=["context"], out=out, quiet=True)
                values.append(audit.value("context-curve", "context.c99"))
        self.assertEqual(values[0], K)
        self.assertNotEqual(values[1], K)

    def test_logits_of_the_last_position(self):
        m = ll.wrap(k_gram, vocab=V, quiet=True)
        x = np.random.default_rng(1).integers(0, V, (5, 9))
        length = np.array([9, 4, 1, 4, 7])
        logits = m.logits(x, length)
        for i, n in enumerate(length):
            np.testing.assert_array_equal(logits[i], k_gram(x[i : i + 1, :n])[0, -1])
        target = np.where(np.arange(9)[None, :] < length[:, None], x, -1)
        found = m.logprob(x, length, target)
        for i, n in enumerate(length):
            np.testing.assert_allclose(found[i, :n], k_gram(x)[i, np.arange(n), x[i, :n]], rtol=1e-5)
            self.assertFalse(found[i, n:].any())


try:
    import torch
    import transformers as t
except ImportError:
    torch = t = None


@unittest.skipIf(t is None, "needs torch and transformers")
class HuggingFace(unittest.TestCase):
    def nets(self):
        torch.manual_seed(0)
        yield t.GPT2LMHeadModel(t.GPT2Config(vocab_size=V, n_positions=48, n_embd=16, n_layer=2, n_head=2))
        yield t.LlamaForCausalLM(
            t.LlamaConfig(
                vocab_size=V,
                hidden_size=16,
                intermediate_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                max_position_embeddings=48,
            )
        )
        yield t.MambaForCausalLM(t.MambaConfig(vocab_size=V, hidden_size=16, state_size=4, num_hidden_layers=2))

    def test_outputs_do_not_depend_on_batch_and_padding(self):
        x = np.random.default_rng(1).integers(0, V, (4, 20))
        length = np.array([20, 7, 1, 13])
        for net in self.nets():
            m = ll.wrap(net, quiet=True)
            self.assertTrue(m.next_token, m.name)
            logits = m.logits(x, length)
            target = np.where(np.arange(20)[None, :] < length[:, None], x, -1)
            found = m.logprob(x, length, target)
            net.eval()
            for i, n in enumerate(length):
                with torch.no_grad():
                    own = net(input_ids=torch.from_numpy(x[i : i + 1, :n])).logits[0]
                np.testing.assert_allclose(logits[i], own[-1].numpy(), atol=1e-5)
                log_p = torch.log_softmax(own, -1).numpy()
                np.testing.assert_allclose(found[i, :n], log_p[np.arange(n), x[i, :n]], atol=1e-5)

    def test_position_ids(self):
        x = np.random.default_rng(2).integers(0, V, (3, 12))
        place = np.array([0, 5, 30])
        for net in self.nets():
            m = ll.wrap(net, quiet=True)
            self.assertEqual(m.takes_positions, "Mamba" not in type(net).__name__)
            if not m.takes_positions:
                continue
            found = m.logits(x, None, None, place)
            net.eval()
            for i in range(3):
                ids = torch.arange(12)[None] + int(place[i])
                with torch.no_grad():
                    own = net(input_ids=torch.from_numpy(x[i : i + 1]), position_ids=ids).logits[0, -1]
                np.testing.assert_allclose(found[i], own.numpy(), atol=1e-5)

    def test_audits(self):
        rows = made_rows(True)
        for net in self.nets():
            with tempfile.TemporaryDirectory() as out:
                m = ll.wrap(net, quiet=True)
                audit = ll.audit(m, rows, parts=["context", "loss", "retrieval"], examples=16, out=out, quiet=True)
                self.assertIsNone(audit.value("context-curve", "context.c95"))  # with random weights there is no gain
                x, length, _ = rows.examples("test", 16)
                self.assertGreater(audit.value("token-loss", "loss.mean"), np.log2(V) - 0.1)
                self.assertLess(abs(audit.value("retrieval", "retrieval.accuracy") - 0.1), 0.1)


if __name__ == "__main__":
    unittest.main()
