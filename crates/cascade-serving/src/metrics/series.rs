//! Steps over time, thinned out evenly once there are too many.

use crate::sim::StepRecord;

/// Keeps every `stride`-th step, and the last one. When twice the number of points asked for have gathered,
/// every second one goes and the stride doubles.
#[derive(Debug, Clone)]
pub struct Series {
    points: Vec<StepRecord>,
    /// The last step seen, if it is not among the points.
    last: Option<StepRecord>,
    stride: u64,
    most: usize,
    total: u64,
}

impl Series {
    /// Keeps at most `most` steps, and no fewer than half as many if there are so many.
    pub fn new(most: usize) -> Self {
        Self {
            points: Vec::new(),
            last: None,
            stride: 1,
            most: most.max(2),
            total: 0,
        }
    }

    /// Takes a step.
    pub fn push(&mut self, step: &StepRecord) {
        self.total += 1;
        if !step.index.is_multiple_of(self.stride) {
            self.last = Some(*step);
            return;
        }
        self.last = None;
        self.points.push(*step);
        // One place is for the last step.
        if self.points.len() >= self.most {
            self.stride *= 2;
            let stride = self.stride;
            self.last = self
                .points
                .last()
                .filter(|step| !step.index.is_multiple_of(stride))
                .copied();
            self.points.retain(|step| step.index.is_multiple_of(stride));
        }
    }

    /// The steps kept, in order: the first, every `stride`-th and the last.
    pub fn points(&self) -> impl Iterator<Item = &StepRecord> {
        self.points.iter().chain(&self.last)
    }

    /// Distance between steps kept, in steps.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Steps seen.
    pub fn total(&self) -> u64 {
        self.total
    }
}
