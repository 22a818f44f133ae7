//! The architecture that a config's name states.

/// `SM86_RTX3070` → `sm_86`, `SM7_QV100` → `sm_70`, `SM100_B200` → `sm_100`; none for other names.
///
/// Accel-Sim names its configs `SM<major>_…` or `SM<major><minor>_…`. One digit is a major version with
/// minor 0, as in the binary version of its traces (`SM6_TITANX` replays traces of `sm_60`).
#[must_use]
pub fn arch_from_name(name: &str) -> Option<String> {
    let rest = name.strip_prefix("SM")?;
    let (digits, tail) = rest.split_once('_')?;
    if tail.is_empty()
        || digits.is_empty()
        || digits.len() > 3
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    match digits.len() {
        1 => Some(format!("sm_{digits}0")),
        _ if digits.starts_with('0') => None,
        _ => Some(format!("sm_{digits}")),
    }
}
