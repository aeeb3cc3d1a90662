"""Compares models with references in PyTorch (2 or newer): tests/parity/run.sh.

    parity.py DUMP [MODEL...]     DUMP: build/release/tests/parity_dump; prints a line per case to stderr, a table to stdout

A reference is a file tests/parity/MODEL.py, written from the paper.  It defines
  CASES                                       the changes of the tiny settings to be tested; the key pool=mean|last|max|cls
                                              belongs to the network
  encode(P, x, length, config, T_max)         the encoder: x (B,T,D) to (B,T,D).  P: arrays by path, including constants and
                                              states of the model (random constants are those that the C code drew);
                                              P.start: their initial values, for layers that divide by them, and for checks
                                              of the initialisation
  zero(config)                                optional: patterns (fnmatch) of parameters whose gradient is or may be 0 up to
                                              rounding (below 1e-13 of the model's largest gradient)
  ILL = {CHANGES: WHY}                        optional: the reason why float32 is inaccurate for a change.  The limits stay
                                              the same, so the row still fails; the reason is printed below the table with
                                              the error of PyTorch's own float32, for this draw of the weights and for 16
encode() is called in float64, in training, and under autocast to bf16.  Its types must follow x.dtype (dtype=torch.float64
becomes float32 there), linear layers must be common.linear(), and asserts on values must use P.start and a tolerance.

Every change is tested at three lengths; the second and third row of a batch are shorter than the first.  Errors are relative
to the largest value of a tensor, or to a millionth of the model's largest gradient if that is larger; for a gradient that is
0 up to rounding, to the model's largest gradient.  Limits:
  float64   loss and logits; the gradient of every parameter; 20 losses of AdamW at rate 1e-2, decay 0.1       1e-9
  float32   logits and gradients of the engine against float64 of PyTorch                                      1e-4
  bf16      error of the engine against float64, divided by that of PyTorch's autocast, over all lengths of a
            change: for the logits, and as geometric mean over the gradients of all parameters (the largest
            one is printed, too).  For a single small model both errors are random, so they are geometric
            means over 16 draws of the weights (all lengths of the first draw, one length of each other draw).
            Medians are printed as well; they do not change if a ReLU unit, an LSH bucket or a channel maximum
            changes in one draw                                                                                2
"""
import fnmatch
import importlib
import math
import statistics
import sys

import torch

import batch as batches

STEPS = 13, 37, 40  # lengths of a batch in tokens; T_max is 40
DRAWS = 16
LIMIT = {"forward": 1e-9, "gradient": 1e-9, "losses": 1e-9, "float32": 1e-4, "bf16": 2.0}


def distance(ours, theirs, floor=0.0):
    most = max(float(theirs.abs().max()), floor)
    return float((ours - theirs).abs().max()) / most if most else 0.0


def zeros(reference, config, grad):
    """Paths of the gradients below 1e-13 of the largest one, and those of them that zero() does not name."""
    most = max(float(g.abs().max()) for g in grad.values())
    patterns = getattr(reference, "zero", lambda config: ())(config)
    none = {p for p, g in grad.items() if float(g.abs().max()) < 1e-13 * most}
    return none, {p for p in none if not any(fnmatch.fnmatch(p, pattern) for pattern in patterns)}


class Case:
    """One change at one length and one draw of the weights: errors, and the list of failed checks."""

    def __init__(self, name, changes, steps, program, draw):
        self.name, self.changes, self.steps = name, changes, steps
        self.reference = importlib.import_module(name)
        encode = self.reference.encode
        kind = batches.pool_of(changes)
        f64, f32, bf16 = batches.dump(program, name, changes, steps, draw)
        logits, loss, self.grad = batches.gradients(encode, f64, kind)
        self.most = max(float(g.abs().max()) for g in self.grad.values())
        self.zero, self.unsaid = zeros(self.reference, f64.config, self.grad)
        self.compare_half(bf16, logits, *batches.gradients(encode, bf16, kind, torch.bfloat16)[::2])
        self.path = {}
        self.why = getattr(self.reference, "ILL", {}).get(changes)
        if self.why:
            single, _, grad = batches.gradients(encode, f32, kind, torch.float32)
            self.single = max(distance(single, logits), self.worst("single", grad))
        self.error = {"float32": max(distance(f32.output, logits), self.worst("float32", f32.all("grad")))}
        if draw > 0:
            return
        self.error.update(
            forward=max(abs(f64.loss - loss) / loss, distance(f64.output, logits)),
            gradient=self.worst("gradient", f64.all("grad")),
            losses=distance(f64.arrays["losses"], batches.losses(encode, f64, kind)))

    def compare_half(self, bf16, logits, cast_logits, cast_grad):
        """Sets the errors in bf16 of the engine and of PyTorch's autocast."""
        self.half = {"logits": (norm(bf16.output - logits) / norm(logits), norm(cast_logits - logits) / norm(logits))}
        for path, grad in bf16.all("grad").items():
            if path not in self.zero:
                size = max(norm(self.grad[path]), 1e-6 * self.most)
                self.half[path] = norm(grad - self.grad[path]) / size, norm(cast_grad[path] - self.grad[path]) / size

    def worst(self, what, ours):
        """The largest error of a gradient."""
        floor = {p: self.most if p in self.zero else 1e-6 * self.most for p in self.grad}
        off = {p: distance(ours[p].double(), g, floor[p]) for p, g in self.grad.items()}
        self.path[what] = max(off, key=off.get)
        return off[self.path[what]]

    def complaints(self):
        for what, error in self.error.items():
            if not error <= LIMIT[what]:
                yield f"{what} {error:.1e} {self.path.get(what, '')}"
        for path in sorted(self.unsaid):
            yield f"the gradient of '{path}' is 0, which zero() does not say"


