use crate::graph::CountedGraph;
use crate::protocol::{Elapsed, Failure, Reading, Request};

/// The shortest makespan for each granularity, of a graph whose work shrinks from run to run: as GranularitySweep.swift
/// does it, which also gave the limits. opbench derives METG from what is printed here.
pub struct Sweep<Run> {
    graph: &'static CountedGraph,
    run_once: Run,
    rate: f64,
    load: f64,
    cores: f64,
    peak: f64,
    first: f64,
    largest: f64,
    smallest: f64,
    plenty: f64,
    little: f64,
    enough: f64,
    gain: f64,
    step: f64,
    run_time: f64,
    runs: usize,
    attempts: usize,
    low_in_a_row: usize,
    top: Option<f64>,
}

impl<Run: Fn()> Sweep<Run> {
    pub fn new(request: &Request, graph: &'static CountedGraph, run_once: Run) -> Result<Sweep<Run>, Failure> {
        Ok(Sweep {
            graph,
            run_once,
            rate: request.number("rounds_per_microsecond")?,
            load: request.number("load")?,
            cores: request.number("cores")?,
            peak: request.number("peak")?,
            first: request.number("sweep_first")?,
            largest: request.number("sweep_largest")?,
            smallest: request.number("sweep_smallest")?,
            plenty: request.number("sweep_plenty")?,
            little: request.number("sweep_little")?,
            enough: request.number("sweep_enough")?,
            gain: request.number("sweep_gain")?,
            step: request.number("sweep_step")?,
            run_time: request.number("sweep_run_time")?,
            runs: request.number("sweep_runs")?,
            attempts: request.number("sweep_attempts")?,
            low_in_a_row: request.number("sweep_low_in_a_row")?,
            top: None,
        })
    }

    fn efficiency(&self, work: f64, makespan: f64) -> f64 {
        work * self.load / (makespan * self.cores) / self.peak
    }

    fn best(&mut self, work: f64) -> Result<f64, Failure> {
        self.graph.data.set_work(work, self.rate);
        let (mut shortest, mut total) = (f64::INFINITY, 0.0);
        for _ in 0..self.runs {
            if total >= self.run_time {
                break;
            }
            let mut elapsed = Elapsed::default();
            self.graph.once(&mut elapsed, &self.run_once)?;
            shortest = shortest.min(elapsed.0.wall as f64);
            total += elapsed.0.wall as f64;
        }
        Ok(shortest)
    }

    fn find_top(&mut self) -> Result<f64, Failure> {
        let mut top = self.first;
        let makespan = self.best(top)?;
        let mut reached = self.efficiency(top, makespan);
        while top < self.largest && reached < self.plenty {
            let makespan = self.best(top * 2.0)?;
            let next = self.efficiency(top * 2.0, makespan);
            if reached > self.enough && next < reached + self.gain {
                break;
            }
            top *= 2.0;
            reached = next;
        }
        Ok(top)
    }

    pub fn run(&mut self, sweeps: usize) -> Result<Vec<Reading>, Failure> {
        let top = match self.top {
            Some(top) => top,
            None => self.find_top()?,
        };
        self.top = Some(top);
        // From the largest granularity down; every sweep takes the same steps, but may end earlier.
        let mut shortest: Vec<(f64, f64)> = Vec::new();
        for sweep in 0..sweeps + self.attempts {
            // More sweeps than asked for only where others had the CPUs.
            if sweep >= sweeps && shortest.iter().any(|run| self.efficiency(run.0, run.1) >= 0.5) {
                break;
            }
            let (mut work, mut step, mut low) = (top, 0, 0);
            while work >= self.smallest && low < self.low_in_a_row {
                let makespan = self.best(work)?;
                if step == shortest.len() {
                    shortest.push((work, makespan));
                }
                shortest[step].1 = shortest[step].1.min(makespan);
                low = if self.efficiency(work, shortest[step].1) < self.little { low + 1 } else { 0 };
                work /= self.step;
                step += 1;
            }
        }
        let tasks = self.graph.data.graph.count();
        let reading = |(work, makespan): &(f64, f64)| {
            Reading { detail: format!("work_ns={work}"), ..Reading::new("makespan_ns", "ns", *makespan, tasks) }
        };
        Ok(shortest.iter().map(reading).collect())
    }
}
