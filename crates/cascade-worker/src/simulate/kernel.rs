//! One kernel of a trace: read as little as its result needs.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::PathBuf;

use cascade_accelsim::trace::identity::{Identified, Identity, Key, identify};
use cascade_accelsim::trace::{BlockSource as _, KernelHeader, ThreadBlock, open};
use cascade_engine::l1::{Recorded, Touches};
use cascade_engine::{Engine, EngineError, GpuModel, KernelEstimate, L2State, Level, Options};

use super::cache::{Cache, Seen, Setup};
use super::trace::Source;
use super::{Kernels, SimulateError};

type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Where results are kept, for one GPU and one set of options.
#[derive(Clone, Debug)]
pub(super) struct Kept<'a> {
    pub(super) cache: &'a Cache,
    pub(super) setup: Setup,
}

/// A kernel's file and what is known of it.
pub(super) struct Kernel<'a> {
    path: PathBuf,
    /// At its start.
    file: Option<File>,
    /// At the first thread block.
    source: Option<Source<'a>>,
    header: Option<KernelHeader>,
    identity: Option<Identity>,
    /// Digest of the lines that it touches.
    touched: Option<Key>,
    /// These lines, since the trace was read.
    touches: Option<Touches>,
    raw: Option<Key>,
    at_rest: Option<Key>,
    cache: Option<&'a Cache>,
    stop: Stop<'a>,
}

impl<'a> Kernel<'a> {
    /// Opens kernel `index`. What `cache` knows of its bytes is looked up at once.
    pub(super) fn open(
        kernels: &Kernels,
        index: usize,
        cache: Option<&'a Cache>,
        stop: Stop<'a>,
    ) -> Result<Self, SimulateError> {
        let path = kernels.file(index);
        let mut kernel = Self {
            file: None,
            source: None,
            header: None,
            identity: None,
            touched: None,
            touches: None,
            raw: None,
            at_rest: None,
            cache,
            stop,
            path,
        };
        if let Some(cache) = cache {
            let mut file = kernel.file()?;
            let meta = file.metadata().map_err(|source| kernel.unreadable(source))?;
            kernel.at_rest = cache.at_rest(&meta);
            if let Some(seen) = kernel.at_rest.and_then(|at_rest| cache.seen_at_rest(at_rest)) {
                kernel.recall(seen);
                kernel.file = Some(file);
                return Ok(kernel);
            }
            let mut bytes = Stoppable {
                inner: &mut file,
                stop,
            };
            let raw = Key::of_reader(&mut bytes).and_then(|raw| file.rewind().map(|()| raw));
            let raw = raw.map_err(|source| kernel.unreadable(source))?;
            (kernel.raw, kernel.file) = (Some(raw), Some(file));
            if let Some(seen) = cache.seen(raw) {
                if let Some(at_rest) = kernel.at_rest {
                    cache.remember_at_rest(at_rest, &seen);
                }
                kernel.recall(seen);
            }
        }
        Ok(kernel)
    }

    fn recall(&mut self, seen: Seen) {
        (self.header, self.identity) = (Some(seen.header), Some(seen.identity));
        self.touched = Some(seen.touches);
    }

    fn unreadable(&self, source: io::Error) -> SimulateError {
        match (self.stop)() {
            true => SimulateError::Stopped,
            false => SimulateError::Open {
                path: self.path.clone(),
                source,
            },
        }
    }

    fn file(&mut self) -> Result<File, SimulateError> {
        match self.file.take() {
            Some(file) => Ok(file),
            None => File::open(&self.path).map_err(|source| SimulateError::Open {
                path: self.path.clone(),
                source,
            }),
        }
    }

