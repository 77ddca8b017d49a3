//! Dependencies on a runtime: Tokio has none of its own, so tasks `spawn` what becomes ready.
use std::sync::atomic::{AtomicUsize, Ordering};

use peers::graph::{measure_granularity, measure_graph, measure_shape, CountedGraph};
use peers::protocol::{check, rounds, Benchmark, Failure, Measure, Request};
use peers::work::{Flags, Order};
use tokio::sync::Notify;

use crate::overhead::spawn_all;
use crate::Pool;

pub const DEPENDENCIES: &[Benchmark<Pool>] = &[
    ("dependencies/chain", chain),
    ("dependencies/fan-in", fan_in),
    ("dependencies/fan-out", shape),
    ("dependencies/diamond", shape),
    ("dependencies/tree", shape),
    ("dependencies/recorded", shape),
    ("dependencies/graph", graph),
    ("dependencies/metg", metg),
];

/// Each task spawns the next as its last act. The last one says that all have run.
fn chain(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    fn step(order: &'static Order, index: usize, end: &'static Notify) {
        order.visit(index);
        if index + 1 < order.length {
            tokio::spawn(async move { step(order, index + 1, end) });
        } else {
            end.notify_one();
        }
    }
    let length = request.positive("param.length")?;
    let (order, end) = (Order::new(length), notify());
    let add = move || {
        pool.spawn(async move { step(order, 0, end) });
        pool.block_on(end.notified());
    };
    rounds(length, length - 1, add, move || order.verify())
}

/// The join is what follows the wait.
fn fan_in(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let width = request.positive("param.width")?;
    let flags = Flags::new(width);
    let seen: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
    let add = move || {
        pool.block_on(spawn_all(&flags.0));
        seen.store(flags.ran(), Ordering::Relaxed);
    };
    rounds(width + 1, width, add, move || {
        let seen = seen.load(Ordering::Relaxed);
        check(seen == width, || format!("the join saw {seen} inputs complete"))?;
        flags.verify()
    })
}

/// For as long as the process.
fn notify() -> &'static Notify {
    Box::leak(Box::new(Notify::new()))
}

/// A graph of which the last task to end says that all have run.
struct Ending {
    graph: &'static CountedGraph,
    left: AtomicUsize,
    end: &'static Notify,
}

impl Ending {
    fn execute(&'static self, task: u32) {
        self.graph.execute(task, |next| drop(tokio::spawn(async move { self.execute(next) })));
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end.notify_one();
        }
    }
}

fn run(graph: &'static CountedGraph, pool: Pool) -> impl Fn() {
    let ending: &'static Ending = Box::leak(Box::new(Ending { graph, left: AtomicUsize::new(0), end: notify() }));
    move || {
        ending.left.store(graph.data.graph.count(), Ordering::Relaxed);
        for task in &graph.data.graph.sources {
            pool.spawn(async move { ending.execute(*task) });
        }
        pool.block_on(ending.end.notified());
    }
}

fn graph(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let graph = CountedGraph::new(request)?;
    measure_graph(request, graph, run(graph, pool))
}

fn shape(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let graph = CountedGraph::new(request)?;
    measure_shape(graph, run(graph, pool))
}

fn metg(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let graph = CountedGraph::new(request)?;
    measure_granularity(request, graph, run(graph, pool))
}
