//! Properties of the picture: nothing that is in view is lost, and what is drawn is what is found.

use cascade_api::{KernelKind, RunTimeline, TimelineLane};
use proptest::prelude::*;

use super::frame::Frame;
use super::groups::{DIM, REST};
use super::layout::{BAR, HEAD, row};
use super::link::{self, Link};
use super::*;

/// A scene of one run with lanes of (kind, ns).
fn scene(lanes: Vec<Vec<(u32, f64)>>) -> Scene {
    let lane = |(at, kernels): (usize, Vec<(u32, f64)>)| TimelineLane {
        sim_id: Some(format!("sim-{at}").into()),
        gpu_config: "SM90_H100".into(),
        replica: at as u32,
        engine: Some(cascade_api::Engine::Cascade),
        kind: kernels.iter().map(|(kind, _)| *kind).collect(),
        ns: kernels.iter().map(|(_, ns)| *ns).collect(),
        ..bare()
    };
    let kind = |n: u32| KernelKind {
        name: format!("kernel_{n}"),
        group: format!("group {}", n % 10),
    };
    let lanes = lanes.into_iter().enumerate().map(lane).collect();
    Scene::new(vec![run(lanes, (0..12).map(kind).collect())])
}

/// A measured lane without kernels.
fn bare() -> TimelineLane {
    TimelineLane {
        sim_id: None,
        gpu_config: "SM90_H100".into(),
        replica: 0,
        engine: None,
        problem: None,
        steps: None,
        kind: Vec::new(),
        ns: Vec::new(),
        start_ns: None,
        index: None,
    }
}

/// A run's answer.
fn run(lanes: Vec<TimelineLane>, kinds: Vec<KernelKind>) -> RunTimeline {
    RunTimeline {
        run_id: "run-1".into(),
        trace_id: "trace".into(),
        level: cascade_api::TimelineLevel::Kernels,
        lanes,
        kinds,
    }
}

/// A camera on all of a scene.
fn camera(scene: &Scene, width: f64) -> Camera {
    Camera {
        view: View::all(scene.total()),
        width,
        height: scene.height(),
        scroll: 0.0,
        pointer: (0.0, 0.0),
        hovered: None,
        selected: None,
        scrub: None,
    }
}

/// Kernels from tiny to long.
fn kernels() -> impl Strategy<Value = Vec<(u32, f64)>> {
    let ns = prop_oneof![4 => 1.0..100.0, 1 => 1e3..1e5, 1 => Just(0.0)];
    prop::collection::vec((0_u32..12, ns), 1..400)
}

/// A part of a timeline.
fn part(total: f64, from: f64, share: f64) -> View {
    let span = (total * share).max(1.0);
    View {
        from: from * total,
        to: from * total + span,
    }
    .within(total)
}

