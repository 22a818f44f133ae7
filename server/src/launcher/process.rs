//! Processes on this machine: start them without our secrets, know them again after a restart, stop
//! them with everything they started.

use std::ffi::OsStr;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, getpriority_process, kill_process_group, setpriority_pgrp, test_kill_process_group,
};
use serde::{Deserialize, Serialize};

/// Time between `SIGTERM` and `SIGKILL`, as the documentation promises.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(5);
/// How often a stopping group is looked at.
const STOP_POLL: Duration = Duration::from_millis(50);
/// By how much simulators are nicer than the app: a run that takes all cores for hours leaves it quick to answer.
const NICER_BY: i32 = 10;
/// As nice as a process can be.
const NICEST: i32 = 19;
/// Bytes from the end of an output file that an error may quote from.
const TAIL_BYTES: u64 = 8 << 10;
/// Variables with these beginnings hold the server's own settings and secrets; no child sees them
/// unless it is given one by name.
const PRIVATE_PREFIXES: [&str; 2] = ["CASCADE_", "SAIL_"];

/// Settings of the built-in worker, which are not the server's and no secrets.
const WORKER_SETTINGS: [&str; 10] = [
    "CASCADE_COLD_L2",
    "CASCADE_DEDUP",
    "CASCADE_ENGINE_LEVEL",
    "CASCADE_ENGINE_SAMPLE",
    "CASCADE_ENGINE_SAMPLE_SMS",
    "CASCADE_LOG",
    "CASCADE_PROPAGATE",
    "CASCADE_SILENCE_S",
    "CASCADE_VERIFY_DEDUP",
    "CASCADE_WORKER_THREADS",
];

/// A command that inherits the server's environment without the server's settings and secrets, in a
/// process group of its own: a terminal's Ctrl-C and the server's end do not reach it.
pub(crate) fn command(program: impl AsRef<OsStr>) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    for (name, _) in std::env::vars_os() {
        let private = name.to_str().is_some_and(|n| {
            PRIVATE_PREFIXES.iter().any(|p| n.starts_with(p)) && !WORKER_SETTINGS.contains(&n)
        });
        if private {
            command.env_remove(name);
        }
    }
    command.process_group(0).stdin(std::process::Stdio::null());
    command
}

