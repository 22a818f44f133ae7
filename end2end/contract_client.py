"""A simulator that is not ours: runs any command and reports it to the app by the simulator contract.

Usage, as the app's sim command:

    CASCADE_SIM_CMD="python3 contract_client.py my-simulator --its-options"

It shares no code with `cascade worker` and needs only Python's standard library, so that the contract is
tested from outside. Options for the tests stand before the command: `--files DIR` uploads the files of a
folder after the command has ended, `--repeat` sends every call twice, which the contract allows.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

LINES_PER_CHUNK = 200
SECONDS_PER_CHUNK = 0.5
SECONDS_PER_BEAT = 5.0
GIVE_UP_AFTER = 120.0


class Refused(Exception):
    """The app answered 400 to 499: sending the same again would not help."""


class App:
    """The app's side of one sim."""

    def __init__(self, repeat: bool) -> None:
        sim = urllib.parse.quote(os.environ["CASCADE_SIM_ID"], safe="")
        self.base = f"{os.environ['CASCADE_MAIN_URL'].rstrip('/')}/api/sims/{sim}"
        self.token = os.environ["CASCADE_TOKEN"]
        self.times = 2 if repeat else 1
        self.cancelled = threading.Event()

    def call(self, method: str, path: str, body: bytes, kind: str) -> bytes:
        """One call, repeated while the app is away or fails; the answer's body."""
        pause, started = 0.2, time.monotonic()
        request = urllib.request.Request(f"{self.base}/{path}", body, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", kind)
        while True:
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return answer.read()
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    raise Refused(f"{method} {path}: {error.code} {error.read()[:300]!r}") from error
                problem: Exception = error
            except (urllib.error.URLError, OSError) as error:
                problem = error
            if time.monotonic() - started > GIVE_UP_AFTER:
                raise RuntimeError(f"{method} {path} kept failing: {problem}")
            time.sleep(pause)
            pause = min(pause * 2, 5.0)

    def post(self, path: str, body: dict) -> dict | None:
        data = json.dumps(body).encode()
        answers = [self.call("POST", path, data, "application/json") for _ in range(self.times)]
        return json.loads(answers[-1]) if answers[-1] else None

    def beat(self, state: str, exit_code: int | None = None, error: str | None = None) -> None:
        ack = self.post("heartbeat", {"state": state, "exit_code": exit_code, "error": error})
        if ack is not None and ack["cancel"]:
            self.cancelled.set()

    def put(self, path: pathlib.Path) -> None:
        name = urllib.parse.quote(path.name, safe="")
        for _ in range(self.times):
            self.call("PUT", f"files/{name}", path.read_bytes(), "application/octet-stream")


class Log:
    """Numbers the lines' chunks; a chunk goes when it is full or half a second old."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.seq = 0
        self.lines: list[str] = []
        self.since = 0.0
        self.lock = threading.Lock()

    def add(self, line: str) -> None:
        with self.lock:
            if not self.lines:
                self.since = time.monotonic()
            self.lines.append(line)
            if len(self.lines) >= LINES_PER_CHUNK:
                self._send()

    def flush(self, older_than: float = 0.0) -> None:
        with self.lock:
            if self.lines and time.monotonic() - self.since >= older_than:
                self._send()

    def _send(self) -> None:
        self.app.post("logs", {"seq": self.seq, "lines": self.lines})
        self.seq, self.lines = self.seq + 1, []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=pathlib.Path, help="upload this folder's files at the end")
    parser.add_argument("--repeat", action="store_true", help="send every call twice")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if not args.command:
        parser.error("no command to run")

    app = App(args.repeat)
    app.beat("running")
    if app.cancelled.is_set():
        return 0
    # The simulator needs no token.
    environment = {key: value for key, value in os.environ.items() if key != "CASCADE_TOKEN"}
    process = subprocess.Popen(
        args.command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        errors="replace",
        start_new_session=True,
    )

    def stop(*_: object) -> None:
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass

    signal.signal(signal.SIGTERM, stop)
    log, over = Log(app), threading.Event()

    def beats() -> None:
        while not over.wait(SECONDS_PER_BEAT):
            try:
                app.beat("running")
            except (Refused, RuntimeError) as error:
                print(f"heartbeat: {error}", file=sys.stderr)
            if app.cancelled.is_set():
                stop()

    def flushes() -> None:
        while not over.wait(SECONDS_PER_CHUNK / 2):
            log.flush(SECONDS_PER_CHUNK)

    threads = [threading.Thread(target=target, daemon=True) for target in (beats, flushes)]
    for thread in threads:
        thread.start()
    assert process.stdout is not None
    for line in process.stdout:
        log.add(line.rstrip("\n"))
    code = process.wait()
    over.set()
    for thread in threads:
        thread.join()
    if app.cancelled.is_set():
        return 0
    log.flush()
    for path in sorted(args.files.iterdir()) if args.files else []:
        if path.is_file():
            app.put(path)
    if code == 0:
        app.beat("succeeded", exit_code=0)
    else:
        app.beat("failed", exit_code=code, error=f"{args.command[0]} exited with {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