    fn source(&mut self) -> Result<Source<'a>, SimulateError> {
        if let Some(source) = self.source.take() {
            return Ok(source);
        }
        let inner = open(self.file()?, &self.path.to_string_lossy())?;
        Ok(Source {
            inner,
            stop: self.stop,
        })
    }

    /// The kernel's header.
    pub(super) fn header(&mut self) -> Result<&KernelHeader, SimulateError> {
        if self.header.is_none() {
            let source = self.source()?;
            self.header = Some(source.header().clone());
            self.source = Some(source);
        }
        Ok(self.header.get_or_insert_default())
    }

    /// What the kernel is, if that is known without reading it.
    pub(super) fn known(&self) -> Option<Identity> {
        self.identity
    }

    /// What the kernel is and which lines it touches; reads it to its end where that is not known.
    pub(super) fn identify(&mut self) -> Result<(Identity, Key), SimulateError> {
        if let (Some(identity), Some(touched)) = (self.identity, self.touched) {
            return Ok((identity, touched));
        }
        let mut source = self.source()?;
        let mut recorded = Recorded::new(&mut source);
        let identity = identify(&mut recorded).map_err(|error| self.stopped_or(error.into()))?;
        let touches = recorded.into_touches();
        let touched = self.learned(identity, &touches)?;
        self.touches = Some(touches);
        Ok((identity, touched))
    }

    /// The lines that the kernel touches; reads it to its end where they are not at hand.
    pub(super) fn touches(&mut self) -> Result<Touches, SimulateError> {
        if let Some(touches) = self.touches.take() {
            return Ok(touches);
        }
        let mut source = self.source()?;
        let mut recorded = Recorded::new(&mut source);
        let mut block = ThreadBlock::default();
        while recorded
            .next_block(&mut block)
            .map_err(|error| self.stopped_or(error.into()))?
        {}
        Ok(recorded.into_touches())
    }

    /// Puts the lines back for a later look.
    pub(super) fn keep_touches(&mut self, touches: Touches) {
        self.touches = Some(touches);
    }

    fn learned(&mut self, identity: Identity, touches: &Touches) -> Result<Key, SimulateError> {
        let touched = Key::of(touches.digest().as_bytes());
        (self.identity, self.touched) = (Some(identity), Some(touched));
        if let (Some(cache), Some(raw)) = (self.cache, self.raw) {
            let seen = Seen {
                header: self.header()?.clone(),
                identity,
                touches: touched,
            };
            cache.remember(raw, &seen);
            if let Some(at_rest) = self.at_rest {
                cache.remember_at_rest(at_rest, &seen);
            }
        }
        Ok(touched)
    }

    fn stopped_or(&self, error: SimulateError) -> SimulateError {
        match (self.stop)() {
            true => SimulateError::Stopped,
            false => error,
        }
    }

    /// The result that an earlier run has kept under `key`, with this launch's name and numbers.
    pub(super) fn kept(
        &mut self,
        kept: &Kept<'_>,
        key: Key,
    ) -> Result<Option<KernelEstimate>, SimulateError> {
        let Some(mut estimate) = kept.cache.result(key, &kept.setup) else {
            return Ok(None);
        };
        relabel(&mut estimate, self.header()?);
        Ok(Some(estimate))
    }

    /// Bounds the kernel, and identifies it on the way when `identify` says so or the result is to be kept.
    pub(super) fn bound(
        &mut self,
        gpu: &GpuModel,
        options: &Options,
        identify: bool,
        kept: Option<&Kept<'_>>,
    ) -> Result<KernelEstimate, SimulateError> {
        self.header()?;
        let mut source = self.source()?;
        let result = if (identify || kept.is_some()) && self.identity.is_none() {
            let mut recorded = Recorded::new(&mut source);
            let mut identified = Identified::new(&mut recorded);
            let result = Engine::simulate_kernel(&mut identified, gpu, options);
            let identity = identified.identity();
            if let (Ok(_), Some(identity)) = (&result, identity) {
                self.learned(identity, &recorded.into_touches())?;
            }
            result
        } else {
            Engine::simulate_kernel(&mut source, gpu, options)
        };
        let estimate = result.map_err(|error| self.stopped_or(error.into()))?;
        if let (Some(kept), Some(identity)) = (kept, self.identity) {
            kept.cache.keep(identity.content, &kept.setup, &estimate);
        }
        Ok(estimate)
    }

    /// Simulates the kernel from what L2 holds, `None` for nothing. What sampling refuses is simulated whole, and
    /// what cannot be simulated is bounded; the result says so.
    pub(super) fn simulate(
        &mut self,
        gpu: &GpuModel,
        options: &Options,
        l2: Option<L2State>,
    ) -> Result<KernelEstimate, SimulateError> {
        self.header()?;
        let mut options = *options;
        let mut fallback = None;
        loop {
            let mut source = self.source()?;
            let mut state = l2.clone().unwrap_or_else(|| L2State::cold(gpu));
            match Engine::simulate_next_kernel(&mut source, gpu, &options, &mut state) {
                Ok(mut estimate) => {
                    estimate.fallback = fallback;
                    return Ok(estimate);
                }
                Err(EngineError::Unsteady { .. }) => {
                    (options.sample, options.sample_sms) = (false, None);
                }
                Err(error @ (EngineError::Deadlock { .. } | EngineError::TooLong { .. }))
                    if options.level != Level::L0 =>
                {
                    fallback = Some(error.to_string());
                    options.level = Level::L0;
                }
                Err(error) => return Err(self.stopped_or(error.into())),
            }
        }
    }
}

/// Gives a result that another launch had the name and the numbers of this one.
pub(super) fn relabel(estimate: &mut KernelEstimate, header: &KernelHeader) {
    estimate.name.clone_from(&header.name);
    (estimate.kernel_id, estimate.stream_id) = (header.id, header.stream_id);
}

/// A reader that ends with an error once it is told to stop.
struct Stoppable<'a, R> {
    inner: R,
    stop: Stop<'a>,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.stop)() {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => self.inner.read(buffer),
        }
    }
}
