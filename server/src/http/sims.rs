//! Sims: what simulators report, and what they produced.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_RANGE, RANGE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use cascade_api::limits::{MAX_JSON_BYTES, MAX_TIMELINE_BYTES};
use cascade_api::{
    ErrorBody, FilePreview, Heartbeat, HeartbeatAck, KernelDetail, LogChunk, SimFile, SimId, SimResults,
    StepTimelineUpload,
};
use futures::StreamExt;
use tokio_util::io::ReaderStream;

use super::answer::{AsStored, attachment};
use super::caller::{Owner, Reporter};
use super::extract::{FileName, Id, KernelIndex, json, read};
use crate::app_state::AppState;
use crate::error::Error;
use crate::openapi::{BadBody, FileBytes, NoSuchRange, NotFound, TooLarge, Unauthorized, Unprocessable};
use crate::runs::LogRange;

/// Bytes of an over-long upload that are read and dropped before the connection is closed: 4 GiB.
const MAX_DRAIN_BYTES: u64 = 4 << 30;
/// Bytes of a stored file read at a time.
const READ_BYTES: usize = 256 << 10;

/// Says that a sim is alive; the answer says whether to stop.
#[utoipa::path(post, path = "/api/sims/{sim_id}/heartbeat", tag = "simulator", request_body = Heartbeat,
    params(("sim_id" = String, Path, description = "The sim's id.")),
    responses(
        (status = 200, description = "The sim's state after this heartbeat.", body = HeartbeatAck),
        (status = 400, response = BadBody),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 413, response = TooLarge),
        (status = 422, response = Unprocessable)))]
pub(crate) async fn heartbeat(
    Reporter(id): Reporter,
    State(state): State<AppState>,
    body: Body,
) -> Result<Json<HeartbeatAck>, Error> {
    let heartbeat = json(body, MAX_JSON_BYTES).await?;
    Ok(Json(state.service.heartbeat(&id, heartbeat).await?))
}

/// Appends lines to a sim's log. A `seq` that was taken already is ignored.
#[utoipa::path(post, path = "/api/sims/{sim_id}/logs", tag = "simulator", request_body = LogChunk,
    params(("sim_id" = String, Path, description = "The sim's id.")),
    responses(
        (status = 204, description = "Stored, now or before."),
        (status = 400, response = BadBody),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 413, response = TooLarge),
        (status = 422, response = Unprocessable)))]
pub(crate) async fn logs(
    Reporter(id): Reporter,
    State(state): State<AppState>,
    body: Body,
) -> Result<StatusCode, Error> {
    let chunk: LogChunk = json(body, MAX_JSON_BYTES).await?;
    state.service.log_append(&id, chunk).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stores a sim's step timeline, in place of an earlier one.
#[utoipa::path(post, path = "/api/sims/{sim_id}/step-timeline", tag = "simulator",
    request_body = StepTimelineUpload,
    params(("sim_id" = String, Path, description = "The sim's id.")),
    responses(
        (status = 204, description = "Stored."),
        (status = 400, response = BadBody),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 413, response = TooLarge),
        (status = 422, response = Unprocessable)))]
pub(crate) async fn step_timeline(
    Reporter(id): Reporter,
    State(state): State<AppState>,
    body: Body,
) -> Result<StatusCode, Error> {
    let body = read(body, MAX_TIMELINE_BYTES).await?;
    state.service.timeline_put(&id, body).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stores an output file, in place of an earlier one of its name.
#[utoipa::path(put, path = "/api/sims/{sim_id}/files/{name}", tag = "simulator",
    request_body(content = FileBytes, content_type = "application/octet-stream"),
    params(
        ("sim_id" = String, Path, description = "The sim's id."),
        ("name" = String, Path, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$",
            description = "Letters, digits, `.`, `_` and `-`, 1 to 128 of them, and neither `.` nor `..`.")),
    responses(
        (status = 200, description = "The file as stored.", body = SimFile),
        (status = 400, response = BadBody),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 413, response = TooLarge),
        (status = 422, response = Unprocessable)))]
pub(crate) async fn put_file(
    Reporter(id): Reporter,
    FileName(name): FileName,
    State(state): State<AppState>,
    body: Body,
) -> Result<Json<SimFile>, Error> {
    let mut upload = state.service.file_start(&id, &name).await?;
    let mut body = body.into_data_stream();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|error| Error::BodyUnread(error.to_string()))?;
        upload.write(&piece).await?;
        if upload.size() > MAX_DRAIN_BYTES {
            return Err(Error::FileTooBig);
        }
    }
    Ok(Json(state.service.file_finish(upload).await?))
}

