"""The main job as an outsider does it: upload with a real S3 client, run, read the results."""

import os
import pathlib
import subprocess
import sys

import boto3
import pytest
from botocore.config import Config

from conftest import TOKEN, shared_data

BIN = pathlib.Path(sys.executable).parent
KEY = "cascade"


def put_with_aws(app, folder, prefix):
    env = {**os.environ, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": TOKEN, "AWS_DEFAULT_REGION": "us-east-1"}
    command = [BIN / "aws", "--endpoint-url", app.s3_url, "s3", "cp", "--quiet", "--recursive", folder]
    subprocess.run([*command, f"s3://cascade/{prefix}/"], check=True, env=env, timeout=120)


def put_with_boto3(app, folder, prefix):
    client = boto3.client(
        "s3", endpoint_url=app.s3_url, aws_access_key_id=KEY, aws_secret_access_key=TOKEN, region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            client.upload_file(str(path), "cascade", f"{prefix}/{path.relative_to(folder)}")


def put_with_rclone(app, folder, prefix):
    remote = f":s3,provider=Other,access_key_id={KEY},secret_access_key={TOKEN},endpoint='{app.s3_url}':"
    subprocess.run([BIN / "rclone", "copy", folder, f"{remote}cascade/{prefix}"], check=True, timeout=120)


def put_with_cascade(app, folder, prefix):
    app.cli("upload", folder, "--run-name", prefix.rsplit("/", 1)[1])


CLIENTS = {"aws": put_with_aws, "boto3": put_with_boto3, "rclone": put_with_rclone, "cascade": put_with_cascade}


def layout(source, tmp_path, arch):
    """A recorded trace in the layout that a profiler uploads."""
    folder = tmp_path / "upload"
    (folder / "traces").mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file():
            (folder / "traces" / path.name).write_bytes(path.read_bytes())
    (folder / "metadata.json").write_text(f'{{"status": "ok", "trace_gpu_arch": "{arch}"}}')
    return folder


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_synthetic_trace_goes_from_upload_to_results(app, synthetic, client):
    name = f"synthetic-{client}"
    CLIENTS[client](app, synthetic, f"accelsim-traces/{name}")
    trace = app.wait_ready(name)
    assert trace["synthetic"] is True
    run = app.create_run(name, [("SM90_H100", 1)])
    detail = app.wait_run(run)
    assert detail["state"] == "succeeded", [s["error"] for s in detail["sims"]]
    sim = detail["sims"][0]
    assert sim["engine"] == "cascade"
    assert sim["kernels_done"] == trace["kernel_count"] == len(trace["kernels"])


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_recorded_a100_trace_keeps_its_instruction_count(app, tmp_path, client):
    data = shared_data()
    if data is None:
        pytest.skip("no recorded traces: set CASCADE_SHARED_DATA")
    name = f"vectoradd-{client}"
    CLIENTS[client](app, layout(data / "traces/vectoradd-a100-v5", tmp_path, "sm_80"), f"accelsim-traces/{name}")
    app.wait_ready(name)
    run = app.create_run(name, [("SM80_A100", 2)])
    assert app.wait_run(run)["state"] == "succeeded"
    results = app.get(f"/api/runs/{run}/results")
    counts = [sim["kernels"][0]["stats"]["gpgpu_n_tot_w_icount"] for sim in results["sims"]]
    assert counts == [26601, 26601]
    cycles = {sim["kernels"][0]["gpu_sim_cycle"] for sim in results["sims"]}
    assert len(cycles) == 1, "replicas of a deterministic engine agree"


def test_a_raw_trace_is_post_processed(app, tmp_path):
    data = shared_data()
    if data is None:
        pytest.skip("no recorded traces: set CASCADE_SHARED_DATA")
    put_with_boto3(app, layout(data / "traces/raw-vecadd-v3", tmp_path, "sm_61"), "accelsim-traces/raw")
    trace = app.wait_ready("raw")
    assert trace["kernel_count"] == 1
    assert trace["kernels"][0]["instructions"] == 71974
    processed = app.data_dir / "s3/cascade/accelsim-traces/raw/traces/kernelslist.g"
    assert processed.is_file()
    # No GPU here is as old as the recorded trace, so its instructions are counted in a text copy of what was made.
    text = tmp_path / "text"
    text.mkdir()
    for path in processed.parent.iterdir():
        if path.suffix == ".trace" or path.name in ("kernelslist", "stats.csv"):
            (text / path.name).write_bytes(path.read_bytes())
    app.cli("trace", "post-process", text, "--format", "traceg")
    traced = (text / "kernel-1.traceg").read_text().splitlines()
    assert sum(int(line.split("=")[1]) for line in traced if line.startswith("insts =")) == 71974
    listed = [line for line in processed.read_text().splitlines() if line.startswith("kernel")]
    assert all((processed.parent / line).stat().st_size > 0 for line in listed) and len(listed) == 1
