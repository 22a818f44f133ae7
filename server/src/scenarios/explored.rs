//! The explorer's first figures, worked out while its page is rendered.

use std::sync::Arc;

use cascade_api::{GpuName, TraceId};
use cascade_explorer::Engine;
use cascade_scene::explorer::{Answer, Ask, Base, Key, SideAsk, SideBase, State};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::base::Wanted;
use crate::runs::Service;

/// Pages rendered with figures at once; others come without and are filled in by the browser.
const AT_ONCE: usize = 1;

/// Who works on a page's figures.
#[derive(Debug)]
pub(super) struct Desk(Arc<Semaphore>);

impl Default for Desk {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Service {
    /// What a link of the explorer comes to, if that needs no file and no sim that has not finished.
    pub(crate) async fn scenario_explored(&self, link: &str) -> Option<Answer> {
        let turn = Arc::clone(&self.scenarios.desk.0).try_acquire_owned().ok()?;
        let (state, _) = State::read(link);
        if state.get(Key::Load) == "file" {
            return None;
        }
        let (mut sides, mut profiles) = (Vec::new(), Vec::new());
        for (at, gpu) in state.gpus().into_iter().enumerate() {
            let base = match state.base() {
                Base::Model(name) => SideBase::Model { name },
                Base::Config => SideBase::Config {
                    json: state.get(Key::Config).to_owned(),
                },
                Base::Trace(trace) => {
                    let wanted = (TraceId::from(trace), GpuName::from(gpu.clone()));
                    let wanted = Wanted::named(Some(wanted.0), None, Some(wanted.1));
                    let base = self.scenario_base_finished(&wanted).await.ok()?;
                    let profile = serde_json::to_value(&*base.profile).unwrap_or(Value::Null);
                    profiles.push((gpu.clone(), profile));
                    SideBase::Profile { name: gpu.clone() }
                }
            };
            let scenario = state.scenario(at).ok()?;
            sides.push(SideAsk { gpu, base, scenario });
        }
        let work = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let mut engine = Engine::new(|| 0.0);
            for (name, profile) in profiles {
                engine.answer(Ask::Profile { name, profile });
            }
            engine.answer(Ask::Run { sides })
        });
        work.await.ok()
    }
}
