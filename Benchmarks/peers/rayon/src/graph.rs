//! Task graphs, and the data that flows along their edges.
use std::sync::atomic::{AtomicU64, Ordering};

use crate::protocol::{check, Failure};
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

/// What flows along the edges: each task writes a word of its own for this run, each consumer checks those of all its inputs.
pub struct GraphData {
    pub graph: Graph,
    rounds: Vec<u64>,
    words: Vec<AtomicU64>,
    wrong: AtomicU64,
    run: u64,
}

impl GraphData {
    pub fn new(graph: Graph) -> GraphData {
        let count = graph.count();
        GraphData {
            graph,
            rounds: vec![0; count],
            words: (0..count).map(|_| AtomicU64::new(0)).collect(),
            wrong: AtomicU64::new(0),
            run: 0,
        }
    }

    pub fn set_work(&mut self, scale: f64, per_microsecond: f64) {
        for (rounds, nanoseconds) in self.rounds.iter_mut().zip(&self.graph.nanoseconds) {
            *rounds = rounds_for(nanoseconds * scale, per_microsecond);
        }
    }

    pub fn begin(&mut self) {
        self.run += 1;
    }

    fn word(&self, task: u32) -> u64 {
        self.run << 32 | task as u64
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
        spin(self.rounds[own]);
        self.words[own].store(self.word(task), Ordering::Relaxed);
    }

    pub fn verify(&self) -> Result<(), Failure> {
        let ran = |task: &u32| self.words[*task as usize].load(Ordering::Relaxed) == self.word(*task);
        let missing = (0..self.words.len() as u32).filter(|task| !ran(task)).count();
        let wrong = self.wrong.load(Ordering::Relaxed);
        check(missing == 0 && wrong == 0, || {
            format!("{missing} tasks did not run, and {wrong} ran twice or before an input")
        })
    }
}
