#!/usr/bin/env python3
"""PUT speed of our endpoint against `rclone serve s3`: same disk, same clients, rounds in turn.

usage: s3_bench.py DIR RCLONE COMMAND...

COMMAND starts our endpoint; `{dir}` and `{port}` in it are filled in, and it must accept the access key
`cascade` with the secret `tok`, for example

    s3_bench.py /data/bench "$(which rclone)" target/release/examples/serve {dir} {port} cascade tok

rclone runs without authentication, which is its faster way. Prints medians, ratios (ours over rclone's rate:
more is better) and the largest resident memory; the exit status is 1 where a target is missed. Needs boto3.
"""

import concurrent.futures
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

import boto3
from botocore.config import Config

LARGE_BYTES = int(os.environ.get("LARGE_MIB", "1024")) << 20
SMALL_COUNT, SMALL_BYTES = int(os.environ.get("SMALL", "5000")), 16 << 10
ROUNDS, THREADS = int(os.environ.get("ROUNDS", "3")), 16
MIN_LARGE, MIN_SMALL, MAX_RSS_MIB = 1.0, 0.8, 200

FOLDER, RCLONE, COMMAND = sys.argv[1], sys.argv[2], sys.argv[3:]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Server:
    def __init__(self, name):
        self.dir, self.port = os.path.join(FOLDER, name), free_port()
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(os.path.join(self.dir, "cascade"))
        if name == "rclone":
            command = [RCLONE, "serve", "s3", self.dir, "--addr", f"127.0.0.1:{self.port}"]
        else:
            command = [part.format(dir=self.dir, port=self.port) for part in COMMAND]
        quiet = open(os.path.join(FOLDER, f"{name}.log"), "a")
        self.process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env={**os.environ, "RCLONE_CONFIG": "/dev/null"})
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.1)

    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def stop(self):
        """Stops it; gives its largest resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            rss = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
        return rss / 1024


def boto(server, connections=THREADS):
    config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, max_pool_connections=connections)
    keys = {"aws_access_key_id": "cascade", "aws_secret_access_key": "tok"}
    return boto3.client("s3", endpoint_url=server.endpoint(), region_name="us-east-1", config=config, **keys)


def boto_large(server, files):
    with open(files["large"], "rb") as body:
        boto(server).put_object(Bucket="cascade", Key="large", Body=body)


def boto_parts(server, files):
    boto(server).upload_file(files["large"], "cascade", "parts")


def boto_small(server, _files):
    s3, body = boto(server), os.urandom(SMALL_BYTES)
    put = lambda i: s3.put_object(Bucket="cascade", Key=f"small/{i % 50}/{i}", Body=body)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for done in pool.map(put, range(SMALL_COUNT)):
            assert done["ETag"]


def rclone(server, source, name):
    remote = f':s3,provider=Other,endpoint="{server.endpoint()}",force_path_style=true,access_key_id=cascade,secret_access_key=tok:cascade/{name}'
    command = [RCLONE, "copy", "--transfers", str(THREADS), "--checkers", "1", "--no-traverse", "--no-check-dest"]
    subprocess.run([*command, source, remote], check=True, capture_output=True, env={**os.environ, "RCLONE_CONFIG": "/dev/null"})


TASKS = {
    "large, boto3 put_object": (boto_large, MIN_LARGE),
    "large, boto3 upload_file": (boto_parts, MIN_LARGE),
    "large, rclone copy": (lambda s, f: rclone(s, f["large"], "rl"), MIN_LARGE),
    "small, boto3 put_object": (boto_small, MIN_SMALL),
    "small, rclone copy": (lambda s, f: rclone(s, f["small"], "rs"), MIN_SMALL),
}


def main():
    files = {"large": os.path.join(FOLDER, "large.bin"), "small": os.path.join(FOLDER, "small")}
    shutil.rmtree(files["small"], ignore_errors=True)
    with open(files["large"], "wb") as out:
        for _ in range(LARGE_BYTES >> 20):
            out.write(os.urandom(1 << 20))
    for i in range(SMALL_COUNT):
        os.makedirs(f"{files['small']}/{i % 50}", exist_ok=True)
        with open(f"{files['small']}/{i % 50}/{i}", "wb") as out:
            out.write(os.urandom(SMALL_BYTES))
    times, rss = {}, {"ours": 0, "rclone": 0}
    for round_ in range(ROUNDS):
        for task, (run, _) in TASKS.items():
            for name in ["ours", "rclone"] if round_ % 2 == 0 else ["rclone", "ours"]:
                server = Server(name)
                os.sync()
                start = time.monotonic()
                run(server, files)
                times.setdefault((task, name), []).append(time.monotonic() - start)
                rss[name] = max(rss[name], server.stop())
    missed = rss["ours"] > MAX_RSS_MIB
    for task, (_, target) in TASKS.items():
        ours, theirs = (statistics.median(times[task, name]) for name in ["ours", "rclone"])
        missed |= theirs / ours < target
        spread = "  ".join(f"{name} {min(times[task, name]):.2f}-{max(times[task, name]):.2f}" for name in ["ours", "rclone"])
        print(f"{task:26} ours {ours:6.2f} s  rclone {theirs:6.2f} s  ratio {theirs / ours:.2f} (target {target})  {spread}")
    print(f"largest resident memory: ours {rss['ours']:.0f} MiB (target {MAX_RSS_MIB}), rclone {rss['rclone']:.0f} MiB")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