proptest! {
    #[test]
    fn bars_keep_the_busy_time_and_lose_nothing(
        kernels in kernels(), from in 0.0..1.0, share in 0.0001..1.0, width in 10.0..2000.0,
    ) {
        let scene = scene(vec![kernels]);
        let view = part(scene.total(), from, share);
        let track = &scene.lanes()[0].track;
        let mut bars = Vec::new();
        track.bars(view, view.span() / width, scene.painted(), |bar| bars.push(bar));
        let wanted: f64 = (0..track.len())
            .filter_map(|at| track.place(at))
            .map(|(from, to)| (to.min(view.to) - from.max(view.from)).max(0.0))
            .sum();
        let busy: f64 = bars.iter().map(|bar| bar.busy).sum();
        prop_assert!((busy - wanted).abs() <= 1e-6 * wanted.max(1.0), "{busy} of {wanted}");
        let somewhere = from * track.len() as f64;
        let found = track.next_after(somewhere as usize, view.to);
        prop_assert_eq!(found, track.first_after(view.to).max(somewhere as usize));
        // Every kernel that begins in view, and the one that runs at its left edge, is in exactly one bar.
        let mut next = track.first_after(view.from);
        for bar in &bars {
            prop_assert_eq!(bar.first, next);
            prop_assert!(bar.from <= bar.to && bar.from >= view.from && bar.to <= view.to);
            next += bar.count;
        }
        prop_assert!(track.place(next).is_none_or(|(from, _)| from >= view.to));
        prop_assert!(bars.len() as f64 <= 2.0 * width + 3.0, "{} bars on {width} px", bars.len());
        for pair in bars.windows(2) {
            prop_assert!(pair[0].to <= pair[1].from + 1e-6, "bars overlap");
        }
    }

    #[test]
    fn the_colour_of_a_column_is_of_the_group_with_most_time(kernels in kernels(), width in 5.0..60.0) {
        let scene = scene(vec![kernels]);
        let view = View::all(scene.total());
        let track = &scene.lanes()[0].track;
        let mut bars = Vec::new();
        track.bars(view, view.span() / width, scene.painted(), |bar| bars.push(bar));
        for bar in bars {
            let mut shares = [0.0; PAINTS];
            for at in bar.first..bar.first + bar.count {
                let (from, to) = track.place(at).unwrap();
                shares[usize::from(scene.painted().of(track.kind(at).unwrap()))] += to - from;
            }
            let most = shares.iter().copied().fold(0.0, f64::max);
            prop_assert!(shares[usize::from(bar.paint)] >= most - 1e-6 * most.max(1.0));
        }
    }

    #[test]
    fn what_is_drawn_is_hit(kernels in kernels(), from in 0.0..1.0, share in 0.001..1.0, width in 50.0..1500.0) {
        let scene = scene(vec![Vec::new(), kernels]);
        let mut camera = camera(&scene, width);
        camera.view = part(scene.total(), from, share);
        let y = row(false, 1, 0.0) + BAR / 2.0;
        let mut bars = Vec::new();
        scene.lanes()[1].track.bars(camera.view, camera.ns(1.0), scene.painted(), |bar| bars.push(bar));
        for bar in bars.iter().filter(|bar| bar.to > bar.from) {
            let hit = scene.hit(&camera, camera.x(f64::midpoint(bar.from, bar.to)), y);
            let Target::Kernel(pick) = hit else { panic!("{hit:?} at {bar:?}") };
            prop_assert_eq!(pick.lane, 1);
            prop_assert!((bar.first..bar.first + bar.count).contains(&pick.at), "{:?} at {:?}", pick, bar);
        }
    }

    #[test]
    fn rectangles_stay_in_their_lane_and_on_the_screen(kernels in kernels(), width in 50.0..1500.0) {
        let scene = scene(vec![kernels.clone(), kernels]);
        let camera = camera(&scene, width);
        let mut frame = Frame::default();
        scene.draw(&camera, &mut frame);
        for rect in frame.bars.iter().flatten() {
            prop_assert!(rect.x >= -1e-6 && rect.x <= width, "{rect:?}");
            let lanes = [row(false, 0, 0.0), row(false, 1, 0.0)];
            prop_assert!(lanes.iter().any(|top| rect.y >= *top - 1e-6 && rect.y + rect.h <= top + BAR + 1e-6));
        }
    }

    #[test]
    fn zooming_keeps_its_point_and_panning_its_length(
        total in 10.0..1e12_f64, from in 0.0..1.0_f64, share in 0.001..0.5_f64, place in 0.0..1.0_f64,
        factor in 0.1..10.0_f64,
    ) {
        let view = part(total, from, share);
        let about = view.from + place * view.span();
        let zoomed = view.zoomed(about, factor, total);
        prop_assert!(zoomed.from >= 0.0 && zoomed.to <= total.max(1.0) * (1.0 + 1e-12));
        // Where no edge of the timeline is in the way, the point stays where it was.
        if zoomed.from > 0.0 && zoomed.to < total {
            let now: f64 = (about - zoomed.from) / zoomed.span();
            prop_assert!((now - place).abs() < 1e-3, "{place} became {now}");
        }
        let panned = view.panned(total * 0.1, total);
        prop_assert!((panned.span() - view.span()).abs() <= 1e-9 * total);
        prop_assert_eq!(view.panned(f64::NEG_INFINITY, total).from, 0.0);
        prop_assert!((view.panned(f64::INFINITY, total).to - total).abs() <= 1e-9 * total);
    }

    #[test]
    fn the_scrubber_snaps_to_the_nearest_edge(kernels in kernels(), place in 0.0..1.0, width in 50.0..1500.0) {
        let scene = scene(vec![kernels]);
        let camera = camera(&scene, width);
        let time = scene.total() * place;
        let snapped = scene.snapped(&camera, time);
        let track = &scene.lanes()[0].track;
        let nearest = (0..track.len())
            .filter_map(|at| track.place(at))
            .flat_map(|(from, to)| [from, to])
            .map(|edge| (edge - time).abs())
            .fold(f64::INFINITY, f64::min);
        if nearest <= camera.ns(8.0) {
            prop_assert!(((snapped - time).abs() - nearest).abs() < 1e-6);
        } else {
            prop_assert_eq!(snapped, time);
        }
    }

    #[test]
    fn lined_up_by_kernel_the_same_number_starts_at_the_same_place(a in kernels(), b in kernels()) {
        let mut scene = scene(vec![a, b]);
        scene.set_align(Align::Kernel);
        let (a, b) = (&scene.lanes()[0].track, &scene.lanes()[1].track);
        for at in 0..a.len().min(b.len()) {
            prop_assert!((a.place(at).unwrap().0 - b.place(at).unwrap().0).abs() < 1e-6);
        }
        for track in [a, b] {
            for at in 0..track.len() {
                let (from, to) = track.place(at).unwrap();
                prop_assert!((to - from - track.ns(at).unwrap()).abs() < 1e-6, "no kernel is cut");
            }
        }
    }

    #[test]
    fn every_hit_of_a_search_is_visited_once(kernels in kernels(), kind in 0_u32..12) {
        let mut scene = scene(vec![kernels.clone(), kernels]);
        scene.set_filter(Filter { text: format!("KERNEL_{kind}"), group: None });
        let hits = scene.hits();
        let (mut seen, mut at) = (std::collections::BTreeSet::new(), None);
        for place in 0..hits {
            let next = scene.next(at).unwrap();
            prop_assert_eq!(scene.place_of(next), Some(place), "hits are counted in the order of the steps");
            if let Some(before) = at {
                prop_assert!(scene.next(Some(before)) == Some(next));
            }
            seen.insert(next);
            at = Some(next);
        }
        prop_assert_eq!(seen.len(), hits);
        if hits > 1 {
            let last = at.unwrap();
            prop_assert_eq!(scene.next(Some(last)), scene.next(None), "it begins again");
            prop_assert_eq!(scene.next(scene.previous(Some(last))), Some(last));
        }
    }

    #[test]
    fn a_link_restores_its_view(
        from in 0.0..1e6_f64, span in 1.0..1e6_f64, lane in 0_usize..9, number in 0_u64..1_000_000, text in "[a-z &=]{0,8}",
    ) {
        let link = Link {
            view: Some(View { from: (from * 8.0).round() / 8.0, to: ((from + span) * 8.0).round() / 8.0 + 1.0 }),
            align: Align::Kernel,
            level: cascade_api::TimelineLevel::Steps,
            filter: Filter { text: text.trim().to_owned(), group: Some("Attention".into()) },
            selected: Some((lane, number)),
            scrub: Some((from * 8.0).round() / 8.0),
        };
        let pairs = link.pairs();
        let get = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
        prop_assert_eq!(Link::read(get), link);
    }
}

