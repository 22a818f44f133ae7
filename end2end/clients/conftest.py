"""A running app for tests that talk to it as outsiders do: over HTTP, S3 and the command line.

`CASCADE_BIN` names the binary, `CASCADE_SITE_DIR` the built pages. Every app gets its own data folder and
free ports, listens on the loopback only and is stopped with its test.
"""

import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest
import requests

TOKEN = "test-token"
HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
START_LIMIT_S = 60


def shared_data():
    """The folder of recorded traces and logs, or None."""
    folder = pathlib.Path(os.environ.get("CASCADE_SHARED_DATA", ROOT.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


def wait_for(check, limit_s=60, every_s=0.1, what="condition"):
    """Calls `check` until it returns something true."""
    deadline = time.monotonic() + limit_s
    while True:
        value = check()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not come true in {limit_s} s"
        time.sleep(every_s)


class App:
    """One `cascade serve` process."""

    def __init__(self, data_dir, env=None, port=0, s3_port=0):
        self.data_dir = pathlib.Path(data_dir)
        self.env = {**os.environ, "CASCADE_TOKEN": TOKEN, "CASCADE_DATA_DIR": str(data_dir), "CASCADE_SAMPLES": "false", **(env or {})}
        self.port, self.s3_port = port, s3_port
        self.start()

    def start(self):
        command = [os.environ["CASCADE_BIN"], "serve", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), "--s3-port", str(self.s3_port)]
        self.log = open(self.data_dir.parent / f"{self.data_dir.name}.log", "ab")
        self.process = subprocess.Popen(
            command, env=self.env, stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True
        )
        self.url = self.s3_url = None
        deadline = time.monotonic() + START_LIMIT_S
        while self.url is None or self.s3_url is None:
            line = self.process.stdout.readline()
            assert line and time.monotonic() < deadline, f"the app did not start: see {self.log.name}"
            if line.startswith("app: "):
                self.url = line.split()[1].rstrip("/")
            elif line.startswith("s3: "):
                self.s3_url = line.split()[1].rstrip("/")
        self.port = int(self.url.rsplit(":", 1)[1])
        self.s3_port = int(self.s3_url.rsplit(":", 1)[1])
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def kill(self):
        """`kill -9`, as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError("the app did not stop within 10 s of SIGTERM") from None
        self.log.close()

    def request(self, method, path, token=TOKEN, **kwargs):
        headers = {"Authorization": f"Bearer {token}", **kwargs.pop("headers", {})}
        return requests.request(method, self.url + path, headers=headers, timeout=60, **kwargs)

    def get(self, path, **kwargs):
        answer = self.request("GET", path, **kwargs)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    def create_run(self, trace, entries):
        body = {"trace_id": trace, "entries": [{"gpu_config": g, "count": n} for g, n in entries]}
        answer = self.request("POST", "/api/runs", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def wait_ready(self, trace, limit_s=60):
        def check():
            answer = self.request("GET", f"/api/traces/{trace}")
            if answer.status_code != 200:
                return None
            trace_now = answer.json()
            assert trace_now["state"] != "failed", trace_now["error"]
            return trace_now if trace_now["state"] == "ready" else None

        return wait_for(check, limit_s, what=f"trace {trace} ready")

    def wait_run(self, run, limit_s=120):
        def check():
            detail = self.get(f"/api/runs/{run}")
            return detail if detail["state"] != "active" else None

        return wait_for(check, limit_s, what=f"run {run} finished")

    def cli(self, *args, check=True, **kwargs):
        """Runs a `cascade` command that talks to this app."""
        env = {
            **self.env, "CASCADE_URL": self.url, "CASCADE_S3_ENDPOINT": self.s3_url, **kwargs.pop("env", {})
        }
        done = subprocess.run(
            [os.environ["CASCADE_BIN"], *map(str, args)], env=env, capture_output=True, text=True, timeout=300, **kwargs
        )
        if check:
            assert done.returncode == 0, f"cascade {args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    """One app for all tests that do not break it."""
    running = App(tmp_path_factory.mktemp("app") / "data")
    yield running
    running.stop()


@pytest.fixture
def make_app(tmp_path):
    """Apps of a test's own, to be killed and started again."""
    apps = []

    def make(name="data", **kwargs):
        apps.append(App(tmp_path / name, **kwargs))
        return apps[-1]

    yield make
    for one in apps:
        one.stop()


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory):
    """A folder with a synthetic trace of one step, for sm_90."""
    folder = tmp_path_factory.mktemp("synthetic") / "trace"
    command = [os.environ["CASCADE_BIN"], "trace", "synth", "--model-like", "opt-125m", "--steps", "1"]
    subprocess.run([*command, "--arch", "sm_90", "-o", str(folder)], check=True, timeout=120)
    return folder
