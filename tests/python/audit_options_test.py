"""Options of audit() with the program: several models, initial weights, null models, recordings, budgets, memory."""
# labels: slow; timeout: 1200

import contextlib
import io
import os
import tempfile
import threading
import unittest

import numpy as np

import lra_locality as ll
from lra_locality.audit import student_t
from small_models import C, T, V


def made(seed, reach=1):
    """A model: features are sums over the neighbours at distance `reach`, logits are of their mean; `seed` determines the table."""
    table = np.random.default_rng(seed).standard_normal((V, 4)).astype(np.float32)

    def features(x):
        h = table[np.asarray(x)]
        padded = np.pad(h, ((0, 0), (reach, reach), (0, 0)))
        n = h.shape[1]
        return np.tanh(padded[:, :n] + h + padded[:, 2 * reach : 2 * reach + n])

    return features, lambda x: features(x).mean(1) @ np.eye(4)[:, :C]


def wrapped(seed=0, reach=1, **more):
    f, g = made(seed, reach)
    return ll.wrap(g, vocab=V, features=f, name="sum", quiet=True, **more)


class Options(unittest.TestCase):
    def setUp(self):
        try:
            if ll.programs.run(["audit", "--help"], check=False).returncode != 0:
                self.skipTest("this lra-probe has no audit")
        except ll.ProgramError as e:
            self.skipTest(str(e))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.d = folder.name
        x = np.random.default_rng(1).integers(0, V, (240, T))
        self.rows = ll.rows((x, made(0)[1](x).argmax(1)), vocab=V, name="neighbours")
        self.count = 0

    def audit(self, m, **options):
        options = {"parts": ["occlusion"], "examples": 4, "check": False, **options}
        return ll.audit(m, self.rows, out=os.path.join(self.d, "o"), quiet=True, **options)

    def counted(self, fail_after=None, error=KeyboardInterrupt, most=None):
        """A model that counts examples, and fails after a number of calls or for larger batches than `most`."""
        f, g = made(0)
        self.calls = 0

        def logits(x):
            if most is not None and len(x) > most:
                raise error
            self.count += len(x)
            self.calls += 1
            if fail_after is not None and self.calls > fail_after:
                raise error
            return g(x)

        def features(x):
            self.count += len(x)
            return f(x)

        return ll.wrap(logits, vocab=V, features=features, name="sum", quiet=True)

    def test_seeds_of_one_architecture(self):
        a = self.audit([wrapped(k) for k in range(3)], seed=5)
        self.assertEqual(len(set(a.runs)), 3)
        self.assertEqual({int(r["seed"]) for r in a.records() if r.get("seed") is not None}, {5, 6, 7})
        each = a.values("occlusion", "dist.mean.rel")
        self.assertEqual(len(each), 3)
        lo, hi = a.interval("occlusion", "dist.mean.rel")
        mean, half = np.mean(each), 4.302653 * np.std(each, ddof=1) / 3**0.5
        np.testing.assert_allclose((lo, hi), (mean - half, mean + half), rtol=1e-5)
        self.assertAlmostEqual(a.value("occlusion", "dist.mean.rel"), mean)
        one = self.audit(wrapped(0))
        lo, hi = one.interval("occlusion", "dist.mean.rel")
        self.assertTrue(lo <= one.value("occlusion", "dist.mean.rel") <= hi)

    def test_student_t(self):
        for n, t in ((1, 12.7062), (2, 4.302653), (4, 2.776445), (30, 2.042272)):
            self.assertAlmostEqual(student_t(n), t, 4)

    def test_initial_weights(self):
        """The trained model has reach 1, initial models have reach 3: the table shows both, and each draw is an audit of its own."""
        seeds = []

        def initial(seed):
            seeds.append(seed)
            return ll.wrap(made(seed, 3)[1], vocab=V, features=made(seed, 3)[0], quiet=True)

        state = np.random.get_state()[1].copy()
        a = self.audit(wrapped(), initial=initial, draws=2)
        self.assertTrue((state == np.random.get_state()[1]).all())
        record = next(r for r in a.records() if r["part"] == "occlusion" and r["id"] == "dist.q50")
        self.assertEqual(float(record["value"]), 1)
        self.assertEqual(float(record["null_init"]), 3)
        self.assertEqual(len(a.runs), 1)
        self.assertEqual(len(a.initial.runs), 2)
        self.assertEqual(a.initial.values("occlusion", "dist.q50"), [3, 3])
        self.assertEqual(len(set(seeds)), len(seeds[:2]))
        with self.assertRaisesRegex(ValueError, "draws=2"):
            self.audit(wrapped(), draws=2)

    def test_initial_function_without_seed_is_seeded(self):
        values = []

        def initial():
            values.append(np.random.random())
            return made(0)[1]

        m = wrapped()
        for seed in (3, 3, 4):
            ll.serve.__globals__["fresh_model"](m, initial, seed)
        self.assertEqual(values[0], values[1])
        self.assertNotEqual(values[0], values[2])

    def test_null_model(self):
        a = self.audit(wrapped(0), null=wrapped(9, 3))
        self.assertEqual(a.value("occlusion", "dist.q50"), 1)
        self.assertEqual(a.null.value("occlusion", "dist.q50"), 3)
        self.assertIn("sum.null", a.null.run)

    def test_record_and_replay(self):
        tape = os.path.join(self.d, "tape")
        a = self.audit(wrapped(), record=tape, check=True)
        b = self.audit(None, name="sum", replay=tape, check=True, options=["--force"])
        self.assertEqual(a.records(), b.records())
        for arguments, options in (
            ((None,), {}),
            ((wrapped(),), dict(replay=tape)),
            (([wrapped(), wrapped()],), dict(record=tape)),
        ):
            with self.assertRaises(ValueError):
                self.audit(*arguments, **options)
        with self.assertRaises(TypeError):
            self.audit(made(0)[1])
        with self.assertRaisesRegex(ll.AuditError, "no answer to request|differs from"):
            self.audit(None, name="sum", replay=tape, check=True, examples=5, options=["--force"])

    def test_budget_is_printed_and_held(self):
        said = io.StringIO()
        m = self.counted()
        with contextlib.redirect_stderr(said):
            ll.audit(
                m,
                self.rows,
                parts=["occlusion", "position"],
                check=False,
                budget="0.2 s",
                out=os.path.join(self.d, "b"),
            )
        self.assertRegex(said.getvalue(), r"budget: 0.2 s are \d+ passes of one example, at .* examples/s")
        text = said.getvalue()
        self.assertLess(text.index("budget:"), text.index("passes,"))  # the cost of the parts is printed first
        self.count = 0
        self.audit(self.counted(), parts=["occlusion", "position"], examples=None, budget=2000, seed=1)
        test = len(self.rows.index("test"))
        self.assertLessEqual(self.count, 2000 + 2 * test + 8)  # outputs of all test rows, and the handshake
        self.assertGreater(self.count, 500)

    def test_interrupted_audit_continues(self):
        options = dict(parts=["occlusion", "position"], check=False)  # a check calls until its time limit
        m = self.counted()
        whole = ll.audit(m, self.rows, out=os.path.join(self.d, "w"), quiet=True, examples=4, **options)
        calls = self.calls
        with self.assertRaises(KeyboardInterrupt):
            self.audit(self.counted(fail_after=calls - 3), **options)
        a = self.audit(self.counted(), **options)
        self.assertTrue(any("(measured)" in line for line in a.messages), a.messages)
        self.assertEqual(
            [(r["part"], r["id"], r["value"]) for r in a.records()],
            [(r["part"], r["id"], r["value"]) for r in whole.records()],
        )
        b = self.audit(self.counted(), **options)  # all parts are already measured
        self.assertEqual(b.run, a.run)

    def test_out_of_memory_halves_the_batch_once(self):
        m = self.counted(most=5, error=MemoryError)
        a = self.audit(m, parts=["position"])
        self.assertTrue(any("out of memory with" in line for line in a.messages), a.messages)
        self.assertLessEqual(m.max_batch, 5)
        self.assertGreaterEqual(m.max_batch, 2)
        b = self.audit(m, parts=["position"], options=["--force"])
        self.assertFalse(any("out of memory" in line for line in b.messages), b.messages)
        whole = self.audit(self.counted(), parts=["position"], options=["--force"])
        self.assertEqual(a.value("position", "pos.edge"), whole.value("position", "pos.edge"))
        with self.assertRaisesRegex(ll.AuditError, "out of memory"):
            self.audit(self.counted(fail_after=4, error=MemoryError), parts=["position"], options=["--force"])

    def test_two_audits_at_once(self):
        errors, audits = [], [None, None]

        def run(k):
            try:
                audits[k] = self.audit(wrapped(k), name=f"net{k}")
            except Exception as e:
                errors.append(e)

        threads = [threading.Thread(target=run, args=(k,)) for k in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(errors, [])
        self.assertTrue(all(f"net{k}" in audits[k].run for k in range(2)))


if __name__ == "__main__":
    unittest.main()
