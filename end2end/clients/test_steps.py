"""Whole-request time as an outsider sees it: timeline files that come late, runs that post, a broken mapping."""

import json
import os
import subprocess

import pytest

from conftest import wait_for
from test_main_job import put_with_boto3

FILES = ["corrected_timeline.json", "kernel_mapping.json"]


@pytest.fixture(scope="module")
def three_steps(tmp_path_factory):
    """A synthetic trace of three steps with its timeline."""
    folder = tmp_path_factory.mktemp("steps") / "trace"
    command = [os.environ["CASCADE_BIN"], "trace", "synth", "--model-like", "opt-125m", "--steps", "3", "--timeline"]
    subprocess.run([*command, "--arch", "sm_90", "-o", str(folder)], check=True, timeout=120)
    return folder


def late(folder, tmp_path):
    """Moves the timeline files out of the way; gives the folder that holds them."""
    later = tmp_path / "later"
    later.mkdir()
    for name in FILES:
        (later / name).write_bytes((folder / name).read_bytes())
    return later


def run_it(app, name):
    run = app.create_run(name, [("SM90_H100", 1)])
    detail = app.wait_run(run)
    assert detail["state"] == "succeeded", [sim["error"] for sim in detail["sims"]]
    return run, detail["sims"][0]["id"]


def test_timeline_files_may_come_late_and_every_kernel_gets_its_time(app, three_steps, tmp_path):
    name, later = "steps-late", late(three_steps, tmp_path)
    early = tmp_path / "early"
    subprocess.run(["cp", "-r", three_steps, early], check=True)
    for file in FILES:
        (early / file).unlink()
    put_with_boto3(app, early, f"accelsim-traces/{name}")
    assert app.wait_ready(name)["has_step_timeline"] is False
    put_with_boto3(app, later, f"accelsim-traces/{name}")
    wait_for(lambda: app.get(f"/api/traces/{name}")["has_step_timeline"], what="has_step_timeline")

    run, sim = run_it(app, name)
    [timeline] = app.get(f"/api/runs/{run}/step-timelines")
    coverage = timeline["simulated"]["summary"]["simulation"]["coverage"]
    assert coverage["simulated_kernels"] == coverage["kernels"] > 40
    real = json.loads((three_steps / FILES[0]).read_text())
    simulated = timeline["simulated"]
    kernels = {k["kernel_launch_uid"]: k for k in app.get(f"/api/runs/{run}/kernels")}
    uid = 0
    for before, after in zip(real["steps"], simulated["steps"], strict=True):
        total = 0
        for kernel in after["kernels"]:
            uid += 1
            assert kernel["duration_ns"] == pytest.approx(kernels[uid]["sim_time_ns"])
            total += kernel["duration_ns"]
        assert after["gpu_busy_ns"] == pytest.approx(total)
        assert after["baseline_wall_ns"] == pytest.approx(before["host_ns"] + total)
    [digest] = app.get(f"/api/runs/{run}/step-digests")
    assert (digest["sim_id"], digest["engine"], digest["problem"]) == (sim, "cascade", None)
    brief = digest["digest"]
    assert brief["counterfactual"] and "nothing was measured" in brief["note"]
    assert [kind["kind"] for kind in brief["kinds"]] == ["prefill", "decode"]
    request = simulated["requests"][0]
    assert brief["mean"]["e2e_ms"]["simulated"] == pytest.approx(request["e2e_ms"])
    assert "E2E" in app.cli("runs", "steps", run).stdout


def test_a_mapping_that_names_no_kernel_of_the_log_leaves_the_sim_succeeded(app, three_steps, tmp_path):
    name = "steps-broken"
    folder = tmp_path / "broken"
    subprocess.run(["cp", "-r", three_steps, folder], check=True)
    mapping = json.loads((folder / FILES[1]).read_text())
    mapping[-1]["uid"] = 4711
    (folder / FILES[1]).write_text(json.dumps(mapping))
    put_with_boto3(app, folder, f"accelsim-traces/{name}")
    app.wait_ready(name)
    run, sim = run_it(app, name)
    assert app.get(f"/api/runs/{run}/step-timelines") == []
    assert app.get(f"/api/runs/{run}/step-digests") == []
    log = app.request("GET", f"/api/sims/{sim}/log").text
    assert "step timing was not sent" in log and "4711" in log
