"""A command on a terminal of Unix, which shows what it shows to people."""

import os
import signal
import subprocess


def on_a_terminal(command, *, out_too=False, interrupt_at=None):
    """Run a command with stderr on a terminal; return what came there, code and stdout.

    With ``out_too`` both are there, and nothing is anywhere else. Once ``interrupt_at``
    is read there, the command is interrupted.
    """
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        list(map(str, command)),
        stdout=theirs if out_too else subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    ) as running:
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # the other end has closed
                break
            if not chunk:
                break
            shown += chunk
            if interrupt_at and interrupt_at in shown:
                running.send_signal(signal.SIGINT)
                interrupt_at = None
        out = "" if out_too else running.stdout.read().decode()
    os.close(ours)
    return shown.decode(), running.returncode, out
