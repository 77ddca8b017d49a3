use std::sync::mpsc::{channel, sync_channel, Receiver, SyncSender};
use std::sync::Arc;

use crate::protocol::Failure;

/// Threads that act at the same time, as in ThreadTeam.swift: made before anything is timed.
pub struct Team {
    go: Vec<SyncSender<()>>,
    done: Receiver<()>,
}

impl Team {
    pub fn new(count: usize, job: impl Fn(usize) + Send + Sync + 'static) -> Result<Team, Failure> {
        let job = Arc::new(job);
        let (finish, done) = channel();
        let start = |number| {
            let (go, begin) = sync_channel(1);
            let (job, finish) = (job.clone(), finish.clone());
            let live = move || {
                while begin.recv().is_ok() {
                    job(number);
                    finish.send(()).ok();
                }
            };
            std::thread::Builder::new().spawn(live).map_err(|error| format!("a thread cannot be created: {error}"))?;
            Ok(go)
        };
        let go: Result<Vec<_>, Failure> = (0..count).map(start).collect();
        Ok(Team { go: go?, done })
    }

    /// Runs the job once on every thread, with the thread's number, and returns when all have.
    pub fn run(&self) {
        for go in &self.go {
            go.send(()).expect("a thread of the team has ended");
        }
        for _ in &self.go {
            self.done.recv().expect("a thread of the team has ended");
        }
    }
}
