use std::sync::atomic::AtomicU32;

use peers::protocol::{rounds, Benchmark, Failure, Measure, Request};
use peers::team::Team;
use peers::work::{mark, Flags};
use rayon::prelude::*;
use rayon::Scope;

use crate::Pool;

pub const OVERHEAD: &[Benchmark<Pool>] = &[
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
