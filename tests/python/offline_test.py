"""plan(), answer(), measure(): files in place of a connection give the results of the live audit, bit for bit."""
# labels: slow; timeout: 1200

import os
import shutil
import tempfile
import unittest

import numpy as np

import lra_locality as ll
from lra_locality import frames
from small_models import C, T, V

TABLE = np.random.default_rng(0).standard_normal((V, 4)).astype(np.float32)


def features(x, table=TABLE):
    """Features: tanh of the sum of three neighbours."""
    padded = np.pad(table[np.asarray(x)], ((0, 0), (1, 1), (0, 0)))
    return np.tanh(padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:])


def logits(x, table=TABLE):
    return features(x, table).mean(1) @ np.eye(4)[:, :C]


def fresh(seed):
    return lambda x: logits(x, np.random.default_rng(seed).standard_normal((V, 4)).astype(np.float32))


def wrapped(model=logits, **more):
    return ll.wrap(model, vocab=V, features=features, name="three", quiet=True, **more)


class Offline(unittest.TestCase):
    def setUp(self):
        try:
            if "--plan" not in ll.programs.run(["audit", "--help"], check=False).stdout:
                self.skipTest("this lra-probe has no audit --plan")
        except ll.ProgramError as e:
            self.skipTest(str(e))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.d = folder.name
        x = np.random.default_rng(1).integers(0, V, (200, T))
        self.rows = ll.rows((x, logits(x).argmax(1)), vocab=V, name="neighbours")
        self.options = dict(parts=["position", "occlusion"], examples=4, name="three")

    def path(self, *names):
        return os.path.join(self.d, *names)

    def planned(self, name="plan"):
        """Makes a complete plan in several rounds."""
        p = ll.plan(self.rows, self.path(name), out=self.path("off"), **self.options)
        self.assertEqual((p.requests, p.missing), (1, 1))
        rounds = 0
        while not p.complete:
            self.assertGreater(ll.answer(wrapped(), p.folder), 0)
            p = ll.plan(None, p.folder)
            rounds += 1
        self.assertEqual(rounds, 2)
        return p

    def same(self, a, b):
        self.assertEqual(a.records(), b.records())
        self.assertEqual(os.path.basename(a.run), os.path.basename(b.run))
        self.assertTrue(a.records())

    def test_equals_the_live_audit(self):
        live = ll.audit(wrapped(), self.rows, out=self.path("live"), quiet=True, **self.options)
        p = self.planned()
        self.same(live, ll.measure(p.folder, quiet=True))
        self.assertEqual(ll.answer(wrapped(), p.folder), 0)
        # Small batches and another folder of results give the same answers.
        here = self.path("plan", "result")
        other = self.path("elsewhere")

        def small(x):
            if len(x) > 3:
                raise MemoryError
            return logits(x)

        self.assertEqual(ll.answer(wrapped(small, batch=None), p.folder, other), p.requests)
        for name in os.listdir(here):
            a, b = (frames.load(os.path.join(f, name)) for f in (here, other))
            self.assertEqual(sorted(a[1]), sorted(b[1]))
            for k in a[1]:
                np.testing.assert_array_equal(a[1][k], b[1][k])
        last = max(os.listdir(here))
        os.unlink(os.path.join(here, last))
        a = ll.measure(p.folder, quiet=True)
        self.assertTrue(any("requests have no answer" in line for line in a.messages), a.messages)
        with open(os.path.join(here, last), "wb") as f:
            f.write(b"\x10\0\0\0\0\0\0\0{")
        with self.assertRaisesRegex(ll.AuditError, f"{last}"):
            ll.measure(p.folder, quiet=True)

    def test_another_model_and_another_task(self):
        p = ll.plan(self.rows, self.path("plan"), out=self.path("off"), **self.options)
        ll.answer(wrapped(), p.folder)
        other = ll.wrap(logits, vocab=V, features=features, name="other", quiet=True)
        with self.assertRaisesRegex(ll.AuditError, "has model 'three', and this model has 'other'"):
            ll.answer(other, p.folder)
        numbers = ll.wrap(lambda x: np.asarray(x)[:, 0, :1], inputs="values", quiet=True)
        shutil.rmtree(self.path("plan", "result"))
        with self.assertRaisesRegex(ll.AuditError, "takes values"):
            ll.answer(numbers, p.folder)
        with self.assertRaisesRegex(ll.AuditError, "has no request 000001"):
            ll.answer(wrapped(), self.path("none"))
        with self.assertRaisesRegex(ll.AuditError, "pass rows"):
            ll.plan(None, self.path("none"))
        x = np.random.default_rng(2).integers(0, V, (100, T))
        rows = ll.rows((x, x[:, 0] % C), vocab=V, name="neighbours")
        with self.assertRaisesRegex(ll.AuditError, "was planned with (task|data) '.*', this audit has"):
            ll.plan(rows, p.folder, out=self.path("off"), **self.options)

    def test_initial_weights(self):
        """Requests about initial weights have the key reset, and are answered by a fresh model."""
        m, x = wrapped(), np.random.default_rng(3).integers(0, V, (3, T)).astype(np.int32)
        hello = {
            "op": "hello",
            "id": "1",
            "protocol": "1",
            "kind": "tokens",
            "vocab": str(V),
            "length": str(T),
            "classes": str(C),
        }
        os.makedirs(self.path("p", "request"))
        inputs = {"tokens": x, "length": np.full(3, T, np.int32)}
        frames.save(self.path("p", "request", "000001.safetensors"), {}, hello)
        for k, more in ((2, {"reset": "7"}), (3, {}), (4, {"reset": "8"})):
            meta = {"op": "forward", "id": str(k), **more}
            frames.save(self.path("p", "request", f"{k:06d}.safetensors"), inputs, meta)
        state = np.random.get_state()[1].copy()
        self.assertEqual(ll.answer(m, self.path("p"), initial=fresh), 4)
        self.assertTrue((state == np.random.get_state()[1]).all())
        for k, model in ((2, fresh(7)), (3, logits), (4, fresh(8))):
            _, got = frames.load(self.path("p", "result", f"{k:06d}.safetensors"))
            np.testing.assert_array_equal(got["logits"], model(x).astype(np.float32))


if __name__ == "__main__":
    unittest.main()
