use std::sync::atomic::AtomicU32;

use peers::protocol::{rounds, Benchmark, Failure, Measure, Request};
use peers::team::Team;
use peers::work::{mark, Flags};
use tokio::task::JoinHandle;

use crate::Pool;

pub const OVERHEAD: &[Benchmark<Pool>] = &[
    ("overhead/external-add", external_add),
    ("overhead/local-add", local_add),
    ("overhead/contended-add", contended_add),
];

/// Adds one operation for each flag, and waits for them through their handles.
pub async fn spawn_all(flags: &'static [AtomicU32]) {
    let handles: Vec<JoinHandle<()>> = flags.iter().map(|flag| tokio::spawn(async move { mark(flag) })).collect();
    for handle in handles {
        handle.await.expect("an operation has panicked");
    }
}

fn external_add(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let flags = Flags::new(operations);
    rounds(operations, 0, move || pool.block_on(spawn_all(&flags.0)), move || flags.verify())
}

fn local_add(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let flags = Flags::new(operations);
    let add = move || pool.block_on(async move { tokio::spawn(spawn_all(&flags.0)).await.expect("the adder has panicked") });
    rounds(operations, 0, add, move || flags.verify())
}

/// Each thread outside waits for what it added.
fn contended_add(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let producers = request.positive("param.producers")?;
    let flags = Flags::new(operations);
    let team = Team::new(producers, move |producer| {
        let part = producer * operations / producers..(producer + 1) * operations / producers;
        pool.block_on(spawn_all(&flags.0[part]));
    })?;
    rounds(operations, 0, move || team.run(), move || flags.verify())
}
