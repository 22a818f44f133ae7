//! How a page names the program behind a number, so that no number stands without its origin.

use cascade_api::{Engine, GpuName, Provenance};

/// The engine's name.
pub const fn name(engine: Engine) -> &'static str {
    match engine {
        Engine::AccelSim => "Accel-Sim",
        Engine::Cascade => "Cascade engine",
        Engine::Replay => "Replay",
        Engine::Custom => "Custom simulator",
    }
}

/// What kind of number it makes.
pub const fn kind(engine: Engine) -> &'static str {
    match engine {
        Engine::AccelSim | Engine::Cascade | Engine::Custom => Provenance::Simulated.as_str(),
        Engine::Replay => "recorded, not run here",
    }
}

/// The name of a GPU's column: marked where any of its numbers are played back.
pub fn column(gpu: &GpuName, engines: &[Engine]) -> String {
    let mark = if engines.contains(&Engine::Replay) {
        " (replay)"
    } else {
        ""
    };
    format!("{gpu}{mark}")
}

/// Both, as a badge shows them: `Cascade engine · simulated`.
pub fn label(engine: Engine) -> String {
    format!("{} · {}", name(engine), kind(engine))
}

#[cfg(test)]
mod tests {
    use super::{column, label};
    use cascade_api::Engine;

    #[test]
    fn a_replay_never_reads_as_simulated() {
        for engine in Engine::ALL {
            let replay = *engine == Engine::Replay;
            assert_eq!(label(*engine).contains("simulated"), !replay, "{engine}");
            assert_eq!(
                column(&"SM90_H100".into(), &[*engine]).contains("replay"),
                replay,
                "{engine}"
            );
        }
    }
}
