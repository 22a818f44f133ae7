#!/usr/bin/env python3
"""`kill -9` of the S3 endpoint while objects are written: what was acknowledged is whole, nothing is half.

usage: s3_kill.py DIR COMMAND...

COMMAND starts the endpoint; `{dir}` and `{port}` in it are filled in, and it must accept the access key
`cascade` with the secret `tok`. Sixteen writers PUT, in all, COUNT (default 1,000) objects of 1 byte to 2 MiB,
each over its own keys again and again; the server is killed KILLS (default 5) times on the way. Prints what was
found; the exit status is 1 for a lost or half object. Needs boto3.
"""

import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import boto3
import botocore.exceptions
from botocore.config import Config

FOLDER, COMMAND = sys.argv[1], sys.argv[2:]
COUNT, KILLS, WRITERS, KEYS_EACH = int(os.environ.get("COUNT", "1000")), int(os.environ.get("KILLS", "5")), 16, 8


def body(key, version):
    """Bytes that only this version of this key has."""
    seed = f"{key}#{version}\n".encode()
    draw = random.Random(seed)
    return seed + draw.randbytes(draw.choice([1, 100, 16 << 10, 200_000, 2 << 20]))


class Server:
    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        command = [part.format(dir=FOLDER, port=self.port) for part in COMMAND]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.1)
        config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, max_pool_connections=WRITERS)
        keys = {"aws_access_key_id": "cascade", "aws_secret_access_key": "tok"}
        self.s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1", config=config, **keys)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Counter:
    """A count that threads share."""

    def __init__(self):
        self.lock, self.value = threading.Lock(), 0

    def next(self):
        with self.lock:
            self.value += 1
            return self.value


def write(server, writer, versions, acked, stop, counter):
    """Writes until told to stop or the server is gone."""
    while not stop.is_set() and counter.next() <= COUNT:
        key = f"w{writer}/k{random.randrange(KEYS_EACH)}"
        versions[key] = versions.get(key, 0) + 1
        try:
            server.s3.put_object(Bucket="cascade", Key=key, Body=body(key, versions[key]))
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError):
            return
        acked[key] = versions[key]


def verify(server, versions, acked):
    """Lost and half objects."""
    pages = server.s3.get_paginator("list_objects_v2").paginate(Bucket="cascade")
    visible = [o["Key"] for page in pages for o in page.get("Contents", [])]
    lost = [key for key in acked if key not in visible]
    half = []
    for key in visible:
        answer = server.s3.get_object(Bucket="cascade", Key=key)
        data = answer["Body"].read()
        # The last acknowledged version, or a later one that was under way when the server died.
        may = [body(key, version) for version in range(max(1, acked.get(key, 0)), versions[key] + 1)]
        if data not in may or answer["ETag"].strip('"') != hashlib.md5(data).hexdigest():
            half.append(key)
    return lost, half


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    versions, acked, total_lost, total_half, left = {}, {}, [], [], 0
    counter = Counter()
    for kill in range(KILLS + 1):
        server, stop = Server(), threading.Event()
        threads = [threading.Thread(target=write, args=(server, w, versions, acked, stop, counter)) for w in range(WRITERS)]
        for thread in threads:
            thread.start()
        if kill < KILLS:
            goal = COUNT * (kill + 1) // (KILLS + 1)
            while counter.value < goal:
                time.sleep(0.005)
            time.sleep(random.random() / 20)
            server.kill()
        for thread in threads:
            thread.join()
        if kill == KILLS:
            server.kill()
        left += len(os.listdir(os.path.join(FOLDER, ".tmp")))
        server = Server()
        lost, half = verify(server, versions, acked)
        total_lost += lost
        total_half += half
        leftover = os.listdir(os.path.join(FOLDER, ".tmp"))
        server.kill()
        assert not leftover, f"not swept at start: {leftover}"
    print(f"{min(counter.value, COUNT)} PUTs, {KILLS} kills, {sum(acked.values())} versions acknowledged of {len(acked)} keys, {left} temporary files swept")
    print(f"{len(total_lost)} lost, {len(total_half)} half: {(total_lost + total_half)[:5]}")
    return 1 if total_lost or total_half else 0


if __name__ == "__main__":
    sys.exit(main())
