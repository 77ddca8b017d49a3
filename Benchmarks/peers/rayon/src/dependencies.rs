//! Dependencies on a scope: rayon has none of its own, so tasks `spawn` what becomes ready.
use std::sync::atomic::{AtomicUsize, Ordering};

use peers::graph::{measure_granularity, measure_graph, measure_shape, CountedGraph};
use peers::protocol::{check, rounds, Benchmark, Failure, Measure, Request};
use peers::work::{Flags, Order};
use rayon::Scope;

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

/// Each task spawns the next as its last act.
fn chain(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    fn step(order: &'static Order, index: usize, scope: &Scope<'static>) {
        order.visit(index);
        if index + 1 < order.length {
            scope.spawn(move |scope| step(order, index + 1, scope));
        }
    }
    let length = request.positive("param.length")?;
    let order = Order::new(length);
    let add = move || pool.in_place_scope(|scope| scope.spawn(|scope| step(order, 0, scope)));
    rounds(length, length - 1, add, move || order.verify())
}

/// The join is what follows the scope.
fn fan_in(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let width = request.positive("param.width")?;
    let flags = Flags::new(width);
    let seen: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
    let add = move || {
        pool.in_place_scope(|scope| spawn_all(scope, &flags.0));
        seen.store(flags.ran(), Ordering::Relaxed);
    };
    rounds(width + 1, width, add, move || {
        let seen = seen.load(Ordering::Relaxed);
        check(seen == width, || format!("the join saw {seen} inputs complete"))?;
        flags.verify()
    })
}

fn run(graph: &'static CountedGraph, pool: Pool) -> impl Fn() {
    fn execute(graph: &'static CountedGraph, task: u32, scope: &Scope<'static>) {
        graph.execute(task, |next| scope.spawn(move |scope| execute(graph, next, scope)));
    }
    move || {
        pool.in_place_scope(|scope| {
            for task in &graph.data.graph.sources {
                scope.spawn(move |scope| execute(graph, *task, scope));
            }
        })
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