#[test]
fn a_link_that_makes_no_sense_shows_everything() {
    for t in ["", "5", "9-3", "a-b", "1-inf", "-3-4", "NaN-1"] {
        assert_eq!(
            Link::read(|key| (key == "t").then_some(t)),
            Link::default(),
            "{t}"
        );
    }
    assert!(Link::default().pairs().is_empty());
    assert!(link::KEYS.contains(&"sel"));
}

#[test]
fn a_filter_dims_the_rest_and_a_hit_never_disappears() {
    let mut kernels = vec![(0, 10.0); 1000];
    kernels[500] = (1, 0.001);
    let mut scene = scene(vec![kernels]);
    scene.set_filter(Filter {
        text: "kernel_1".into(),
        group: None,
    });
    assert_eq!(scene.hits(), 1);
    assert_eq!(scene.place_of(Pick { lane: 0, at: 500 }), Some(0));
    assert_eq!(scene.place_of(Pick { lane: 0, at: 4 }), None);
    let mut shown = Vec::new();
    let view = View::all(scene.total());
    scene.lanes()[0]
        .track
        .bars(view, view.span() / 40.0, scene.painted(), |bar| {
            shown.push(bar.paint)
        });
    assert_eq!(shown.iter().filter(|paint| **paint != DIM).count(), 1);
}

#[test]
fn the_largest_groups_have_colours_of_their_own() {
    let kernels = (0..12).map(|kind| (kind, f64::from(kind + 1))).collect();
    let scene = scene(vec![kernels]);
    let groups = scene.kinds().groups();
    assert_eq!(groups.len(), 10);
    // Kernels 1 and 11 are of group 1: 2 + 12 ns.
    assert_eq!(
        (groups[0].name.as_str(), groups[0].ns, groups[0].paint),
        ("group 1", 14.0, 0)
    );
    assert_eq!(groups.iter().filter(|group| group.paint == REST).count(), 2);
}

