//! Dependencies on a scope: rayon has none of its own, so tasks `spawn` what becomes ready.
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use rayon::Scope;

use crate::graph::{Graph, GraphData};
use crate::metg::Sweep;
use crate::overhead::spawn_all;
use crate::protocol::{check, now, rounds, Benchmark, Counters, Elapsed, Failure, Measure, Pool, Reading, Request};
use crate::work::Flags;

pub const DEPENDENCIES: &[Benchmark] = &[
    ("dependencies/chain", chain),
    ("dependencies/fan-in", fan_in),
    ("dependencies/fan-out", shape),
    ("dependencies/diamond", shape),
    ("dependencies/tree", shape),
    ("dependencies/graph", graph),
    ("dependencies/metg", metg),
];

/// Each task spawns the next as its last act.
struct Chain {
    length: usize,
    visited: AtomicUsize,
    out_of_order: AtomicBool,
}

impl Chain {
    fn step(&'static self, index: usize, scope: &Scope<'static>) {
        let visited = self.visited.load(Ordering::Relaxed);
        if visited != index {
            self.out_of_order.store(true, Ordering::Relaxed);
        }
        self.visited.store(visited + 1, Ordering::Relaxed);
        if index + 1 < self.length {
            scope.spawn(move |scope| self.step(index + 1, scope));
        }
    }
}

fn chain(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let length = request.positive("param.length")?;
    let chain = Chain { length, visited: AtomicUsize::new(0), out_of_order: AtomicBool::new(false) };
    let chain: &'static Chain = Box::leak(Box::new(chain));
    let add = move || pool.in_place_scope(|scope| scope.spawn(|scope| chain.step(0, scope)));
    rounds(length, length - 1, add, move || {
        let visited = chain.visited.swap(0, Ordering::Relaxed);
        check(visited == length && !chain.out_of_order.load(Ordering::Relaxed), || {
            format!("a chain ran {visited} tasks, or out of order")
        })
    })
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

/// A count of unfinished inputs for each task; whoever brings it to zero spawns the task.
pub struct CountedGraph {
    pub data: GraphData,
    waiting: Vec<AtomicI32>,
    pool: Pool,
}

impl CountedGraph {
    pub fn new(request: &Request, pool: Pool) -> Result<CountedGraph, Failure> {
        let graph = Graph::read(request.text("graph")?)?;
        let waiting = (0..graph.count()).map(|_| AtomicI32::new(0)).collect();
        Ok(CountedGraph { data: GraphData::new(graph), waiting, pool })
    }

    fn execute<'a>(&'a self, task: u32, scope: &Scope<'a>) {
        self.data.execute(task);
        for dependent in &self.data.graph.dependents[task as usize] {
            if self.waiting[*dependent as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                scope.spawn(move |scope| self.execute(*dependent, scope));
            }
        }
    }

    /// Runs the graph once; gives the time from the first task added to the end of the last.
    pub fn once(&mut self, elapsed: &mut Elapsed) -> Result<u64, Failure> {
        self.data.begin();
        let own = &*self;
        let graph = &own.data.graph;
        let start = Counters::read();
        for (waiting, inputs) in own.waiting.iter().zip(&graph.inputs) {
            waiting.store(inputs.len() as i32, Ordering::Relaxed);
        }
        let added = now();
        own.pool.in_place_scope(|scope| {
            for task in &graph.sources {
                scope.spawn(move |scope| own.execute(*task, scope));
            }
        });
        let makespan = now() - added;
        elapsed.add(start);
        own.data.verify()?;
        Ok(makespan)
    }
}

fn graph(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let mut graph = CountedGraph::new(request, pool)?;
    graph.data.set_work(1.0, request.number("rounds_per_microsecond")?);
    let bound: f64 = request.number("bound_ns")?;
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        let mut total = 0;
        for _ in 0..repeats {
            total += graph.once(&mut elapsed)?;
        }
        let shape = &graph.data.graph;
        let mut readings = elapsed.readings(shape.count() * repeats, shape.edges * repeats);
        let makespan = total as f64 / repeats as f64;
        readings.push(Reading::new("makespan_ns", "ns", makespan, repeats));
        if bound > 0.0 {
            readings.push(Reading::new("efficiency", "ratio", bound / makespan, repeats));
        }
        Ok(readings)
    }))
}

/// A graph without work: what a task and a dependency cost.
fn shape(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let mut graph = CountedGraph::new(request, pool)?;
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            graph.once(&mut elapsed)?;
        }
        let shape = &graph.data.graph;
        Ok(elapsed.readings(shape.count() * repeats, shape.edges * repeats))
    }))
}

fn metg(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let mut sweep = Sweep::new(request, CountedGraph::new(request, pool)?)?;
    Ok(Box::new(move |repeats| sweep.run(repeats)))
}
