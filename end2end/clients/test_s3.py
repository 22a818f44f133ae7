"""The S3 endpoint as the app serves it: real clients, signed and anonymous, and a crash."""

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT, TOKEN

SCRIPTS = ROOT / "end2end"


def passed(done):
    text = done.stdout + done.stderr
    counts = re.findall(r"(\d+) passed, (\d+) failed", done.stdout)
    assert done.returncode == 0 and counts, text[-8000:]
    assert int(counts[-1][0]) > 100 and counts[-1][1] == "0", text[-8000:]


def test_signed_clients(app):
    command = [sys.executable, SCRIPTS / "s3_clients.py", app.s3_url, "cascade", "cascade", TOKEN]
    passed(subprocess.run(command, capture_output=True, text=True, timeout=500))


def test_anonymous_clients(make_app):
    app = make_app(env={"CASCADE_S3_ANONYMOUS": "true"})
    command = [sys.executable, SCRIPTS / "s3_clients.py", app.s3_url, "cascade"]
    passed(subprocess.run(command, capture_output=True, text=True, timeout=500))


def test_unsigned_calls_are_refused_unless_it_is_open(app):
    import requests

    answer = requests.put(f"{app.s3_url}/cascade/accelsim-traces/x/y", data=b"x", timeout=10)
    assert answer.status_code == 403 and "<Code>" in answer.text


@pytest.mark.skipif(os.environ.get("CASCADE_S3_SERVE") is None, reason="needs the endpoint's own binary")
def test_no_acknowledged_object_is_lost_by_a_kill(tmp_path):
    command = [sys.executable, SCRIPTS / "s3_kill.py", tmp_path, os.environ["CASCADE_S3_SERVE"]]
    done = subprocess.run([*command, "{dir}", "{port}", "cascade", "tok"], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
