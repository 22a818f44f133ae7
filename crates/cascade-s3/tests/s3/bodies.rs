//! Bodies in every framing: what fits becomes an object, what does not leaves no trace.

use std::io::{Read as _, Write as _};

use cascade_s3::ObjectEventKind;

use crate::client::{Server, open_server, read_reply};

const CHUNKED: [(&str, &str); 4] = [
    ("content-encoding", "aws-chunked"),
    ("x-amz-trailer", "x-amz-checksum-crc32"),
    ("x-amz-decoded-content-length", "5"),
    ("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
];
/// `hello` in two chunks, with its CRC-32.
const HELLO: &[u8] = b"2\r\nhe\r\n3\r\nllo\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";

/// Sends an aws-chunked body with a Content-Length, or in HTTP chunks of 4 bytes.
fn put_chunked(server: &Server, key: &str, body: &[u8], length_known: bool, more: &[(&str, &str)]) -> u16 {
    let mut headers: Vec<_> = CHUNKED
        .iter()
        .filter(|(n, _)| more.iter().all(|(m, _)| m != n))
        .copied()
        .collect();
    headers.extend(more);
    let length = body.len().to_string();
    let start = format!("PUT /cascade/{key}");
    if length_known {
        headers.push(("content-length", &length));
        return server.send(&start, &headers, body).status;
    }
    headers.push(("transfer-encoding", "chunked"));
    let mut framed = Vec::new();
    for piece in body.chunks(4) {
        framed.extend(format!("{:x}\r\n", piece.len()).bytes());
        framed.extend(piece);
        framed.extend(b"\r\n");
    }
    framed.extend(b"0\r\n\r\n");
    server.send(&start, &headers, &framed).status
}

#[test]
fn plain_put_and_get() {
    let mut server = open_server();
    let put = server.put("/cascade/a/b%20c+d.json", b"hello");
    assert_eq!(put.status, 200, "{}", put.text());
    assert_eq!(put.header("etag"), Some("\"5d41402abc4b2a76b9719d911017c592\""));
    assert_eq!(
        std::fs::read(server.root().join("cascade/a/b c+d.json")).unwrap(),
        b"hello"
    );
    let event = server.events.try_recv().unwrap();
    assert_eq!(
        (event.key.as_str(), event.kind, event.bytes),
        ("a/b c+d.json", ObjectEventKind::Put, 5)
    );
    let get = server.get("/cascade/a/b%20c%2Bd.json");
    assert_eq!((get.status, get.body.as_slice()), (200, b"hello".as_slice()));
    assert_eq!(get.header("content-type"), Some("application/json"));
    let range = server.send("GET /cascade/a/b%20c+d.json", &[("range", "bytes=1-2")], b"");
    assert_eq!((range.status, range.body.as_slice()), (206, b"el".as_slice()));
    assert_eq!(range.header("content-range"), Some("bytes 1-2/5"));
    assert_eq!(
        server.send("DELETE /cascade/a/b%20c+d.json", &[], b"").status,
        204
    );
    assert_eq!(server.events.try_recv().unwrap().kind, ObjectEventKind::Delete);
    assert_eq!(server.get("/cascade/a/b%20c+d.json").status, 404);
}

#[test]
fn aws_chunked_is_decoded() {
    let server = open_server();
    for (key, known) in [("known", true), ("unknown", false)] {
        assert_eq!(put_chunked(&server, key, HELLO, known, &[]), 200);
        let get = server.get(&format!("/cascade/{key}"));
        assert_eq!(get.body, b"hello");
        assert_eq!(get.header("content-encoding"), None);
    }
    // Whoever may write without a signature may also send chunks signed with anything.
    let signed = format!(
        "5;chunk-signature={0}\r\nhello\r\n0;chunk-signature={0}\r\n\r\n",
        "0".repeat(64)
    );
    let more = [
        ("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
        ("x-amz-trailer", ""),
    ];
    assert_eq!(
        put_chunked(&server, "signed", signed.as_bytes(), true, &more),
        200
    );
    assert_eq!(server.get("/cascade/signed").body, b"hello");
    // Another encoding of the object itself is kept.
    let more = [("content-encoding", "gzip,aws-chunked")];
    assert_eq!(put_chunked(&server, "gz", HELLO, true, &more), 200);
    assert_eq!(server.get("/cascade/gz").header("content-encoding"), Some("gzip"));
}

#[test]
fn what_does_not_fit_is_not_stored() {
    let server = open_server();
    let wrong_crc = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n";
    let short = b"4\r\nhell\r\n0\r\n\r\n";
    let long = b"6\r\nhello!\r\n0\r\n\r\n";
    let broken = b"5\r\nhel";
    let other_trailer = b"5\r\nhello\r\n0\r\nx-amz-checksum-sha1:qvTGHdzF6KLavt4PO0gs2a6pQ00=\r\n\r\n";
    for body in [&wrong_crc[..], short, long, broken, other_trailer] {
        for known in [true, false] {
            let status = put_chunked(&server, "x", body, known, &[]);
            assert_eq!(status, 400, "{:?}", String::from_utf8_lossy(body));
        }
    }
    let md5 = [
        ("content-md5", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("content-length", "5"),
    ];
    let reply = server.send("PUT /cascade/x", &md5, b"hello");
    assert!(
        reply.text().contains("<Code>BadDigest</Code>"),
        "{}",
        reply.text()
    );
    let zeros = "0".repeat(64);
    let sha = [("x-amz-content-sha256", zeros.as_str()), ("content-length", "5")];
    let reply = server.send("PUT /cascade/x", &sha, b"hello");
    assert!(
        reply.text().contains("<Code>XAmzContentSHA256Mismatch</Code>"),
        "{}",
        reply.text()
    );
    for (header, right) in [
        ("x-amz-checksum-crc32", "NhCmhg=="),
        ("x-amz-checksum-crc32c", "mnG7TA=="),
        ("x-amz-checksum-crc64nvme", "M3eFcAZSQlc="),
        ("x-amz-checksum-sha1", "qvTGHdzF6KLavt4PO0gs2a6pQ00="),
        (
            "x-amz-checksum-sha256",
            "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
        ),
    ] {
        let wrong = server.send(
            "PUT /cascade/x",
            &[(header, "AAAA"), ("content-length", "5")],
            b"hello",
        );
        assert_eq!(wrong.status, 400, "{header}");
        let good = server.send(
            "PUT /cascade/good",
            &[(header, right), ("content-length", "5")],
            b"hello",
        );
        assert_eq!(good.status, 200, "{header}: {}", good.text());
        let get = server.send("GET /cascade/good", &[("x-amz-checksum-mode", "ENABLED")], b"");
        assert_eq!(get.header(header), Some(right));
        let ranged = [("x-amz-checksum-mode", "ENABLED"), ("range", "bytes=0-1")];
        assert_eq!(
            server.send("GET /cascade/good", &ranged, b"").header(header),
            None
        );
    }
    assert_eq!(server.get("/cascade/x").status, 404);
    server.wait_for_no_temporary_files();
}

#[test]
fn a_cut_connection_leaves_nothing() {
    let server = open_server();
    for size in [100, 3 << 20] {
        let mut stream = server.connect();
        stream
            .write_all(&server.head("PUT /cascade/cut", &[("content-length", "9000000")]))
            .unwrap();
        stream.write_all(&vec![1; size]).unwrap();
        drop(stream);
    }
    assert_eq!(server.put("/cascade/other", b"").status, 200);
    server.wait_for_no_temporary_files();
    assert_eq!(server.get("/cascade/cut").status, 404);
}

#[test]
fn expect_100_continue_is_answered() {
    let server = open_server();
    let mut stream = server.connect();
    let headers = [("content-length", "5"), ("expect", "100-continue")];
    stream
        .write_all(&server.head("PUT /cascade/expect", &headers))
        .unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"hello").unwrap();
    assert_eq!(read_reply(&mut stream).status, 200);
    assert_eq!(server.get("/cascade/expect").body, b"hello");
}

#[test]
fn a_large_body_streams_through() {
    let server = open_server();
    // One aws-chunk of 24 MiB, as the Go SDK sends.
    let data: Vec<u8> = (0..24u32 << 20).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let mut body = format!("{:x}\r\n", data.len()).into_bytes();
    body.extend(&data);
    body.extend(b"\r\n0\r\n\r\n");
    let length = data.len().to_string();
    let more = [
        ("x-amz-decoded-content-length", length.as_str()),
        ("x-amz-trailer", ""),
    ];
    assert_eq!(put_chunked(&server, "large", &body, true, &more), 200);
    assert_eq!(server.get("/cascade/large").body, data);
}