def ratio(cases):
    """Errors in bf16 divided by those of autocast, over all lengths: of logits, of gradients, and of the worst gradient."""
    square = {}
    for case in cases:
        for path, pair in case.half.items():
            ours, theirs = square.get(path, (0, 0))
            square[path] = ours + pair[0] ** 2, theirs + pair[1] ** 2
    one = {p: math.sqrt(a / b) for p, (a, b) in square.items() if b}
    logits = one.pop("logits")
    return logits, math.exp(sum(math.log(max(r, 1e-3)) for r in one.values()) / len(one)), max(one.values()), max(one, key=one.get)


def short(cases, draws):
    """Text for a case of ILL: errors in float32 of the engine and of PyTorch, as geometric means over 16 draws, and the largest of the first draw."""
    first = max(c.error["float32"] for c in cases), max(c.single for c in cases)
    errors = zip(*((c.error["float32"], c.single) for c in cases + draws))
    ours, theirs = (statistics.geometric_mean(max(e, 1e-9) for e in es) for es in errors)
    return f"float32 {first[0]:.1e}, PyTorch's own {first[1]:.1e}; geometric means over 16 draws {ours:.1e} and {theirs:.1e}"


def walk(name, program):
    """Runs all cases of a model: returns a row of the table, and whether all checks passed."""
    row, ok, notes = dict.fromkeys([*LIMIT, "median", "one"], 0.0), True, []
    changes = importlib.import_module(name).CASES
    for change in changes:
        cases = [Case(name, change, steps, program, 0) for steps in STEPS]
        draws = [Case(name, change, STEPS[d % len(STEPS)], program, d) for d in range(1, DRAWS)]
        ratios = [ratio(cases)] + [ratio([case]) for case in draws]
        half, middle = (max(mean([r[i] for r in ratios]) for i in (0, 1)) for mean in (statistics.geometric_mean, statistics.median))
        one, path = max(r[2:] for r in ratios)
        row.update(bf16=max(row["bf16"], half), median=max(row["median"], middle), one=max(row["one"], one))
        for case in cases:
            bad = list(case.complaints())
            ok &= not bad
            row.update({k: max(row[k], e) for k, e in case.error.items()})
            print(f"{name} {change or '(tiny)'}, {case.steps} steps: " + ", ".join(f"{k} {case.error[k]:.1e}" for k in LIMIT if k in case.error)
                  + "".join(f"\n  FAILED: {b}" for b in bad), file=sys.stderr)
        ok &= half <= LIMIT["bf16"]
        print(f"  bf16 over autocast: {half:.2f}, median {middle:.2f}, the worst parameter {one:.2f} ({path})"
              + ("" if half <= LIMIT["bf16"] else "  FAILED"), file=sys.stderr, flush=True)
        if cases[0].why:
            notes.append(f"{name} {change or '(tiny)'}: {short(cases, draws)}: {cases[0].why}")
    return [len(changes)] + list(row.values()), ok, notes


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ok, notes = True, []
    print(f"PyTorch {torch.__version__}; errors at most " + ", ".join(f"{k} {e:g}" for k, e in LIMIT.items())
          + "; a variant is gone through at 3 lengths with padding; bf16: geometric mean over 16 draws; median of these, and worst of one parameter: without a limit")
    print(f"{'model':20}{'variants':>9}{'forward':>10}{'gradient':>10}{'losses':>10}{'float32':>10}{'bf16 x':>8}{'median x':>10}{'worst x':>11}")
    for name in sys.argv[2:] or batches.references():
        row, good, more = walk(name, sys.argv[1])
        ok, notes = ok and good, notes + more
        print(f"{name:20}{row[0]:9}{row[1]:10.1e}{row[2]:10.1e}{row[3]:10.1e}{row[4]:10.1e}{row[5]:8.2f}{row[6]:10.2f}{row[7]:11.2f}"
              + ("" if good else "  FAILED"), flush=True)
    print("\n".join(notes))
    return 0 if ok else 1


def norm(x):
    return float(x.norm())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())
