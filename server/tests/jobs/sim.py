"""A simulator for the tests: keeps the contract in the way that its first argument says."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

URL = f"{os.environ['CASCADE_MAIN_URL']}/api/sims/{os.environ['CASCADE_SIM_ID']}/heartbeat"
MODE, FOLDER = sys.argv[1], sys.argv[2]


def beat(state, **more):
    headers = {"Authorization": f"Bearer {os.environ['CASCADE_TOKEN']}", "Content-Type": "application/json"}
    body = json.dumps({"state": state, **more}).encode()
    while True:
        try:
            request = urllib.request.Request(URL, body, headers, method="POST")
            with urllib.request.urlopen(request, timeout=5) as answer:
                return json.load(answer)
        except OSError:
            time.sleep(0.1)


def note(name, text):
    path = os.path.join(FOLDER, name)
    with open(path + ".tmp", "w") as file:
        file.write(text)
    os.rename(path + ".tmp", path)


def starts(sim):
    with open(os.path.join(FOLDER, f"starts-{sim}"), "a") as file:
        file.write("x")


starts(os.environ["CASCADE_SIM_ID"])
if MODE == "silent":
    print("reading the trace", flush=True)
    print("out of ideas", file=sys.stderr, flush=True)
    sys.exit(3)
if MODE == "mute":
    time.sleep(3600)
beat("running")
if MODE == "environment":
    note("environment", json.dumps({k: v for k, v in os.environ.items() if k.startswith(("CASCADE", "SAIL"))}))
elif MODE == "abort":
    os.kill(os.getpid(), signal.SIGSEGV)
elif MODE == "stubborn":
    # Ignores SIGTERM, and so does what it started.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "3600"])
    note("pids", f"{os.getpid()} {child.pid}")
    while True:
        beat("running")
        time.sleep(0.2)
elif MODE == "apart":
    # What it started is in a group of its own, as a worker's simulator is.
    child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    note("pids", f"{os.getpid()} {child.pid}")
    time.sleep(3600)
elif MODE == "wait":
    while not os.path.exists(os.path.join(FOLDER, "go")):
        beat("running")
        time.sleep(0.1)
beat("succeeded", exit_code=0)