/// A sim's output files, by name.
#[utoipa::path(get, path = "/api/sims/{sim_id}/files", tag = "runs",
    params(("sim_id" = String, Path, description = "The sim's id.")),
    responses(
        (status = 200, description = "The files.", body = Vec<SimFile>),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn files(
    _: Owner,
    Id(id): Id<SimId>,
    State(state): State<AppState>,
) -> Result<Json<Vec<SimFile>>, Error> {
    Ok(Json(state.service.sim_files(&id).await?))
}

/// One output file as the sim uploaded it; what is compressed stays compressed.
#[utoipa::path(get, path = "/api/sims/{sim_id}/files/{name}", tag = "runs",
    params(
        ("sim_id" = String, Path, description = "The sim's id."),
        ("name" = String, Path, description = "The file's name.")),
    responses(
        (status = 200, description = "The file's bytes, with the media type its name stands for.",
            content((FileBytes = "*/*"))),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn file(
    _: Owner,
    Id(id): Id<SimId>,
    FileName(name): FileName,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let (stored, file) = state.service.file_open(&id, &name).await?;
    let body = Body::from_stream(ReaderStream::with_capacity(file, READ_BYTES));
    let mut answer = attachment(&stored.name, &stored.content_type, body);
    answer
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(stored.size));
    answer.extensions_mut().insert(AsStored);
    Ok(answer)
}

/// The first 200 lines of an output file that is text, unpacked if it is gzipped.
#[utoipa::path(get, path = "/api/sims/{sim_id}/files/{name}/preview", tag = "runs",
    params(
        ("sim_id" = String, Path, description = "The sim's id."),
        ("name" = String, Path, description = "The file's name: `.csv`, `.txt` or `.log`, with or without `.gz`.")),
    responses(
        (status = 200, description = "Its first lines.", body = FilePreview),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 422, description = "The file is no text, is over 16 MiB or cannot be unpacked.", body = ErrorBody)))]
pub(crate) async fn file_preview(
    _: Owner,
    Id(id): Id<SimId>,
    FileName(name): FileName,
    State(state): State<AppState>,
) -> Result<Json<FilePreview>, Error> {
    Ok(Json(state.service.file_preview(&id, &name).await?))
}

/// One sim's results: its GPU, every kernel with its full `stats`, its totals.
#[utoipa::path(get, path = "/api/sims/{sim_id}/results", tag = "runs",
    params(("sim_id" = String, Path, description = "The sim's id.")),
    responses(
        (status = 200, description = "`<sim_id>-results.json`.", body = SimResults),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn results(
    _: Owner,
    Id(id): Id<SimId>,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let body = Body::from_stream(state.service.sim_results(&id).await?);
    Ok(attachment(
        &format!("{id}-results.json"),
        "application/json",
        body,
    ))
}

/// One kernel with its full `stats`, and why it takes as long as it does.
#[utoipa::path(get, path = "/api/sims/{sim_id}/kernels/{index}", tag = "runs",
    params(
        ("sim_id" = String, Path, description = "The sim's id."),
        ("index" = u64, Path, description = "The kernel's 0-based order of completion within the sim.")),
    responses(
        (status = 200, description = "The kernel.", body = KernelDetail),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn kernel(
    _: Owner,
    Id(id): Id<SimId>,
    KernelIndex(index): KernelIndex,
    State(state): State<AppState>,
) -> Result<Json<KernelDetail>, Error> {
    Ok(Json(state.service.sim_kernel(&id, &index).await?))
}

/// The one range of bytes that a header asks for; `None` for what we do not serve in parts (RFC 9110 §14.2 lets a
/// server answer with the whole).
fn asked_range(header: &HeaderValue) -> Option<LogRange> {
    let (from, to) = header.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
    match (from, to) {
        ("", last) => Some(LogRange::Last(last.parse().ok()?)),
        (from, "") => Some(LogRange::From(from.parse().ok()?, u64::MAX)),
        (from, to) => {
            let (from, to) = (from.parse().ok()?, to.parse::<u64>().ok()?);
            (from <= to).then_some(LogRange::From(from, to.saturating_add(1)))
        }
    }
}

/// Every line the simulator sent, in the order of the chunks' numbers. A `Range` header asks for a part of it.
#[utoipa::path(get, path = "/api/sims/{sim_id}/log", tag = "runs",
    params(("sim_id" = String, Path, description = "The sim's id.")),
    responses(
        (status = 200, description = "`<sim_id>.log`.", body = String, content_type = "text/plain"),
        (status = 206, description = "The bytes that a `Range` header asked for: `bytes=0-999`, `bytes=1000-` or, for the \
            end, `bytes=-1000`. `Content-Range` says which they are.", body = String, content_type = "text/plain"),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 416, response = NoSuchRange)))]
pub(crate) async fn log(
    _: Owner,
    Id(id): Id<SimId>,
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    if let Some(range) = headers.get(RANGE).and_then(asked_range) {
        let (start, end, all, body) = state.service.sim_log_range(&id, range).await?;
        let mut answer = attachment(
            &format!("{id}.log"),
            "text/plain; charset=utf-8",
            Body::from_stream(body),
        );
        *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
        if let Ok(place) = HeaderValue::try_from(format!("bytes {start}-{}/{all}", end.saturating_sub(1))) {
            answer.headers_mut().insert(CONTENT_RANGE, place);
        }
        answer
            .headers_mut()
            .insert(CONTENT_LENGTH, HeaderValue::from(end - start));
        answer.extensions_mut().insert(AsStored);
        return Ok(answer);
    }
    let body = Body::from_stream(state.service.sim_log(&id).await?);
    Ok(attachment(
        &format!("{id}.log"),
        "text/plain; charset=utf-8",
        body,
    ))
}
