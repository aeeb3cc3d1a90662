"""The program that lra-probe starts for a model in another process: copies stdin to a socket and the socket to stdout.

Run as a file, with the path of a Unix socket; it imports nothing of the package, so that it starts at once.
"""

import os
import socket
import sys
import threading


def _copy(read, write, end) -> None:  # type: ignore[no-untyped-def]
    try:
        while True:
            piece = read(1 << 20)
            if not piece:
                break
            write(piece)
        end()
    except OSError:  # the other end is gone
        pass


def _write_all(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def main(path: str) -> None:
    """Copies in both directions; returns when the model has closed the socket."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    to_model = threading.Thread(
        target=_copy,
        args=(lambda n: os.read(0, n), s.sendall, lambda: s.shutdown(socket.SHUT_WR)),
        daemon=True,
    )
    to_model.start()
    _copy(s.recv, _write_all, lambda: None)


if __name__ == "__main__":
    main(sys.argv[1])
