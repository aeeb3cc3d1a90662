"""Every example of probes/python/examples runs, in at most 30 lines; those whose packages are absent are skipped."""
# labels: slow; timeout: 1200

import ast
import os
import subprocess
import sys
import tempfile
import unittest

import lra_locality as ll
from small_models import has

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(ll.__file__))), "examples")
# Without a program that audits (not built, or older), everything up to the audit is run.
WITHOUT_AUDIT = "import lra_locality as ll; ll.audit = lambda m, rows, **options: 'no audit'; "


def can_audit():
    try:
        return ll.programs.run(["audit", "--help"], check=False).returncode == 0
    except ll.ProgramError:
        return False


class Examples(unittest.TestCase):
    def test_readme_quotes_the_example(self):
        """Every line of code in the README's section is one of torch_gru.py."""
        root = os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))
        readme = os.path.join(root, "README.md")
        if not os.path.isfile(readme):
            self.skipTest("installed without the sources")
        with open(readme, encoding="utf-8") as f:
            section = f.read().split("## Your model\n")[1].split("prints, after")[0]
        with open(os.path.join(FOLDER, "torch_gru.py")) as f:
            lines = f.read().splitlines()
        quoted = [line[4:] for line in section.split("class Net")[1].splitlines()[1:] if line.strip()]
        self.assertGreater(len(quoted), 8)
        self.assertEqual([line for line in quoted if line not in lines], [])


def add(name):
    def test(self):
        path = os.path.join(FOLDER, name)
        with open(path) as f:
            text = f.read()
        self.assertLessEqual(len(text.splitlines()), 30)
        tree = ast.parse(text)
        self.assertTrue(ast.get_docstring(tree))
        packages = {
            a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
        }
        packages |= {
            n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module
        }
        missing = [p for p in sorted(packages) if not has(p)]
        if missing:
            self.skipTest(f"needs {', '.join(missing)}")
        start = "" if can_audit() else WITHOUT_AUDIT
        with tempfile.TemporaryDirectory() as d:
            code = f"{start}import runpy; runpy.run_path({path!r}, run_name='__main__')"
            done = subprocess.run(
                [sys.executable, "-c", code],
                cwd=d,
                env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        self.assertNotIn("  failed", done.stdout)
        # fit() prints no table of checks: the model is compared with built-in ones
        self.assertIn("user.gla" if name.startswith("fit_") else "check of", done.stdout)

    setattr(Examples, "test_" + name[:-3], test)


for name in sorted(os.listdir(FOLDER)):
    if name.endswith(".py"):
        add(name)

if __name__ == "__main__":
    unittest.main()
