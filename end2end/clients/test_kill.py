"""Crashes: what was acknowledged stays, nothing is doubled, and runs end."""

import os
import signal
import threading
import time

import pytest

from conftest import wait_for

SIMS = 16
REPLAY_KERNELS = 120


def replay_log(path):
    """An Accel-Sim-like log with many small kernels, for workers that play it back slowly."""
    lines = ["Accel-Sim [build accelsim-commit-test]", "        *** GPGPU-Sim Simulator Version 4.2.0  [build test] ***"]
    total = 0
    for uid in range(1, REPLAY_KERNELS + 1):
        total += 1000 + uid
        lines += [
            f"Processing kernel /traces/kernel-{uid}.traceg",
            f"Header info loaded for kernel command : /traces/kernel-{uid}.traceg",
            f"launching kernel name: kernel_{uid} uid: {uid}",
            f"Destroy streams for kernel {uid}: size 0",
            f"kernel_name = kernel_{uid} ",
            f"kernel_launch_uid = {uid} ",
            f"gpu_sim_cycle = {1000 + uid}",
            f"gpu_sim_insn = {10 * uid}",
            f"gpu_ipc = {10 * uid / (1000 + uid):.4f}",
            f"gpu_tot_sim_cycle = {total}",
            f"gpu_tot_sim_insn = {5 * uid * (uid + 1)}",
            "gpu_tot_ipc = 0.5000",
            "gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 1 sec (1 sec)",
            "gpgpu_simulation_rate = 10516 (inst/sec)",
            "gpgpu_simulation_rate = 1282 (cycle/sec)",
            "gpgpu_silicon_slowdown = 1253510x",
        ]
        lines += [f"filler {uid}.{i}" for i in range(30)]
    lines += ["GPGPU-Sim: *** simulation thread exiting ***", "GPGPU-Sim: *** exit detected ***"]
    path.write_text("\n".join(lines) + "\n")
    return lines


def slow_replay(tmp_path, delay):
    log = tmp_path / "replay.log"
    lines = replay_log(log)
    return lines, f"{os.environ['CASCADE_BIN']} worker --replay {log} --delay {delay}"


def upload(app, synthetic, name):
    app.cli("upload", synthetic, "--run-name", name)
    app.wait_ready(name)


def test_a_killed_server_loses_and_doubles_nothing(make_app, synthetic, tmp_path):
    lines, command = slow_replay(tmp_path, 0.3)
    app = make_app(env={"CASCADE_SIM_CMD": command, "CASCADE_MAX_LOCAL_SIMS": str(SIMS)})
    # The workers must find the app again at the same address.
    app.env["CASCADE_PUBLIC_URL"] = app.url
    app.stop()
    app.start()
    upload(app, synthetic, "kill")
    run = app.create_run("kill", [("SM90_H100", SIMS)])
    for _ in range(2):
        before = sum(s["kernels_done"] for s in app.get(f"/api/runs/{run}")["sims"])
        wait_for(lambda: sum(s["kernels_done"] for s in app.get(f"/api/runs/{run}")["sims"]) > before + 30, what="progress")
        app.kill()
        time.sleep(1)
        app.start()
    detail = app.wait_run(run, 180)
    assert detail["state"] == "succeeded", [(s["state"], s["error"]) for s in detail["sims"]]
    for sim in detail["sims"]:
        assert sim["kernels_done"] == REPLAY_KERNELS
        results = app.get(f"/api/sims/{sim['id']}/results")
        assert [k["kernel_launch_uid"] for k in results["kernels"]] == list(range(1, REPLAY_KERNELS + 1))
        log = app.request("GET", f"/api/sims/{sim['id']}/log").text.splitlines()
        assert [line for line in log if line in set(lines)] == lines


def test_a_stopped_worker_is_lost_and_comes_back(make_app, synthetic, tmp_path):
    _, command = slow_replay(tmp_path, 2)
    app = make_app(env={"CASCADE_SIM_CMD": command, "CASCADE_HEARTBEAT_TIMEOUT_S": "6"})
    app.env["CASCADE_PUBLIC_URL"] = app.url
    app.stop()
    app.start()
    upload(app, synthetic, "stop")
    run = app.create_run("stop", [("SM90_H100", 1)])
    state = lambda: app.get(f"/api/runs/{run}")["sims"][0]
    sim = wait_for(lambda: s if (s := state())["state"] == "running" else None, what="running")
    pid = int(sim["launcher_ref"].split(":")[0])
    os.killpg(pid, signal.SIGSTOP)
    wait_for(lambda: state()["state"] == "lost", 30, what="lost")
    os.killpg(pid, signal.SIGCONT)
    wait_for(lambda: state()["state"] == "running", 30, what="running again")
    app.request("POST", f"/api/runs/{run}/cancel")
    assert state()["state"] == "cancelled"
    wait_for(lambda: not alive(pid), 15, what="the cancelled worker gone")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # before its file was opened, or before it was read
        return False


def test_it_stops_quickly_with_open_streams(make_app, synthetic):
    app = make_app()
    upload(app, synthetic, "streams")
    run = app.create_run("streams", [("SM90_H100", 1)])
    streams = [app.request("GET", f"/api/runs/{run}/events", stream=True) for _ in range(5)]
    ended = threading.Event()

    def drain():
        for stream in streams:
            for _ in stream.iter_content(4096):
                pass
        ended.set()

    threading.Thread(target=drain, daemon=True).start()
    started = time.monotonic()
    app.process.terminate()
    app.process.wait(10)
    assert time.monotonic() - started < 5
    assert ended.wait(5), "every stream was closed"


@pytest.mark.parametrize("bad", ["", "wrong"])
def test_it_refuses_a_wrong_token(app, bad):
    assert app.request("GET", "/api/runs", token=bad).status_code == 401