/// A process that can be told from a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The process id, which is also its group's.
    pub pid: u32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/<pid>/stat`).
    start_ticks: u64,
    /// The boot those ticks count from.
    boot_id: String,
}

/// What `/proc/<pid>/stat` says.
struct Stat {
    zombie: bool,
    group: u32,
    start_ticks: u64,
}

impl Identity {
    /// The identity of the process that has this number now; `None` if there is none (or no `/proc`).
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = stat(pid)?;
        Some(Self {
            pid,
            start_ticks: stat.start_ticks,
            boot_id: boot_id(),
        })
    }

    /// Whether that very process still runs; one that ended and waits for its parent does not.
    pub(crate) fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|s| !s.zombie && s.start_ticks == self.start_ticks)
            && boot_id() == self.boot_id
    }
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may hold blanks and parentheses.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(Stat {
        zombie: matches!(*fields.first()?, "Z" | "X"),
        group: fields.get(2)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

/// The leader of a process group that was started with `name=value` in its environment. It finds a
/// process whose number was never written down because the server was killed right after starting it.
pub(crate) fn find_by_env(name: &str, value: &str) -> Option<Identity> {
    let wanted = format!("{name}={value}");
    let entries = std::fs::read_dir("/proc").ok()?;
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .find_map(|pid| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            let found = environ.split(|b| *b == 0).any(|var| var == wanted.as_bytes());
            let stat = stat(pid)?;
            (found && stat.group == pid && !stat.zombie).then(|| Identity::of(pid))?
        })
}

/// Lets the app, and so its pages, go before a process group.
///
/// # Errors
/// When there is no such group.
pub(crate) fn step_back(group: u32) -> rustix::io::Result<()> {
    // Without a number it would be our own group.
    let group = i32::try_from(group).ok().and_then(Pid::from_raw);
    let group = group.ok_or(rustix::io::Errno::SRCH)?;
    let niceness = (getpriority_process(None)? + NICER_BY).min(NICEST);
    setpriority_pgrp(Some(group), niceness)
}

/// Sends a signal to a process group; whether it still had members.
pub(crate) fn signal_group(group: u32, signal: Signal) -> bool {
    match i32::try_from(group)
        .ok()
        .filter(|g| *g > 1)
        .and_then(Pid::from_raw)
    {
        Some(pid) => kill_process_group(pid, signal).is_ok(),
        None => false,
    }
}

/// Whether a process group has members (unreaped ones included).
pub(crate) fn group_exists(group: u32) -> bool {
    match i32::try_from(group)
        .ok()
        .filter(|g| *g > 1)
        .and_then(Pid::from_raw)
    {
        Some(pid) => test_kill_process_group(pid).is_ok(),
        None => false,
    }
}

/// Ends a process group: `SIGTERM`, and `SIGKILL` for what is left after `grace`.
pub(crate) async fn stop_group(group: u32, grace: Duration) {
    if !signal_group(group, Signal::TERM) {
        return;
    }
    // A stopped process acts on SIGTERM only once it goes on.
    signal_group(group, Signal::CONT);
    let deadline = tokio::time::Instant::now() + grace;
    while tokio::time::Instant::now() < deadline {
        if !group_exists(group) {
            return;
        }
        tokio::time::sleep(STOP_POLL).await;
    }
    signal_group(group, Signal::KILL);
}

/// How a process ended, in words that follow its name: `exited with code 3`.
pub(crate) fn how_ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => match signal_name(signal) {
            Some(name) => format!("was killed by signal {signal} ({name})"),
            None => format!("was killed by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

/// The usual reasons for a simulator's death; numbers from signal(7) on x86 and ARM.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP, its terminal closed",
        2 => "SIGINT",
        4 => "SIGILL, an instruction this machine lacks",
        6 => "SIGABRT, it gave up on an assertion",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL, often the kernel's answer to too little memory",
        11 => "SIGSEGV, a segmentation fault",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU, its time limit",
        _ => return None,
    })
}

/// The last `lines` lines of a text file, without blank ones; empty if it cannot be read. Only the
/// file's end is read, so very long lines come cut.
pub(crate) fn last_lines(path: &Path, lines: usize) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut tail = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut tail)?;
        Ok(tail)
    };
    let tail = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&tail);
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = all.len().saturating_sub(lines);
    all.iter().skip(from).map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_is_known_by_its_start_and_its_environment() {
        let mut child = command("sleep")
            .arg("30")
            .env("CASCADE_SIM_ID", "sim-process-test")
            .spawn()
            .unwrap();
        let pid = child.id().unwrap();
        let identity = Identity::of(pid).unwrap();
        assert!(identity.is_alive());
        let later = Identity {
            start_ticks: identity.start_ticks + 1,
            ..identity.clone()
        };
        assert!(
            !later.is_alive(),
            "the same number at another time is another process"
        );
        // The kernel shows an environment a moment after the program has started.
        let found = loop {
            match find_by_env("CASCADE_SIM_ID", "sim-process-test") {
                Some(found) => break found,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        assert_eq!(found, identity);
        assert_eq!(find_by_env("CASCADE_SIM_ID", "sim-process"), None);

        step_back(pid).unwrap();
        let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let own = getpriority_process(None).unwrap();
        let expected = (own + NICER_BY).min(NICEST);
        assert_eq!(getpriority_process(process).unwrap(), expected);
        assert!(step_back(0).is_err(), "never our own group");
        assert_eq!(getpriority_process(None).unwrap(), own);

        signal_group(pid, Signal::KILL);
        let status = child.wait().await.unwrap();
        assert!(
            how_ended(status).starts_with("was killed by signal 9 (SIGKILL"),
            "{}",
            how_ended(status)
        );
        assert!(!identity.is_alive());
    }

    #[tokio::test]
    async fn a_whole_group_is_stopped_even_when_it_ignores_sigterm() {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("grandchild");
        let script = format!("trap '' TERM; sleep 60 & echo $! > {}; wait", marker.display());
        let mut child = command("sh").args(["-c", &script]).spawn().unwrap();
        let group = child.id().unwrap();
        let grandchild = loop {
            if let Some(pid) = std::fs::read_to_string(&marker)
                .ok()
                .and_then(|t| t.trim().parse().ok())
            {
                break Identity::of(pid).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let waiter = tokio::spawn(async move { child.wait().await });
        stop_group(group, Duration::from_millis(300)).await;
        let status = waiter.await.unwrap().unwrap();
        assert!(how_ended(status).contains("signal 9"), "{}", how_ended(status));
        while grandchild.is_alive() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[test]
    fn the_end_of_a_file_is_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sim.out");
        assert!(
            last_lines(&path, 3).is_empty(),
            "a missing file has no last lines"
        );
        let mut text: String = (0..5000).map(|n| format!("line {n}\n")).collect();
        text.push_str("\nno newline at the end");
        std::fs::write(&path, text).unwrap();
        assert_eq!(last_lines(&path, 2), ["line 4999", "no newline at the end"]);
    }

    #[test]
    fn group_ids_that_mean_everyone_are_refused() {
        // kill(2) takes 0 for the caller's own group and 1 for init.
        for group in [0, 1, u32::MAX] {
            assert!(!signal_group(group, Signal::CONT));
            assert!(!group_exists(group));
        }
    }
}
