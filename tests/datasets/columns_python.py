"""Random files and what Python reads from them, for tests/datasets/columns_python_test.c:
   columns_python.py FOLDER SEED N    writes FILE and FILE.expected"""
import csv, io, json, math, random, re, struct, sys

import numpy as np

folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
NUMBER = re.compile(r"[ \t]*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan)[ \t]*", re.I | re.A)
MISSING = {"", "NA", "NaN", "nan", "null", "NULL", "None"}
LETTERS = ["a", "B", "0", " ", ",", '"', "\n", "\r\n", "\r", "\t", ";", "é", "ß", "漢", "😀", "'", "\\", "\u2028", "-", "."]


def text(most=12):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(most)))


def number():
    return rng.choice([
        lambda: repr(rng.randrange(-100, 100)), lambda: repr(rng.gauss(0, 1)), lambda: "%.3g" % rng.gauss(0, 1e9),
        lambda: repr(rng.random() * 10.0 ** rng.randrange(-320, 308)), lambda: str(rng.randrange(2 ** 63)),
        lambda: "%d.%03de%d" % (rng.randrange(99), rng.randrange(999), rng.randrange(-30, 30)),
        lambda: "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 40))), lambda: "1e999", lambda: "-inf"])()


def f64(v):
    return "nan" if math.isnan(v) else struct.pack(">d", v).hex()


def f32(v):
    v = np.float32(v)
    return "nan" if math.isnan(v) else struct.pack(">f", v).hex()


def hexed(t):
    return t.encode().hex() or "-"


def show(name, kind, rows):
    return "column %s %s\n" % (hexed(name), kind) + "".join(r + "\n" for r in rows)


def write(name, data, expected):
    with open(folder + "/" + name, "wb") as f:
        f.write(data)
    with open(folder + "/" + name + ".expected", "w") as f:
        f.write(expected)


# ---- csv, tsv: written and read by the module csv
def delimited(name, separator):
    n, m = rng.randrange(1, 12), rng.randrange(2, 5)
    columns = []
    for k in range(m):
        kind = rng.choice(["text", "number", "gaps", "both"])
        make = {"text": text, "number": number, "both": lambda: rng.choice([text, number])(),
                "gaps": lambda: rng.choice([number, lambda: rng.choice(sorted(MISSING))])()}[kind]
        columns.append([make() for _ in range(n)])
    out = io.StringIO(newline="")
    # QUOTE_MINIMAL quotes the characters of the line end only.
    end, quoting = rng.choice([("\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)])
    w = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
    w.writerow(["c%d %s" % (k, rng.choice(["", '"', "é"])) for k in range(m)])
    w.writerows(zip(*columns))
    rows = list(csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=separator))
    expected = ""
    for k, head in enumerate(rows[0]):
        cells = [r[k] for r in rows[1:]]
        rest = [c for c in cells if c not in MISSING]
        values = [float(c) for c in rest if NUMBER.fullmatch(c)]
        if all(NUMBER.fullmatch(c) for c in rest) and (values or all(c == "" for c in cells)):
            expected += show(head.strip(" "), "number", [f64(math.nan if c in MISSING else float(c)) for c in cells])
        else:
            expected += show(head.strip(" "), "text", [hexed(c) for c in cells])
    write(name, out.getvalue().encode(), expected)


# ---- jsonl: written and read by the module json
def json_lines(name):
    n = rng.randrange(1, 12)
    kinds = {"k%d" % k + rng.choice(["", "é", '"']): rng.choice(["text", "int", "real", "ids", "x", "mixed", "v"]) for k in range(4)}
    width = rng.randrange(1, 4)

    def value(kind):
        real = lambda: rng.choice([rng.gauss(0, 1), rng.random() * 10.0 ** rng.randrange(-300, 37), 0.0, -0.0])
        ints = lambda: rng.choice([rng.randrange(-5, 9), rng.randrange(-2 ** 63, 2 ** 63), True])
        size = rng.randrange(5)
        return {"text": text, "int": lambda: rng.randrange(-2 ** 53, 2 ** 53), "real": real,
                "ids": lambda: [ints() for _ in range(size)], "x": lambda: [rng.choice([real, real, lambda: None])() for _ in range(size)],
                "mixed": lambda: [rng.choice([real, lambda: rng.randrange(99)])() for _ in range(size)],
                "v": lambda: [[real() for _ in range(width)] for _ in range(size)]}[kind]()

    rows = []
    for _ in range(n):
        keys = [k for k in kinds if rng.random() < 0.9]
        rng.shuffle(keys)
        rows.append({k: None if rng.random() < 0.1 else value(kinds[k]) for k in keys})
    if not any(rows):
        rows[0] = {"z": 1}
    data = rng.choice(["", "\ufeff"]) + "".join(
        json.dumps(r, ensure_ascii=rng.random() < 0.5) + rng.choice(["\n", "\r\n", "\n\n"]) for r in rows)
    rows = [json.loads(line) for line in data.lstrip("\ufeff").replace("\r\n", "\n").split("\n") if line.strip()]
    names = list(dict.fromkeys(k for r in rows for k in r))
    expected = ""
    for k in names:
        cells = [r.get(k) for r in rows]
        present = [c for c in cells if c is not None]
        lists = [c for c in present if isinstance(c, list)]
        flat = [v for c in lists for v in c]
        if any(isinstance(c, str) for c in present):
            expected += show(k, "text", [hexed(c or "") for c in cells])
        elif not lists:
            expected += show(k, "number", [f64(math.nan if c is None else float(c)) for c in cells])
        elif all(isinstance(v, int) for v in flat):
            expected += show(k, "ids", [" ".join(str(int(v)) for v in c or []) or "-" for c in cells])
        else:
            nested = [v for v in flat if isinstance(v, list)]
            steps = lambda c: [v if isinstance(v, list) else [v] for v in c or []]
            expected += show(k, "values %d" % (len(nested[0]) if nested else 1),
                             [" ".join(f32(math.nan if x is None else x) for s in steps(c) for x in s) or "-" for c in cells])
    write(name, data.encode(), expected)


# ---- npz by numpy, safetensors by its definition
def array(n):
    rank = rng.choice([1, 1, 2, 2, 3])
    shape = (n,) + tuple(rng.randrange(0 if k == 0 else 1, 5) for k in range(rank - 1))
    kind = rng.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "b1", "U"])
    if kind == "U":
        return np.array([text(6) for _ in range(n)])
    if kind[0] == "f":
        a = np.array([rng.gauss(0, 1) for _ in range(int(np.prod(shape)))]).reshape(shape).astype(kind)
        if a.size and rng.random() < 0.3:
            a.flat[0] = rng.choice([np.nan, np.inf])
    elif kind == "b1":
        return np.array([rng.random() < 0.5 for _ in range(int(np.prod(shape)))]).reshape(shape)
    else:
        info = np.iinfo(kind)
        most = min(info.max, 2 ** 63 - 1)
        a = np.array([rng.choice([rng.randrange(info.min, most + 1), most, 0]) for _ in range(int(np.prod(shape)))],
                     dtype=kind).reshape(shape)
    if rng.random() < 0.3 and a.ndim > 1:
        a = np.asfortranarray(a)
    return a.astype(a.dtype.newbyteorder(">")) if rng.random() < 0.2 else a


def expect(arrays):
    expected = ""
    for name, a in arrays.items():
        if a.dtype.kind == "U":
            expected += show(name, "text", [hexed(str(v)) for v in a])
        elif a.ndim == 1 or (a.ndim == 2 and a.shape[1] == 1):
            expected += show(name, "number", [f64(float(v)) for v in a.reshape(-1)])
        elif a.ndim == 2 and a.dtype.kind in "iub":
            expected += show(name, "ids", [" ".join(str(int(v)) for v in r) or "-" for r in a])
        else:
            flat = a.reshape(a.shape[0], -1)
            expected += show(name, "values %d" % (a.shape[2] if a.ndim == 3 else 1),
                             [" ".join(f32(v) for v in r) or "-" for r in flat])
    return expected


def npz(name):
    n = rng.randrange(1, 9)
    arrays = {"a%d" % k: array(n) for k in range(rng.randrange(1, 5))}
    rng.choice([np.savez, np.savez_compressed])(folder + "/" + name, **arrays)
    with open(folder + "/" + name, "rb") as f:
        data = f.read()
    with np.load(folder + "/" + name) as z:
        write(name, data, expect({k: z[k] for k in z.files}))


def safetensors(name):
    n = rng.randrange(1, 9)
    codes = {"i1": "I8", "i2": "I16", "i4": "I32", "i8": "I64", "u1": "U8", "u2": "U16", "u4": "U32", "u8": "U64",
             "f2": "F16", "f4": "F32", "f8": "F64", "b1": "BOOL"}
    head, body, kept = {}, b"", {}
    for k in range(rng.randrange(1, 5)):
        a = array(n)
        if a.dtype.kind == "U":
            continue
        a = np.ascontiguousarray(a.astype(a.dtype.newbyteorder("<")))
        code, raw = codes[a.dtype.kind + str(a.dtype.itemsize)], a.tobytes()
        if a.dtype.str == "<f4" and rng.random() < 0.5:  # bfloat16: the upper half
            bits = a.view("<u4") & np.uint32(0xFFFF0000)
            code, raw, a = "BF16", (bits >> 16).astype("<u2").tobytes(), bits.view("<f4")
        head["t%d" % k] = {"dtype": code, "shape": list(a.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body, kept["t%d" % k] = body + raw, a
    if not kept:
        return json_lines(name.replace(".safetensors", ".jsonl"))
    # The reader orders empty tensors, which share an offset, by name: they are written so.
    text_head = json.dumps(head).encode()
    write(name, struct.pack("<Q", len(text_head)) + text_head + body, expect(kept))


for i in range(count):
    delimited("d%d.csv" % i, ",")
    delimited("d%d.tsv" % i, "\t")
    json_lines("j%d.jsonl" % i)
    npz("n%d.npz" % i)
    safetensors("s%d.safetensors" % i)
