//! Multipart uploads across a restart, and parts that must not mix.

use std::io::Write as _;

use crate::client::{Server, open_server, server};

const MIB: usize = 1 << 20;

fn start(server: &Server, key: &str) -> String {
    let reply = server.send(
        &format!("POST /cascade/{key}?uploads"),
        &[("content-length", "0")],
        b"",
    );
    let text = reply.text();
    let id = text
        .split_once("<UploadId>")
        .and_then(|(_, rest)| rest.split_once("</UploadId>"));
    id.unwrap_or_else(|| panic!("{text}")).0.to_owned()
}

fn part(server: &Server, key: &str, id: &str, number: i32, body: &[u8]) -> String {
    let reply = server.put(&format!("/cascade/{key}?partNumber={number}&uploadId={id}"), body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.header("etag").unwrap().to_owned()
}

fn complete(server: &Server, key: &str, id: &str, parts: &[(i32, &str)]) -> u16 {
    let parts: String = parts
        .iter()
        .map(|(n, etag)| format!("<Part><PartNumber>{n}</PartNumber><ETag>{etag}</ETag></Part>"))
        .collect();
    let xml = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
    let length = xml.len().to_string();
    let start = format!("POST /cascade/{key}?uploadId={id}");
    server
        .send(&start, &[("content-length", &length)], xml.as_bytes())
        .status
}

#[test]
fn an_upload_survives_a_restart() {
    let first = open_server();
    let id = start(&first, "big");
    let one = part(&first, "big", &id, 1, &vec![1; 5 * MIB]);
    let Server { dir, .. } = first;
    let second = server(dir, |config| config.anonymous = true);
    let two = part(&second, "big", &id, 2, b"end");
    assert_eq!(complete(&second, "big", &id, &[(1, &one), (2, &two)]), 200);
    let body = second.get("/cascade/big").body;
    assert_eq!(body.len(), 5 * MIB + 3);
    assert!(body[..5 * MIB].iter().all(|b| *b == 1) && body.ends_with(b"end"));
    assert!(
        std::fs::read_dir(second.root().join(".multipart"))
            .unwrap()
            .next()
            .is_none()
    );
    assert_eq!(complete(&second, "big", &id, &[(1, &one)]), 404);
}

#[test]
fn a_stalled_part_does_not_spoil_the_object() {
    let server = open_server();
    let id = start(&server, "k");
    // The first try of part 1 stalls half way and stays open; the client sends the part again.
    let mut stalled = server.connect();
    let length = (5 * MIB).to_string();
    let path = format!("PUT /cascade/k?partNumber=1&uploadId={id}");
    stalled
        .write_all(&server.head(&path, &[("content-length", &length)]))
        .unwrap();
    stalled.write_all(&vec![9; 3 * MIB]).unwrap();
    let one = part(&server, "k", &id, 1, &vec![1; 5 * MIB]);
    let two = part(&server, "k", &id, 2, &vec![2; 5 * MIB]);
    assert_eq!(complete(&server, "k", &id, &[(1, &one), (2, &two)]), 200);
    // Now the rest of the first try arrives.
    stalled.write_all(&vec![9; 2 * MIB]).unwrap();
    assert_eq!(crate::client::read_reply(&mut stalled).status, 404);
    let body = server.get("/cascade/k").body;
    assert_eq!(body.len(), 10 * MIB);
    assert!(body[..5 * MIB].iter().all(|b| *b == 1) && body[5 * MIB..].iter().all(|b| *b == 2));
}

#[test]
fn a_failed_completion_can_be_tried_again() {
    let server = open_server();
    let id = start(&server, "dir");
    let one = part(&server, "dir", &id, 1, b"bytes");
    assert_eq!(server.put("/cascade/dir/in-the-way", b"").status, 200);
    assert_eq!(complete(&server, "dir", &id, &[(1, &one)]), 409);
    assert_eq!(complete(&server, "dir", &id, &[(1, "\"bad\"")]), 400);
    assert_eq!(
        server.send("DELETE /cascade/dir/in-the-way", &[], b"").status,
        204
    );
    assert_eq!(complete(&server, "dir", &id, &[(1, &one)]), 200);
    assert_eq!(server.get("/cascade/dir").body, b"bytes");
    // The object no longer shares its file with the upload.
    let part = server.put(&format!("/cascade/dir?partNumber=1&uploadId={id}"), b"x");
    assert_eq!(part.status, 404);
}

#[test]
fn uploads_belong_to_their_key() {
    let server = open_server();
    let id = start(&server, "mine");
    for path in [
        format!("/cascade/yours?partNumber=1&uploadId={id}"),
        "/cascade/mine?partNumber=1&uploadId=..".to_owned(),
        "/cascade/mine?partNumber=1&uploadId=%2e%2e%2fcascade".to_owned(),
    ] {
        assert_eq!(server.put(&path, b"x").status, 404, "{path}");
    }
    let mine = format!("/cascade/mine?partNumber=0&uploadId={id}");
    assert_eq!(server.put(&mine, b"x").status, 400);
}
