//! A server on a port of its own, and HTTP requests written out by hand.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use cascade_s3::{ObjectEvent, S3Config, S3Endpoint};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A running endpoint. Dropping it stops it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) events: Receiver<ObjectEvent>,
    pub(crate) dir: TempDir,
    pub(crate) shutdown: CancellationToken,
    /// Ends when the server has.
    pub(crate) task: JoinHandle<()>,
    pub(crate) runtime: Runtime,
}

/// An endpoint that anyone may use.
pub(crate) fn open_server() -> Server {
    server(tempfile::tempdir().unwrap(), |config| config.anonymous = true)
}

/// An endpoint on a folder, with the access key `cascade` and the secret `tok`.
pub(crate) fn server(dir: TempDir, change: impl FnOnce(&mut S3Config)) -> Server {
    let mut config = S3Config::new(dir.path(), "cascade", "cascade", "tok");
    change(&mut config);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (sender, events) = tokio::sync::mpsc::channel(100);
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = S3Endpoint::new(config, sender).unwrap();
    let shutdown = CancellationToken::new();
    let task = runtime.spawn(endpoint.serve(listener, shutdown.clone()));
    Server {
        address,
        events,
        dir,
        shutdown,
        task,
        runtime,
    }
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The body as text, with XML's apostrophes as plain ones.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).replace("&apos;", "'")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&prefix))
    }
}

impl Server {
    /// Opens a connection.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends a request as written, with `Host` and `Connection: close` added, and reads the reply.
    pub(crate) fn send(&self, start: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = self.connect();
        stream.write_all(&self.head(start, headers)).unwrap();
        // The server may answer and close before it has read all.
        stream.write_all(body).unwrap_or_default();
        read_reply(&mut stream)
    }

    /// The head of a request.
    pub(crate) fn head(&self, start: &str, headers: &[(&str, &str)]) -> Vec<u8> {
        let mut head = format!(
            "{start} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        );
        headers
            .iter()
            .for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        head.push_str("\r\n");
        head.into_bytes()
    }

    /// A plain PUT.
    pub(crate) fn put(&self, path: &str, body: &[u8]) -> Reply {
        self.send(
            &format!("PUT {path}"),
            &[("content-length", &body.len().to_string())],
            body,
        )
    }

    /// A plain GET.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send(&format!("GET {path}"), &[], b"")
    }

    /// The folder of the store.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Waits until no temporary file is left.
    pub(crate) fn wait_for_no_temporary_files(&self) {
        let start = Instant::now();
        while std::fs::read_dir(self.root().join(".tmp"))
            .unwrap()
            .next()
            .is_some()
        {
            assert!(
                start.elapsed() < Duration::from_secs(10),
                "a temporary file stays"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Reads a reply to the end of the connection.
pub(crate) fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut raw = Vec::new();
    // A reset after the reply is no matter.
    stream.read_to_end(&mut raw).unwrap_or_default();
    let end = raw.windows(4).position(|w| w == b"\r\n\r\n").expect("a reply");
    let head = String::from_utf8(raw[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply {
        status,
        head,
        body: raw[end + 4..].to_vec(),
    }
}
