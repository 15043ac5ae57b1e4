# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/lab that need no VM."""

import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading

import patience
from ktap import test
from toolslib import require

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{TREE}/tools/lab")
import lablib  # noqa: E402

HEADER, NONCE = 8, 16
STATUS = 7


def read(connection, count):
    data = b""
    while len(data) < count:
        data += connection.recv(count - len(data))
    return data


def serve(port):
    """QEMU's end of a command channel: it disconnects the first client, and the second one's command ends at once."""
    port.accept()[0].close()
    connection = port.accept()[0]
    connection.sendall(read(connection, HEADER + NONCE))  # H: the session is established
    read(connection, HEADER)  # X: a command
    connection.sendall(b"R\0\0\0" + struct.pack("<II", 4, STATUS))
    connection.recv(1)
    connection.close()


@test
def agent_tries_a_channel_again_that_disconnected_it():
    with tempfile.TemporaryDirectory(prefix="ghyvi-agent.") as folder, socket.socket(socket.AF_UNIX) as port:
        port.bind(f"{folder}/cmd.0")
        port.listen()
        server = threading.Thread(target=serve, args=(port,), daemon=True)
        server.start()
        done = patience.run([lablib.agent(), "call", "-w", "10", "-t", "10", f"{folder}/cmd", "true"], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, limit_s=60)
    require(done.returncode == STATUS, f"status {done.returncode}: {done.stderr}")
