//! What a timing source tells while a request is under way.

use cascade_api::CascadeInfo;
use futures::stream::BoxStream;

use super::problem::Problem;

/// One thing that happened.
#[derive(Debug)]
pub(crate) enum Beat {
    /// Nothing is out yet; what is waited for, in one line.
    Waiting(String),
    /// The next token of a choice is out.
    Token {
        /// The choice: a position in the ask's sequences.
        choice: usize,
    },
    /// Every token is out; what is told of the times. Comes last.
    Done(Box<CascadeInfo>),
}

/// All that happens, in order. Ends after [`Beat::Done`] or an error; dropping it ends the request.
pub(crate) type Beats = BoxStream<'static, Result<Beat, Problem>>;
