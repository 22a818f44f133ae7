//! Tests of the aws-chunked decoder, with the worked example of Amazon's documentation.

use bytes::Bytes;
use proptest::prelude::*;

use super::{ChunkError, Decoder};
use crate::upload::chunk_signature::ChunkSigner;

/// A body and its trailers.
type Decoded = (Vec<u8>, Vec<(String, String)>);

/// Decodes `raw`, fed in pieces of `step` bytes.
fn decode(raw: &[u8], step: usize, signer: Option<ChunkSigner>) -> Result<Decoded, ChunkError> {
    let mut decoder = Decoder::new(signer);
    let mut out = Vec::new();
    for piece in raw.chunks(step.max(1)) {
        decoder.feed(Bytes::copy_from_slice(piece), |data| {
            out.extend_from_slice(&data);
            Ok::<_, ChunkError>(())
        })?;
    }
    Ok((out, decoder.finish()?))
}

#[test]
fn decodes_chunks_and_trailers() {
    let raw = b"2\r\nhe\r\n3\r\nllo\r\n0\r\nX-Amz-Checksum-Crc32: NhCmhg==\r\n\r\n";
    for step in 1..raw.len() {
        let (body, trailers) = decode(raw, step, None).unwrap();
        assert_eq!(body, b"hello");
        assert_eq!(
            trailers,
            [("x-amz-checksum-crc32".to_owned(), "NhCmhg==".to_owned())]
        );
    }
}

#[test]
fn takes_bodies_that_end_without_the_last_empty_line() {
    for raw in [
        "3\r\nabc\r\n0\r\n",
        "3\r\nabc\r\n0\r\n\r\n",
        "3\r\nabc\r\n0\r\na:b",
        "3\r\nabc\r\n0\r\na:b\r\n",
    ] {
        assert_eq!(decode(raw.as_bytes(), 4, None).unwrap().0, b"abc", "{raw:?}");
    }
}

#[test]
fn refuses_broken_framing() {
    let whole = "5\r\nhello\r\n0\r\n";
    for end in 0..whole.len() - 3 {
        assert_eq!(
            decode(&whole.as_bytes()[..end], 3, None),
            Err(ChunkError::Truncated),
            "{end}"
        );
    }
    for raw in [
        "x\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "4\r\nhello\r\n0\r\n\r\n",
        "11111111111111111\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\nmore",
        "5\r\nhello\r\n0\r\nno colon\r\n\r\n",
    ] {
        assert!(
            matches!(decode(raw.as_bytes(), 7, None), Err(ChunkError::Malformed(_))),
            "{raw:?}"
        );
    }
    let endless = vec![b'1'; 10_000];
    assert!(matches!(
        decode(&endless, 100, None),
        Err(ChunkError::Malformed(_))
    ));
    let many = format!("0\r\n{}\r\n", "a:b\r\n".repeat(33));
    assert_eq!(
        decode(many.as_bytes(), 100, None),
        Err(ChunkError::Malformed("too many trailers"))
    );
}

/// The example of "Signature calculations ... transferring payload in multiple chunks": 66,560 times `a` in
/// chunks of 64 KiB and 1 KiB, signed with AWS's example key.
fn example(secret: &str) -> (Vec<u8>, Option<ChunkSigner>) {
    let authorization = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
        SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;\
        x-amz-decoded-content-length;x-amz-storage-class,\
        Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
    let chunks = [
        (
            65_536,
            "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
        ),
        (
            1_024,
            "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
        ),
        (
            0,
            "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
        ),
    ];
    let mut raw = Vec::new();
    for (size, signature) in chunks {
        raw.extend(format!("{size:x};chunk-signature={signature}\r\n").bytes());
        raw.extend(vec![b'a'; size]);
        raw.extend(b"\r\n");
    }
    (raw, ChunkSigner::new(authorization, "20130524T000000Z", secret))
}

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

#[test]
fn checks_the_documented_chunk_signatures() {
    let (raw, signer) = example(SECRET);
    assert_eq!(decode(&raw, 1000, signer).unwrap().0, vec![b'a'; 66_560]);
}

#[test]
fn refuses_changed_or_unsigned_chunks() {
    let (raw, signer) = example("another secret");
    assert_eq!(decode(&raw, 1000, signer), Err(ChunkError::Signature));
    let (mut raw, signer) = example(SECRET);
    raw[5_000] = b'b';
    assert_eq!(decode(&raw, 1000, signer), Err(ChunkError::Signature));
    let (_, signer) = example(SECRET);
    assert_eq!(
        decode(b"1\r\na\r\n0\r\n\r\n", 10, signer),
        Err(ChunkError::Signature)
    );
    // A body cut at the end of a signed chunk, with an unsigned end put after it.
    let (raw, signer) = example(SECRET);
    let mut cut = raw[..raw.len() - 86].to_vec();
    cut.extend(b"0\r\n\r\n");
    assert_eq!(decode(&cut, 1000, signer), Err(ChunkError::Signature));
}

proptest! {
    /// Whatever the chunks and however they arrive, the bytes come out as they went in.
    #[test]
    fn round_trip(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..8), step in 1usize..40) {
        let mut raw = Vec::new();
        for chunk in &chunks {
            raw.extend(format!("{:x}\r\n", chunk.len()).bytes());
            raw.extend(chunk);
            raw.extend(b"\r\n");
        }
        raw.extend(b"0\r\n\r\n");
        prop_assert_eq!(decode(&raw, step, None).unwrap().0, chunks.concat());
    }

    /// Any bytes at all give a result, not a panic.
    #[test]
    fn survives_anything(raw in prop::collection::vec(any::<u8>(), 0..200), step in 1usize..40) {
        decode(&raw, step, None).map(drop).unwrap_or_default();
    }
}
