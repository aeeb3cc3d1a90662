"""Frames and safetensors images: bytes, round trips, and every kind of damage."""

import json
import os
import struct
import tempfile
import threading
import unittest

import numpy as np

from lra_locality import frames


def image(header, data=b"", n=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if n is None else n) + text + data


def tensor(dtype="F32", shape=(2,), begin=0, end=8):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


class Images(unittest.TestCase):
    def test_golden_bytes(self):
        got = frames.encode(
            {"b": np.array([1, 2], np.uint8), "a": np.array([1.5], np.float32)},
            {"op": "x", "id": 1},
        )
        text = (
            b'{"__metadata__":{"id":"1","op":"x"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
            b'"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}}'
        )
        text += b" " * (-len(text) % 8)
        self.assertEqual(
            got,
            struct.pack("<Q", len(text)) + text + struct.pack("<f", 1.5) + b"\x01\x02",
        )

    def test_round_trip_of_every_type(self):
        rng = np.random.default_rng(0)
        for dtype in (
            "?",
            "u1",
            "i1",
            "u2",
            "i2",
            "f2",
            "u4",
            "i4",
            "f4",
            "u8",
            "i8",
            "f8",
            "c8",
            ">f4",
            ">i8",
        ):
            for shape in ((), (0,), (3,), (2, 0, 4), (2, 3, 4)):
                a = (rng.random(shape) * 2).astype(dtype)
                meta, out = frames.decode(frames.encode({"x": a}, {"k": "v"}))
                self.assertEqual(meta, {"k": "v"})
                self.assertEqual(out["x"].shape, a.shape)
                np.testing.assert_array_equal(out["x"], a)

    def test_bf16_becomes_float32(self):
        bits = np.array([0x3FC0, 0xBF80], "<u2")
        _, out = frames.decode(image({"x": tensor("BF16", (2,), 0, 4)}, bits.tobytes()))
        np.testing.assert_array_equal(out["x"], np.array([1.5, -1.0], np.float32))

    def test_transposed_array_is_written_row_major(self):
        a = np.arange(6, dtype=np.float32).reshape(2, 3).T
        np.testing.assert_array_equal(frames.decode(frames.encode({"x": a}))[1]["x"], a)

    def test_refused(self):
        ok = tensor()
        cases = [
            (b"", "0 bytes"),
            (b"\x01" * 7, "7 bytes"),
            (image({}, n=1 << 63), "a header of"),
            (image({}, n=3), "a header of"),
            (image(b" {}"), "does not begin"),
            (image(b"{\xff}"), "not UTF-8"),
            (image(b"{"), "not JSON"),
            (image(b"{}x"), "not JSON"),
            (image(b'{"a":' + b"[" * 100000), "nested"),
            (
                image(
                    b'{"x":' + json.dumps(ok).encode() + b',"x":' + json.dumps(ok).encode() + b"}",
                    bytes(8),
                ),
                "twice",
            ),
            (image({"__metadata__": {"a": 1}}), "strings"),
            (image({"__metadata__": []}), "strings"),
            (image({"x": 3}), "expected dtype"),
            (image({"x": {**ok, "more": 1}}, bytes(8)), "expected dtype"),
            (image({"x": tensor("F4")}, bytes(8)), "cast it"),
            (image({"x": tensor("Q8")}, bytes(8)), "unknown dtype"),
            (image({"x": tensor(shape=(1,) * 9, end=4)}, bytes(4)), "at most 8"),
            (image({"x": tensor(shape=(True, 2))}, bytes(8)), "list of at most"),
            (
                image(b'{"x":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}', bytes(8)),
                "the number -2",
            ),
            (
                image(
                    b'{"x":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}',
                    bytes(8),
                ),
                "the number 2.0",
            ),
            (
                image(
                    b'{"x":{"dtype":"F32","shape":[1e2],"data_offsets":[0,8]}}',
                    bytes(8),
                ),
                "the number 1e2",
            ),
            (
                image(
                    b'{"x":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}',
                    bytes(8),
                ),
                "the number NaN",
            ),
            (
                image(
                    b'{"x":{"dtype":"F32","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,8]}}',
                    bytes(8),
                ),
                "the number 9",
            ),
            (image({"x": tensor(shape=(1 << 40, 1 << 40), end=0)}), "needs"),
            (image({"x": tensor(begin=8, end=0)}, bytes(8)), "needs"),
            (image({"x": tensor(begin=4, end=12)}, bytes(12)), "begins at byte 4"),
            (
                image({"x": tensor(), "y": tensor(begin=4, end=12)}, bytes(12)),
                "begins at byte 4",
            ),
            (image({"x": tensor()}, bytes(9)), "end at byte 8"),
            (image({"x": tensor()}, bytes(7)), "end at byte 8"),
            (image({"x": tensor("BOOL", (1,), 0, 1)}, b"\x02"), "neither 0 nor 1"),
        ]
        for raw, message in cases:
            with self.assertRaises(frames.FrameError, msg=repr(raw[:80])) as e:
                frames.decode(raw)
            self.assertIn(message, str(e.exception), repr(raw[:80]))

    def test_damage_never_escapes(self):
        """Every truncation and every one-byte change is either read or refused by a FrameError."""
        good = frames.encode(
            {"x": np.arange(4, dtype=np.float32), "y": np.zeros((2, 2), bool)},
            {"op": "forward", "id": 3},
        )
        for n in range(len(good)):
            with self.assertRaises(frames.FrameError):
                frames.decode(good[:n])
        for at in range(len(good)):
            for value in (
                0,
                1,
                0x20,
                0x22,
                0x2D,
                0x39,
                0x5B,
                0x7B,
                0x7D,
                0xFF,
                good[at] ^ 1,
            ):
                try:
                    frames.decode(good[:at] + bytes([value]) + good[at + 1 :])
                except frames.FrameError:
                    pass

    def test_file(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.safetensors")
            frames.save(path, {"a": np.arange(3)}, {"k": "v"})
            self.assertEqual(os.listdir(d), ["x.safetensors"])
            np.testing.assert_array_equal(frames.load(path)[1]["a"], [0, 1, 2])
            with self.assertRaises(TypeError):
                frames.save(path, {"a": np.array(["text"])})
            np.testing.assert_array_equal(frames.load(path)[1]["a"], [0, 1, 2])
            self.assertEqual(os.listdir(d), ["x.safetensors"])

    def test_reference_library(self):
        try:
            from safetensors.numpy import load as load_reference, save as save_reference
        except ImportError:
            self.skipTest("no safetensors")
        arrays = {
            "b": np.ones((2, 3), np.float32),
            "a": np.arange(5),
            "c": np.array([True, False]),
        }
        for name, a in load_reference(frames.encode(arrays)).items():
            np.testing.assert_array_equal(a, arrays[name])
        for name, a in frames.decode(save_reference(arrays))[1].items():
            np.testing.assert_array_equal(a, arrays[name])


class Frames(unittest.TestCase):
    def ends(self):
        a, b = frames.pair()
        b = frames.Channel.of_socket(b)
        self.addCleanup(a.close)
        self.addCleanup(b.close)
        return a, b

    def test_round_trip(self):
        a, b = self.ends()
        a.send({"op": "forward", "id": 7}, {"tokens": np.zeros((2, 3), np.int32)})
        meta, tensors = b.receive()
        self.assertEqual(meta, {"op": "forward", "id": "7"})
        self.assertEqual(tensors["tokens"].shape, (2, 3))
        a.close()
        self.assertIsNone(b.receive())

    def raw(self, data):
        a, b = self.ends()
        a._writer.write(data)
        a._writer.flush()
        a.close()
        with self.assertRaises(frames.FrameError) as e:
            b.receive()
        return str(e.exception)

    def test_refused(self):
        good = frames.encode({}, {"op": "x", "id": 1})
        head = lambda n, magic=b"LRAX", version=1, flags=0: struct.pack("<4sHHQ", magic, version, flags, n)
        self.assertIn("Loading checkpoint", self.raw(b"Loading checkpoint from disk\n"))
        self.assertIn("Hi", self.raw(b"Hi\n"))
        self.assertIn("after 9 of 16", self.raw(head(5)[:9]))
        self.assertIn("version 2", self.raw(head(len(good), version=2) + good))
        self.assertIn("flags 1", self.raw(head(len(good), flags=1) + good))
        self.assertIn("at most", self.raw(head(1 << 62)))
        self.assertIn("the stream ended after 3 of", self.raw(head(len(good)) + good[:3]))
        self.assertIn("without 'op'", self.raw(head(len(frames.encode({}))) + frames.encode({})))
        many = frames.encode({str(k): np.zeros(1) for k in range(65)}, {"op": "x", "id": 1})
        self.assertIn("65 tensors", self.raw(head(len(many)) + many))

    def answered(self, ops, requests):
        a, b = self.ends()
        out = []
        thread = threading.Thread(target=lambda: frames.answer({"model": "m"}, ops, b))
        thread.start()
        for k, op in enumerate(["hello", *requests]):
            a.send({"op": op, "id": k})
            out.append(a.receive())
        a.send({"op": "bye", "id": 99})
        thread.join()
        return out

    def test_answers(self):
        def fails(meta, tensors):
            raise ValueError("wrong\nshape")

        def memory(meta, tensors):
            raise RuntimeError("CUDA out of memory. Tried to allocate")

        def not_offered(meta, tensors):
            raise frames.Unsupported("no maps")

        ops = {
            "forward": lambda m, t: {"logits": np.zeros((1, 2), np.float32)},
            "a": fails,
            "b": memory,
            "c": not_offered,
        }
        hello, ok, wrong, oom, no, unknown = self.answered(ops, ["forward", "a", "b", "c", "d"])
        self.assertEqual(hello[0]["op"], "ready")
        self.assertEqual(hello[0]["ops"], "forward a b c")
        self.assertEqual((ok[0]["op"], ok[0]["id"]), ("result", "1"))
        self.assertEqual(
            (wrong[0]["code"], wrong[0]["text"]),
            ("internal", "ValueError: wrong\nshape"),
        )
        self.assertEqual(oom[0]["code"], "out_of_memory")
        self.assertEqual(no[0]["code"], "unsupported")
        self.assertEqual(unknown[0]["code"], "unsupported")

    def test_end_of_stream_ends_the_answers(self):
        a, b = self.ends()
        thread = threading.Thread(target=lambda: frames.answer({}, {}, b))
        thread.start()
        a.close()
        thread.join()


if __name__ == "__main__":
    unittest.main()
