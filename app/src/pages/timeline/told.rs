//! What the page says in words about the picture: signals that change when something was chosen or the hand rests.

use cascade_api::{SimId, TimelineLevel};
use cascade_scene::timeline::groups::Group;
use cascade_scene::timeline::read::{Beside, Row, Running};
use cascade_scene::timeline::{Align, Filter, View};
use leptos::prelude::*;

use super::address;
use super::stage::Stage;
use crate::data::DataError;

/// Kernels in the table.
const ROWS: usize = 20;

/// Whether there is a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Status {
    /// Lanes are on their way.
    Loading,
    /// Why there are none.
    Failed(DataError),
    /// They are there.
    Ready,
}

/// The selected kernel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selected {
    /// Its number.
    pub(super) number: u64,
    /// Its readable name.
    pub(super) short: String,
    /// Its name as recorded.
    pub(super) name: String,
    /// Its group.
    pub(super) group: String,
    /// When it starts and ends, in ns.
    pub(super) range: View,
    /// How long it takes in every lane.
    pub(super) beside: Vec<Beside>,
    /// The position of its lane.
    pub(super) lane: usize,
    /// The run and the sim of its lane; none for measured kernels.
    pub(super) sim: Option<(String, SimId)>,
}

/// The table of kernels in view.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Names of the lanes.
    pub(super) lanes: Vec<String>,
    /// Kernel names with most time.
    pub(super) rows: Vec<Row>,
}

/// Everything that is said.
#[derive(Clone, Copy)]
pub(super) struct Told {
    pub(super) status: RwSignal<Status>,
    pub(super) groups: RwSignal<Vec<Group>>,
    pub(super) kernels: RwSignal<usize>,
    pub(super) hits: RwSignal<usize>,
    /// Which of the hits is selected, counted from 0.
    pub(super) hit: RwSignal<Option<usize>>,
    pub(super) align: RwSignal<Align>,
    pub(super) level: RwSignal<TimelineLevel>,
    pub(super) filter: RwSignal<Filter>,
    pub(super) view: RwSignal<(View, f64)>,
    pub(super) selection: RwSignal<Option<Selected>>,
    pub(super) running: RwSignal<Option<(f64, Vec<Running>)>>,
    pub(super) table: RwSignal<Table>,
    /// Height of all lanes, in px.
    pub(super) height: RwSignal<f64>,
    /// Why lanes are empty.
    pub(super) problems: RwSignal<Vec<String>>,
    /// Whether anybody can see the picture.
    pub(super) in_sight: RwSignal<bool>,
    /// Whether the wheel was turned without the key that makes it zoom.
    pub(super) hint: RwSignal<bool>,
}

impl Told {
    /// Nothing to say yet.
    pub(super) fn new() -> Self {
        Self {
            status: RwSignal::new(Status::Loading),
            groups: RwSignal::new(Vec::new()),
            kernels: RwSignal::new(0),
            hits: RwSignal::new(0),
            hit: RwSignal::new(None),
            align: RwSignal::new(Align::Time),
            level: RwSignal::new(TimelineLevel::Kernels),
            filter: RwSignal::new(Filter::default()),
            view: RwSignal::new((View::all(0.0), 0.0)),
            selection: RwSignal::new(None),
            running: RwSignal::new(None),
            table: RwSignal::new(Table::default()),
            height: RwSignal::new(0.0),
            problems: RwSignal::new(Vec::new()),
            in_sight: RwSignal::new(false),
            hint: RwSignal::new(false),
        }
    }

    /// Lanes are there, or are laid out anew.
    pub(super) fn loaded(self, stage: &Stage) {
        let scene = &stage.scene;
        self.status.set(Status::Ready);
        self.groups
            .set(scene.kinds().groups().into_iter().cloned().collect());
        self.kernels.set(scene.kernels());
        self.align.set(scene.align());
        self.level.set(stage.level);
        self.height.set(scene.height());
        let problems = scene.lanes().iter();
        self.problems.set(
            problems
                .filter_map(|lane| Some(format!("{}: {}", lane.title, lane.problem.as_ref()?)))
                .collect(),
        );
        self.filtered(stage);
        self.selected(stage);
    }

    /// Another filter is in force.
    pub(super) fn filtered(self, stage: &Stage) {
        self.filter.set(stage.scene.filter().clone());
        self.hits.set(stage.scene.hits());
        self.placed(stage);
    }

    /// Another kernel is selected, or others are hits.
    fn placed(self, stage: &Stage) {
        let searched = || stage.camera.selected.filter(|_| stage.scene.filter().is_on());
        self.hit
            .set(searched().and_then(|pick| stage.scene.place_of(pick)));
    }

    /// Another kernel is selected.
    pub(super) fn selected(self, stage: &Stage) {
        let read = || {
            let (scene, pick) = (&stage.scene, stage.camera.selected?);
            let lane = scene.lanes().get(pick.lane)?;
            let kind = lane.track.kind(pick.at)?;
            let name = scene.kinds().get(kind)?;
            Some(Selected {
                number: lane.track.number(pick.at)?,
                short: name.short.clone(),
                name: name.name.clone(),
                group: scene.kinds().group_of(kind)?.name.clone(),
                range: scene.range(pick)?,
                beside: scene.beside(pick),
                lane: pick.lane,
                sim: lane.sim.clone().map(|sim| (lane.run.clone(), sim)),
            })
        };
        self.selection.set(read());
        self.placed(stage);
    }

    /// The hand rests: table, read-out and address follow the view.
    pub(super) fn rested(self, stage: &Stage) {
        let (scene, camera) = (&stage.scene, &stage.camera);
        self.view.set((camera.view, scene.total()));
        let at = camera.scrub;
        self.running.set(at.map(|time| (time, scene.running(time))));
        self.table.set(Table {
            lanes: scene.lanes().iter().map(|lane| lane.title.clone()).collect(),
            rows: scene.top(camera.view, ROWS),
        });
        address::write(&stage.link());
    }
}
