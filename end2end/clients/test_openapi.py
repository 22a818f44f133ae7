"""Property-based calls made from the app's own OpenAPI document."""

import os
import pathlib
import subprocess
import sys

from conftest import ROOT, TOKEN

SCHEMATHESIS = pathlib.Path(sys.executable).parent / "schemathesis"
EXAMPLES = os.environ.get("CASCADE_SCHEMATHESIS_EXAMPLES", "15")


def test_no_call_breaks_the_contract(app, synthetic, tmp_path):
    app.cli("upload", synthetic, "--run-name", "contract")
    app.wait_ready("contract")
    run = app.create_run("contract", [("SM90_H100", 1)])
    app.wait_run(run)
    # The event stream never ends, so its operation is tested elsewhere.
    command = [SCHEMATHESIS, "--config-file", ROOT / "end2end/schemathesis.toml", "run", f"{app.url}/api/openapi.json", "-H", f"Authorization: Bearer {TOKEN}"]
    command += ["--max-examples", EXAMPLES, "--exclude-path-regex", "/(events|live)$", "--request-timeout", "20"]
    command += ["--seed", "1", "--suppress-health-check", "all"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=540)
    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-2000:]