#[test]
fn gaps_and_overlaps_are_drawn_as_they_are() {
    let lane = TimelineLane {
        kind: vec![0, 0, 0],
        ns: vec![10.0, 10.0, 5.0],
        start_ns: Some(vec![5.0, 12.0, 40.0]),
        ..bare()
    };
    let scene = Scene::new(vec![run(vec![lane], Vec::new())]);
    let track = &scene.lanes()[0].track;
    let places: Vec<_> = (0..3).filter_map(|at| track.place(at)).collect();
    assert_eq!(places, [(5.0, 15.0), (15.0, 22.0), (40.0, 45.0)]);
    assert_eq!(
        (track.at(4.0), track.at(15.0), track.at(30.0)),
        (None, Some(1), None)
    );
    assert_eq!(scene.running(30.0)[0].kernel, None);
}

#[test]
fn the_table_and_the_panel_say_what_the_picture_shows() {
    let scene = scene(vec![vec![(0, 10.0), (1, 30.0)], vec![(0, 20.0), (1, 30.0)]]);
    let rows = scene.top(View { from: 0.0, to: 25.0 }, 5);
    assert_eq!(rows[0].name, "kernel_0");
    assert_eq!(
        (rows[0].launches, rows[0].ns.as_slice()),
        (2, [10.0, 20.0].as_slice())
    );
    assert_eq!(rows[1].ns, [15.0, 5.0]);
    let beside = scene.beside(Pick { lane: 0, at: 0 });
    assert_eq!((beside[1].ns, beside[1].ratio), (Some(20.0), Some(2.0)));
    let running = scene.running(15.0);
    assert_eq!(running[0].kernel.as_ref().map(|(n, _)| *n), Some(1));
    assert_eq!(running[1].ns, Some(20.0));
}

#[test]
fn a_kernel_of_another_run_is_paired_only_where_it_is_the_same() {
    let answer = |id: &str, kinds: [u32; 2]| {
        let kind = |n: u32| KernelKind {
            name: format!("kernel_{n}"),
            group: String::new(),
        };
        let lane = |ns: f64| TimelineLane {
            kind: vec![0, 1],
            ns: vec![ns, ns],
            ..bare()
        };
        let mut answer = run(vec![lane(10.0), lane(20.0)], kinds.map(kind).to_vec());
        answer.run_id = id.into();
        answer
    };
    let scene = Scene::new(vec![answer("run-1", [0, 1]), answer("run-2", [0, 9])]);
    let ns = |at: usize| -> Vec<_> {
        let beside = scene.beside(Pick { lane: 0, at });
        beside.into_iter().map(|lane| lane.ns).collect()
    };
    assert_eq!(ns(0), [Some(10.0), Some(20.0), Some(10.0), Some(20.0)]);
    assert_eq!(ns(1), [Some(10.0), Some(20.0), None, None]);
}

#[test]
fn ticks_are_round_apart_and_labelled() {
    let scene = scene(vec![vec![(0, 1e6)]]);
    let marks = ticks::ticks(&scene, View { from: 0.0, to: 1e6 }, 800.0);
    let labels: Vec<_> = marks
        .iter()
        .map(|tick| tick.label.replace('\u{a0}', " "))
        .collect();
    assert_eq!(labels[1], "200.0 µs".replace(".0", ""));
    assert!(marks.len() >= 4 && marks.len() <= 9, "{labels:?}");
    let close = ticks::ticks(
        &scene,
        View {
            from: 500_000.0,
            to: 500_001.0,
        },
        800.0,
    );
    let unique: std::collections::BTreeSet<_> = close.iter().map(|tick| &tick.label).collect();
    assert_eq!(unique.len(), close.len(), "{close:?}");
}

#[test]
fn lanes_out_of_sight_cost_nothing() {
    let scene = scene(vec![vec![(0, 1.0)]; 64]);
    let mut camera = camera(&scene, 600.0);
    camera.height = 300.0;
    let mut frame = Frame::default();
    scene.draw(&camera, &mut frame);
    let drawn = frame.bars.iter().map(Vec::len).sum::<usize>();
    assert_eq!(drawn, 5, "as many lanes as fit below the ruler");
    camera.scroll = scene.height() - 300.0;
    scene.draw(&camera, &mut frame);
    assert!(
        frame
            .bars
            .iter()
            .flatten()
            .all(|rect| rect.y + rect.h > HEAD - 60.0)
    );
}

#[test]
fn every_colour_has_its_place_and_the_minimaps_window_is_no_warning() {
    for (at, ink) in frame::Ink::all().enumerate() {
        assert_eq!(ink.at(), at, "{ink:?}");
    }
    let scene = scene(vec![vec![(0, 10.0)]]);
    let mut frame = Frame::default();
    scene.draw(&camera(&scene, 100.0), &mut frame);
    let window = frame.over.last().map(|(ink, _)| ink.token());
    assert_eq!(window.as_deref(), Some("--accent"));
}
