use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{channel, sync_channel, Receiver, SyncSender};
use std::sync::Arc;

use rayon::prelude::*;
use rayon::Scope;

use crate::protocol::{rounds, Benchmark, Failure, Measure, Pool, Request};
use crate::work::{mark, Flags};

pub const OVERHEAD: &[Benchmark] = &[
    ("overhead/external-add", external_add),
    ("overhead/local-add", local_add),
    ("overhead/contended-add", contended_add),
    ("overhead/external-batch", external_batch),
];

/// Adds one operation for each flag.
pub fn spawn_all<'a>(scope: &Scope<'a>, flags: &'a [AtomicU32]) {
    for flag in flags {
        scope.spawn(move |_| mark(flag));
    }
}

fn external_add(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let flags = Flags::new(operations);
    let add = move || pool.in_place_scope(|scope| spawn_all(scope, &flags.0));
    rounds(operations, 0, add, move || flags.verify())
}

fn local_add(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let flags = Flags::new(operations);
    let add = move || pool.scope(|scope| spawn_all(scope, &flags.0));
    rounds(operations, 0, add, move || flags.verify())
}

/// Threads that act at the same time, as in ThreadTeam.swift: made before anything is timed.
struct Team {
    go: Vec<SyncSender<()>>,
    done: Receiver<()>,
}

impl Team {
    fn new(count: usize, job: impl Fn(usize) + Send + Sync + 'static) -> Result<Team, Failure> {
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
    fn run(&self) {
        for go in &self.go {
            go.send(()).expect("a thread of the team has ended");
        }
        for _ in &self.go {
            self.done.recv().expect("a thread of the team has ended");
        }
    }
}

/// Each thread outside has a scope of its own, and waits for what it added.
fn contended_add(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let producers = request.positive("param.producers")?;
    let flags = Flags::new(operations);
    let team = Team::new(producers, move |producer| {
        let part = producer * operations / producers..(producer + 1) * operations / producers;
        pool.in_place_scope(|scope| spawn_all(scope, &flags.0[part]));
    })?;
    rounds(operations, 0, move || team.run(), move || flags.verify())
}

/// A batch is one task that divides itself, as a parallel iterator does, down to a task for each operation.
fn external_batch(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let batch = request.positive("param.batch")?;
    let flags = Flags::new(operations);
    let add = move || {
        pool.in_place_scope(|scope| {
            for part in flags.0.chunks(batch) {
                scope.spawn(move |_| part.par_iter().with_max_len(1).for_each(mark));
            }
        });
    };
    rounds(operations, 0, add, move || flags.verify())
}
