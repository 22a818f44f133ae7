//! Signed requests, the body's chunks included.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::client::{Reply, Server, server};

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn sha256(data: &[u8]) -> String {
    hex::encode(Sha256::digest(data))
}

/// Signs as Signature Version 4 says.
struct Signer {
    date: String,
    scope: String,
    key: Vec<u8>,
}

impl Signer {
    fn new(secret: &str) -> Self {
        let now = time_now();
        let day = now[..8].to_owned();
        let mut key = hmac(format!("AWS4{secret}").as_bytes(), &day);
        for part in ["us-east-1", "s3", "aws4_request"] {
            key = hmac(&key, part);
        }
        Self {
            scope: format!("{day}/us-east-1/s3/aws4_request"),
            date: now,
            key,
        }
    }

    fn sign(&self, kind: &str, rest: &str) -> String {
        hex::encode(hmac(
            &self.key,
            &format!("{kind}\n{}\n{}\n{rest}", self.date, self.scope),
        ))
    }

    /// The headers of a signed PUT of `path`, and its signature.
    fn headers(
        &self,
        server: &Server,
        path: &str,
        payload: &str,
        more: &[(&str, &str)],
    ) -> (Vec<(String, String)>, String) {
        let host = server.address.to_string();
        let mut signed = vec![
            ("host", host.as_str()),
            ("x-amz-content-sha256", payload),
            ("x-amz-date", &self.date),
        ];
        signed.extend(more);
        signed.sort();
        let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let lines: String = signed
            .iter()
            .map(|(name, value)| format!("{name}:{value}\n"))
            .collect();
        let canonical = format!("PUT\n{path}\n\n{lines}\n{names}\n{payload}");
        let signature = self.sign("AWS4-HMAC-SHA256", &sha256(canonical.as_bytes()));
        let credential = format!("cascade/{}", self.scope);
        let authorization =
            format!("AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={names},Signature={signature}");
        let mut headers: Vec<_> = signed
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect();
        headers.retain(|(name, _)| name != "host");
        headers.push(("authorization".to_owned(), authorization));
        (headers, signature)
    }

    /// `body` in signed chunks of `size` bytes with a signed CRC-32 trailer.
    fn chunks(&self, mut previous: String, body: &[u8], size: usize, crc: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for chunk in body.chunks(size).chain([&b""[..]]) {
            let rest = format!("{previous}\n{EMPTY}\n{}", sha256(chunk));
            previous = self.sign("AWS4-HMAC-SHA256-PAYLOAD", &rest);
            out.extend(format!("{:x};chunk-signature={previous}\r\n", chunk.len()).bytes());
            out.extend(chunk);
            out.extend(if chunk.is_empty() { &b""[..] } else { &b"\r\n"[..] });
        }
        let trailer = format!("x-amz-checksum-crc32:{crc}\n");
        let rest = format!("{previous}\n{}", sha256(trailer.as_bytes()));
        let signature = self.sign("AWS4-HMAC-SHA256-TRAILER", &rest);
        out.extend(
            format!("x-amz-checksum-crc32:{crc}\r\nx-amz-trailer-signature:{signature}\r\n\r\n").bytes(),
        );
        out
    }
}

/// Now, as `x-amz-date` has it.
fn time_now() -> String {
    let date = std::process::Command::new("date")
        .args(["-u", "+%Y%m%dT%H%M%SZ"])
        .output()
        .unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

fn signed_server() -> Server {
    server(tempfile::tempdir().unwrap(), |_| {})
}

fn send(server: &Server, path: &str, mut headers: Vec<(String, String)>, body: &[u8]) -> Reply {
    headers.push(("content-length".to_owned(), body.len().to_string()));
    let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    server.send(&format!("PUT {path}"), &headers, body)
}

#[test]
fn a_signed_body_is_checked() {
    let server = signed_server();
    let signer = Signer::new("tok");
    let (headers, _) = signer.headers(&server, "/cascade/k", &sha256(b"hello"), &[]);
    let other = send(&server, "/cascade/k", headers.clone(), b"hullo");
    assert!(
        other.text().contains("XAmzContentSHA256Mismatch"),
        "{}",
        other.text()
    );
    assert!(!server.root().join("cascade/k").exists());
    assert_eq!(send(&server, "/cascade/k", headers, b"hello").status, 200);
    let (headers, _) = signer.headers(&server, "/cascade/u", "UNSIGNED-PAYLOAD", &[]);
    assert_eq!(send(&server, "/cascade/u", headers, b"hello").status, 200);
}

#[test]
fn signed_chunks_are_checked() {
    let server = signed_server();
    let signer = Signer::new("tok");
    let payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
    let more = [
        ("x-amz-decoded-content-length", "5"),
        ("x-amz-trailer", "x-amz-checksum-crc32"),
    ];
    let (headers, seed) = signer.headers(&server, "/cascade/k", payload, &more);
    let body = signer.chunks(seed.clone(), b"hello", 2, "NhCmhg==");
    let mut changed = body.clone();
    let at = changed.windows(2).position(|w| w == b"he").unwrap();
    changed[at] = b'H';
    let reply = send(&server, "/cascade/k", headers.clone(), &changed);
    assert_eq!(reply.status, 403, "{}", reply.text());
    let wrong_crc = signer.chunks(seed.clone(), b"hello", 2, "AAAAAA==");
    assert_eq!(
        send(&server, "/cascade/k", headers.clone(), &wrong_crc).status,
        400
    );
    let unsigned = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
    assert_eq!(send(&server, "/cascade/k", headers.clone(), unsigned).status, 403);
    let another = Signer::new("guess").chunks(seed, b"hello", 2, "NhCmhg==");
    assert_eq!(send(&server, "/cascade/k", headers.clone(), &another).status, 403);
    assert!(!server.root().join("cascade/k").exists());
    assert_eq!(send(&server, "/cascade/k", headers, &body).status, 200);
    assert_eq!(std::fs::read(server.root().join("cascade/k")).unwrap(), b"hello");
}

#[test]
fn an_unsigned_trailer_needs_a_signed_request() {
    let server = signed_server();
    let payload = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    let more = [
        ("x-amz-decoded-content-length", "5"),
        ("x-amz-trailer", "x-amz-checksum-crc32"),
    ];
    let body = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
    let (headers, _) = Signer::new("tok").headers(&server, "/cascade/k", payload, &more);
    assert_eq!(send(&server, "/cascade/k", headers, body).status, 200);
    let (headers, _) = Signer::new("wrong").headers(&server, "/cascade/other", payload, &more);
    let reply = send(&server, "/cascade/other", headers, body);
    assert_eq!(reply.status, 403);
    assert!(
        reply.text().contains("use the access key 'cascade'"),
        "{}",
        reply.text()
    );
    assert!(!server.root().join("cascade/other").exists());
}

#[test]
fn unsigned_and_old_signatures_are_refused() {
    let server = signed_server();
    let reply = server.put("/cascade/k", b"x");
    assert_eq!(reply.status, 403);
    assert!(
        reply.text().contains("the request is not signed"),
        "{}",
        reply.text()
    );
    let v2 = server.send("GET /cascade/k", &[("authorization", "AWS cascade:c2ln")], b"");
    assert!(v2.text().contains("signature version 4"), "{}", v2.text());
    let v2 = server.get("/cascade/k?AWSAccessKeyId=cascade&Signature=x&Expires=99999999999");
    assert!(v2.text().contains("signature version 4"), "{}", v2.text());
    assert_eq!(server.get("/").status, 403);
}
