//! Limits, refused requests, and keys that must not leave the bucket.

use std::io::Write as _;
use std::time::Duration;

use crate::client::{open_server, read_reply, server};

#[test]
fn large_objects_are_refused() {
    let server = server(tempfile::tempdir().unwrap(), |config| {
        config.anonymous = true;
        config.max_object_bytes = 1000;
    });
    assert_eq!(server.put("/cascade/fits", &[0; 1000]).status, 200);
    let reply = server.put("/cascade/large", &[0; 1001]);
    assert_eq!(reply.status, 400);
    assert!(
        reply.text().contains("EntityTooLarge") && reply.text().contains("1000 bytes"),
        "{}",
        reply.text()
    );
    // Without a length the limit holds while the body comes.
    let headers = [("transfer-encoding", "chunked")];
    let body = format!("3e9\r\n{}\r\n0\r\n\r\n", "x".repeat(1001));
    assert_eq!(
        server
            .send("PUT /cascade/large", &headers, body.as_bytes())
            .status,
        400
    );
    assert_eq!(server.get("/cascade/large").status, 404);
}

#[test]
fn a_stalled_body_is_given_up() {
    let server = server(tempfile::tempdir().unwrap(), |config| {
        config.anonymous = true;
        config.idle_timeout = Duration::from_millis(200);
    });
    let mut stream = server.connect();
    stream
        .write_all(&server.head("PUT /cascade/slow", &[("content-length", "10")]))
        .unwrap();
    stream.write_all(b"abc").unwrap();
    let reply = read_reply(&mut stream);
    assert!(
        reply.text().contains("<Code>RequestTimeout</Code>"),
        "{}",
        reply.text()
    );
    let mut stream = server.connect();
    stream
        .write_all(&server.head("POST /cascade?delete", &[("content-length", "10")]))
        .unwrap();
    assert!(read_reply(&mut stream).status >= 400);
    assert_eq!(server.get("/cascade/slow").status, 404);
}

#[test]
fn xml_bodies_and_forms_are_limited() {
    let server = open_server();
    let body = vec![b' '; 9 << 20];
    let reply = server.send(
        "POST /cascade?delete",
        &[("content-length", &body.len().to_string())],
        &body,
    );
    assert!(reply.status >= 400, "{}", reply.text());
    let form = [
        ("content-type", "multipart/form-data; boundary=x"),
        ("content-length", "0"),
    ];
    let reply = server.send("POST /cascade", &form, b"");
    assert_eq!(reply.status, 405);
    assert!(reply.text().contains("use PutObject"));
}

#[test]
fn keys_do_not_leave_the_bucket() {
    let server = open_server();
    for path in [
        "/cascade/../evil",
        "/cascade/..%2fevil",
        "/cascade/%2e%2e/evil",
        "/cascade/%2e%2e%2fevil",
        "/cascade/a/%2e%2e/%2e%2e/%2e%2e/evil",
        "/cascade//evil",
        "/cascade/%2fevil",
        "/cascade/a%00b",
        "/cascade/a%0ab",
        "/cascade/.%2f.tmp",
        "/.tmp/evil",
        "/.multipart/evil",
        "/../evil",
        "/cascade/%ff%fe",
    ] {
        let reply = server.put(path, b"evil");
        assert!((400..500).contains(&reply.status), "{path}: {}", reply.status);
        assert!(reply.text().contains("<Message>"), "{path}: {}", reply.text());
    }
    let long = format!("/cascade/{}", "x".repeat(1025));
    assert!(
        server
            .put(&long, b"")
            .text()
            .contains("<Code>KeyTooLongError</Code>")
    );
    // What only looks dangerous is stored as it was sent.
    for (path, file) in [
        ("/cascade/%252e%252e", "%2e%2e"),
        ("/cascade/..a", "..a"),
        ("/cascade/C:%5Cx", "C:\\x"),
    ] {
        assert_eq!(server.put(path, b"ok").status, 200);
        assert_eq!(
            std::fs::read(server.root().join("cascade").join(file)).unwrap(),
            b"ok"
        );
    }
    let files = std::fs::read_dir(server.root().parent().unwrap()).unwrap();
    assert!(files.flatten().all(|f| f.file_name() != "evil"));
    assert_eq!(
        std::fs::read_dir(server.root().join("cascade")).unwrap().count(),
        3
    );
}

#[test]
fn buckets_are_fixed() {
    let server = open_server();
    assert_eq!(
        server
            .send("PUT /cascade", &[("content-length", "0")], b"")
            .status,
        200
    );
    let reply = server.send("PUT /other", &[("content-length", "0")], b"");
    assert_eq!(reply.status, 403);
    assert!(reply.text().contains("use 'cascade'"), "{}", reply.text());
    for path in ["/other/key", "/other?list-type=2", "/NotAName/key"] {
        let reply = server.get(path);
        assert!(matches!(reply.status, 400 | 404));
        assert!(reply.text().contains("use 'cascade'"), "{path}: {}", reply.text());
    }
}

#[test]
fn listings_are_encoded_on_request() {
    let server = open_server();
    assert_eq!(server.put("/cascade/a%2Bb%20c%26/%C3%A9", b"").status, 200);
    let plain = server.get("/cascade?list-type=2").text();
    assert!(plain.contains("<Key>a+b c&amp;/é</Key>"), "{plain}");
    let encoded = server
        .get("/cascade?list-type=2&encoding-type=url&prefix=a%2B")
        .text();
    assert!(encoded.contains("<Key>a%2Bb%20c%26/%C3%A9</Key>"), "{encoded}");
    assert!(encoded.contains("<Prefix>a%2B</Prefix>"), "{encoded}");
    let first = server.get("/cascade?encoding-type=url&delimiter=/").text();
    assert!(first.contains("<Prefix>a%2Bb%20c%26/</Prefix>"), "{first}");
}

#[test]
fn shutdown_does_not_wait_for_idle_connections() {
    let mut server = open_server();
    assert_eq!(server.put("/cascade/k", b"x").status, 200);
    let idle = server.connect();
    let mut stalled = server.connect();
    stalled
        .write_all(&server.head("PUT /cascade/slow", &[("content-length", "10")]))
        .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.shutdown.cancel();
    let ended = async { tokio::time::timeout(Duration::from_secs(5), &mut server.task).await };
    server
        .runtime
        .block_on(ended)
        .expect("the server ends within five seconds")
        .unwrap();
    drop(idle);
}
