//! Task graphs, the data that flows along their edges, and the measures that all ways of running one share.
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use crate::metg::Sweep;
use crate::protocol::{check, now, Counters, Elapsed, Failure, Measure, Reading, Request};
use crate::work::{rounds_for, spin};

/// In an order in which every task stands after all its inputs.
pub struct Graph {
    nanoseconds: Vec<f64>,
    pub inputs: Vec<Vec<u32>>,
    pub dependents: Vec<Vec<u32>>,
    pub sources: Vec<u32>,
    pub edges: usize,
}

impl Graph {
    /// As opbench wrote it: a line per task, its nanoseconds and the tasks it depends on.
    pub fn read(path: &str) -> Result<Graph, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("the graph {path} cannot be read: {error}"))?;
        let mut nanoseconds = Vec::new();
        let mut inputs: Vec<Vec<u32>> = Vec::new();
        for line in text.lines() {
            let mut fields = line.split_ascii_whitespace();
            let duration = fields.next().and_then(|field| field.parse().ok());
            nanoseconds.push(duration.ok_or_else(|| format!("the graph has no duration in '{line}'"))?);
            let own: Result<Vec<u32>, _> = fields.map(str::parse).collect();
            let own = own.map_err(|_| format!("the graph has no list of tasks in '{line}'"))?;
            check(own.iter().all(|input| (*input as usize) < inputs.len()), || "a task stands before an input".into())?;
            inputs.push(own);
        }
        let mut dependents = vec![Vec::new(); inputs.len()];
        for (task, own) in inputs.iter().enumerate() {
            for input in own {
                dependents[*input as usize].push(task as u32);
            }
        }
        Ok(Graph {
            sources: (0..inputs.len() as u32).filter(|task| inputs[*task as usize].is_empty()).collect(),
            edges: inputs.iter().map(Vec::len).sum(),
            nanoseconds,
            inputs,
            dependents,
        })
    }

    pub fn count(&self) -> usize {
        self.inputs.len()
    }
}

/// What flows along the edges: each task writes a word of its own for this run, each consumer checks those of all its
/// inputs.
pub struct GraphData {
    pub graph: Graph,
    rounds: Vec<AtomicU64>,
    words: Vec<AtomicU64>,
    wrong: AtomicU64,
    run: AtomicU64,
}

impl GraphData {
    pub fn new(graph: Graph) -> GraphData {
        let count = graph.count();
        GraphData {
            graph,
            rounds: (0..count).map(|_| AtomicU64::new(0)).collect(),
            words: (0..count).map(|_| AtomicU64::new(0)).collect(),
            wrong: AtomicU64::new(0),
            run: AtomicU64::new(0),
        }
    }

    pub fn set_work(&self, scale: f64, per_microsecond: f64) {
        for (rounds, nanoseconds) in self.rounds.iter().zip(&self.graph.nanoseconds) {
            rounds.store(rounds_for(nanoseconds * scale, per_microsecond), Ordering::Relaxed);
        }
    }

    fn begin(&self) {
        self.run.fetch_add(1, Ordering::Relaxed);
    }

    fn word(&self, task: u32) -> u64 {
        self.run.load(Ordering::Relaxed) << 32 | task as u64
    }

    /// The body of a task.
    pub fn execute(&self, task: u32) {
        let own = task as usize;
        for input in &self.graph.inputs[own] {
            if self.words[*input as usize].load(Ordering::Relaxed) != self.word(*input) {
                self.wrong.fetch_add(1, Ordering::Relaxed);
            }
        }
        if self.words[own].load(Ordering::Relaxed) == self.word(task) {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
        spin(self.rounds[own].load(Ordering::Relaxed));
        self.words[own].store(self.word(task), Ordering::Relaxed);
    }

    fn verify(&self) -> Result<(), Failure> {
        let ran = |task: &u32| self.words[*task as usize].load(Ordering::Relaxed) == self.word(*task);
        let missing = (0..self.words.len() as u32).filter(|task| !ran(task)).count();
        let wrong = self.wrong.load(Ordering::Relaxed);
        check(missing == 0 && wrong == 0, || {
            format!("{missing} tasks did not run, and {wrong} ran twice or before an input")
        })
    }
}

/// A count of unfinished inputs for each task. The task that brings it to zero starts the next.
pub struct CountedGraph {
    pub data: GraphData,
    waiting: Vec<AtomicI32>,
}

impl CountedGraph {
    /// For as long as the process.
    pub fn new(request: &Request) -> Result<&'static CountedGraph, Failure> {
        let graph = Graph::read(request.text("graph")?)?;
        let waiting = (0..graph.count()).map(|_| AtomicI32::new(0)).collect();
        Ok(Box::leak(Box::new(CountedGraph { data: GraphData::new(graph), waiting })))
    }

    /// Runs a task, and calls `start` for each task that is ready now.
    pub fn execute(&self, task: u32, mut start: impl FnMut(u32)) {
        self.data.execute(task);
        for dependent in &self.data.graph.dependents[task as usize] {
            if self.waiting[*dependent as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                start(*dependent);
            }
        }
    }

    /// Runs the graph once, which `run` does; gives the time from the first task added to the end of the last.
    pub fn once(&self, elapsed: &mut Elapsed, run: &impl Fn()) -> Result<u64, Failure> {
        self.data.begin();
        let start = Counters::read();
        for (waiting, inputs) in self.waiting.iter().zip(&self.data.graph.inputs) {
            waiting.store(inputs.len() as i32, Ordering::Relaxed);
        }
        let added = now();
        run();
        let makespan = now() - added;
        elapsed.add(start);
        self.data.verify()?;
        Ok(makespan)
    }
}

pub fn measure_graph(
    request: &Request,
    graph: &'static CountedGraph,
    run: impl Fn() + 'static,
) -> Result<Measure, Failure> {
    graph.data.set_work(1.0, request.number("rounds_per_microsecond")?);
    let bound: f64 = request.number("bound_ns")?;
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        let mut total = 0;
        for _ in 0..repeats {
            total += graph.once(&mut elapsed, &run)?;
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
pub fn measure_shape(graph: &'static CountedGraph, run: impl Fn() + 'static) -> Result<Measure, Failure> {
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            graph.once(&mut elapsed, &run)?;
        }
        let shape = &graph.data.graph;
        Ok(elapsed.readings(shape.count() * repeats, shape.edges * repeats))
    }))
}

pub fn measure_granularity(
    request: &Request,
    graph: &'static CountedGraph,
    run: impl Fn() + 'static,
) -> Result<Measure, Failure> {
    let mut sweep = Sweep::new(request, graph, run)?;
    Ok(Box::new(move |repeats| sweep.run(repeats)))
}
