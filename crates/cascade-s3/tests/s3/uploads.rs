//! Multipart uploads across a restart, and parts that must not mix.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

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

/// Makes a part look as if the machine had gone down since it came.
fn of_another_boot(folder: &Path, number: i32) {
    let path = folder.join(format!("part-{number:05}.json"));
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_ne!(record["boot"].take(), serde_json::Value::Null);
    record["boot"] = "an earlier one".into();
    std::fs::write(&path, record.to_string()).unwrap();
}

#[test]
fn parts_that_were_lost_with_the_power_are_asked_for_again() {
    let server = open_server();
    let id = start(&server, "k");
    let folder = server.root().join(".multipart").join(&id);
    let (one, two) = (vec![1; 5 * MIB], vec![2; 5 * MIB]);
    let etags = [
        part(&server, "k", &id, 1, &one),
        part(&server, "k", &id, 2, &two),
        part(&server, "k", &id, 3, b"end"),
    ];
    let named: Vec<(i32, &str)> = (1..).zip(etags.iter().map(String::as_str)).collect();
    of_another_boot(&folder, 1);
    of_another_boot(&folder, 2);
    // Bytes of part 1 and the record of part 3 never reached the disk; part 2 is whole.
    let data = std::fs::File::options().write(true).open(folder.join("data"));
    data.unwrap().write_all_at(&[0; 4096], 0).unwrap();
    std::fs::write(folder.join("part-00003.json"), "").unwrap();
    assert_eq!(complete(&server, "k", &id, &named[..1]), 400);
    assert_eq!(complete(&server, "k", &id, &named[2..]), 400);
    assert_eq!(server.get("/cascade/k").status, 404, "nothing became visible");
    part(&server, "k", &id, 1, &one);
    part(&server, "k", &id, 3, b"end");
    assert_eq!(complete(&server, "k", &id, &named), 200);
    assert_eq!(
        server.get("/cascade/k").body,
        [one, two, b"end".to_vec()].concat()
    );
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
