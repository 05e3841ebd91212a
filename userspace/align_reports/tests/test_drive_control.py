# SPDX-License-Identifier: GPL-2.0
"""The control socket of drive512e: each way in which the drive does not answer is an error that names the socket."""

import socket
import threading

import pytest

from align_reports.drive import Control


@pytest.fixture
def drive(tmp_path):
    """Return a function that gives the control of a drive, which answers its one command with these bytes and ends."""
    def answering(answer):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(tmp_path / "control"))
        listener.listen()

        def serve():
            with listener, listener.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(answer)
        threading.Thread(target=serve).start()
        return Control(str(tmp_path / "control"))
    return answering


def test_an_answer_is_a_document(drive):
    assert drive(b'{"touches": 3}\n')("stats") == {"touches": 3}


@pytest.mark.parametrize("answer, said", [
    (b"", "no answer; see why the drive has ended"), (b'{"touches": 3, "rm', "no answer; see why the drive has ended"),
    (b'{"ok": false, "error": "power is off"}\n', "power is off")])
def test_what_is_no_answer_is_an_error_of_the_drive(drive, answer, said, tmp_path):
    with pytest.raises(OSError) as raised:
        drive(answer)("stats")
    assert str(raised.value) == f"{tmp_path}/control: stats: {said}"
