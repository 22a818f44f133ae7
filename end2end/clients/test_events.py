"""Many subscribers on one busy run."""

import json
import os
import threading

import requests

from conftest import TOKEN
from test_kill import replay_log, upload

SUBSCRIBERS = int(os.environ.get("CASCADE_TEST_SUBSCRIBERS", "40"))
SIMS = int(os.environ.get("CASCADE_TEST_SIMS", "8"))


class Subscriber(threading.Thread):
    """Follows a run until it is over, or until it is told that it lags, and then once more."""

    def __init__(self, app, run):
        super().__init__(daemon=True)
        self.url = f"{app.url}/api/runs/{run}/events?token={TOKEN}"
        self.kernels, self.lagged, self.state, self.first = {}, 0, None, None

    def run(self):
        while self.state in (None, "active"):
            with requests.get(self.url, stream=True, timeout=120) as stream:
                for line in stream.iter_lines(chunk_size=65536):
                    if line.startswith(b"data: ") and self.fold(json.loads(line[6:])):
                        break

    def fold(self, event):
        kind = event["type"]
        self.first = self.first or kind
        if kind == "snapshot":
            self.sims = {s["id"]: s["state"] for s in event["run"]["sims"]}
            self.kernels = {}
            for stat in event["kernels"]:
                self.kernels.setdefault(stat["sim_id"], []).append(stat["kernel_index"])
        elif kind == "kernel":
            self.kernels.setdefault(event["stat"]["sim_id"], []).append(event["stat"]["kernel_index"])
        elif kind == "sim":
            self.sims[event["sim"]["id"]] = event["sim"]["state"]
        elif kind == "lagged":
            self.lagged += 1
            return True
        if all(state in ("succeeded", "failed", "cancelled") for state in self.sims.values()):
            self.state = "over"
            return True
        return False


def test_every_subscriber_sees_every_kernel_or_is_told(make_app, synthetic, tmp_path):
    log = tmp_path / "replay.log"
    replay_log(log)
    command = f"{os.environ['CASCADE_BIN']} worker --replay {log} --delay 0.2"
    app = make_app(env={"CASCADE_SIM_CMD": command, "CASCADE_MAX_LOCAL_SIMS": str(SIMS)})
    upload(app, synthetic, "events")
    run = app.create_run("events", [("SM90_H100", SIMS)])
    subscribers = [Subscriber(app, run) for _ in range(SUBSCRIBERS)]
    for one in subscribers:
        one.start()
    detail = app.wait_run(run, 400)
    assert detail["state"] == "succeeded"
    for one in subscribers:
        one.join(120)
        assert one.first == "snapshot"
        assert one.state == "over", "the stream told the end of the run"
        for sim in detail["sims"]:
            seen = one.kernels.get(sim["id"], [])
            assert sorted(seen) == list(range(sim["kernels_done"])), f"{sim['id']}: doubled or lost kernels"
    print(f"{sum(one.lagged for one in subscribers)} of {SUBSCRIBERS} subscribers were told that they lag")
