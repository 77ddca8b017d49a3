// The benchmarks of opbench on rayon. Started by opbench for one cell at a time; scripts/peers builds it.
//
// Form: `in_place_scope` of a pool of `workers` threads, for work that the main thread adds from outside while it takes no part,
// and `spawn` on the scope for what tasks add. Graphs count unfinished inputs by hand and `spawn` what becomes ready: rayon has
// no dependencies of its own. Trees are divided by `join`, which is what rayon is made for.
use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

// ---- What every peer has: the request, the clock, the protocol ----

type Failure = String;
struct Request(HashMap<String, String>);

impl Request {
    fn text(&self, key: &str) -> Result<&str, Failure> {
        self.0.get(key).map(String::as_str).ok_or_else(|| format!("the request has no {key}"))
    }
    fn parse<T: std::str::FromStr>(&self, key: &str) -> Result<T, Failure> {
        self.text(key)?.parse().map_err(|_| format!("{key} is no number in the request"))
    }
}

#[repr(C)]
#[derive(Default)]
struct Time {
    seconds: i64,
    fraction: i64,
}

/// struct rusage of 64-bit Linux: two times, and fourteen counts of which the last two are the context switches.
#[repr(C)]
#[derive(Default)]
struct Usage {
    user: Time,
    system: Time,
    counts: [i64; 14],
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    fn getrusage(who: i32, usage: *mut Usage) -> i32;
}

fn clock(which: i32) -> i64 {
    let mut time = Time::default();
    // SAFETY: `time` is laid out as the C struct and outlives the call.
    unsafe { clock_gettime(which, &mut time) };
    time.seconds * 1_000_000_000 + time.fraction
}
const MONOTONIC: i32 = 1;
const PROCESS_CPU: i32 = 2;

#[derive(Default)]
struct Counters {
    wall: i64,
    cpu: i64,
    voluntary: i64,
    involuntary: i64,
}

impl Counters {
    fn read() -> Counters {
        let mut usage = Usage::default();
        // SAFETY: as above.
        unsafe { getrusage(0, &mut usage) };
        Counters { wall: clock(MONOTONIC), cpu: clock(PROCESS_CPU), voluntary: usage.counts[12], involuntary: usage.counts[13] }
    }
}

struct Reading {
    metric: &'static str,
    unit: &'static str,
    value: f64,
    count: usize,
    detail: String,
}

impl Reading {
    fn new(metric: &'static str, unit: &'static str, value: f64, count: usize) -> Reading {
        Reading { metric, unit, value, count, detail: String::new() }
    }
}

/// What passed, summed over several timed stretches.
#[derive(Default)]
struct Elapsed(Counters);

impl Elapsed {
    fn add(&mut self, start: Counters) {
        let end = Counters::read();
        self.0.wall += end.wall - start.wall;
        self.0.cpu += end.cpu - start.cpu;
        self.0.voluntary += end.voluntary - start.voluntary;
        self.0.involuntary += end.involuntary - start.involuntary;
    }

    fn readings(&self, operations: usize) -> Vec<Reading> {
        let per = |value: i64| value as f64 / operations as f64;
        vec![
            Reading::new("ns_per_op", "ns", per(self.0.wall), operations),
            Reading::new("cpu_ns_per_op", "ns", per(self.0.cpu), operations),
            Reading::new("voluntary_switches_per_op", "switches", per(self.0.voluntary), operations),
            Reading::new("involuntary_switches_per_op", "switches", per(self.0.involuntary), operations),
        ]
    }

    fn with_edges(&self, operations: usize, edges: usize) -> Vec<Reading> {
        let mut readings = self.readings(operations);
        if edges > 0 {
            readings.push(Reading::new("ns_per_edge", "ns", self.0.wall as f64 / edges as f64, edges));
        }
        readings
    }
}

/// Runs and checks so many repeats.
type Measure<'a> = Box<dyn FnMut(usize) -> Result<Vec<Reading>, Failure> + 'a>;

fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Unknown to the optimiser (`std::hint::black_box` is younger than Debian's compiler).
fn opaque(value: u64) -> u64 {
    // SAFETY: reads a local.
    unsafe { std::ptr::read_volatile(&value) }
}

/// The same arithmetic as opbench's own work.
fn spin(rounds: u64) {
    let mut state = opaque(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    opaque(state);
}

fn rounds_for(nanoseconds: f64, per_microsecond: f64) -> u64 {
    (nanoseconds * per_microsecond / 1000.0).round() as u64
}

/// A word per operation: each ran exactly once. Its operation alone writes it, without an atomic addition.
struct Flags(Vec<AtomicU32>);

impl Flags {
    fn new(count: usize) -> Flags {
        Flags((0..count).map(|_| AtomicU32::new(0)).collect())
    }
    fn ran(&self) -> usize {
        self.0.iter().filter(|word| word.load(Ordering::Relaxed) != 0).count()
    }
    fn verify(&self) -> Result<(), Failure> {
        for (index, word) in self.0.iter().enumerate() {
            let found = word.swap(0, Ordering::Relaxed);
            check(found == 1, || format!("operation {index} ran {found} times"))?;
        }
        Ok(())
    }
}

fn mark(flag: &AtomicU32) {
    flag.store(flag.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// As Calibration.swift decides: at most ten times as many repeats at a time, and no more than a slower subject needed.
fn calibrate(measure: &mut Measure, target: u64, limit: usize) -> Result<usize, Failure> {
    measure(1)?;
    let mut repeats = 1;
    loop {
        let start = clock(MONOTONIC);
        measure(repeats)?;
        let took = (clock(MONOTONIC) - start).max(1) as u64;
        let needed = ((target as f64 / (took as f64 / repeats as f64)).ceil() as usize).max(1);
        if took >= target {
            return Ok(needed.min(limit));
        }
        if repeats >= limit {
            return Ok(limit);
        }
        repeats = needed.max(repeats + 1).min(repeats * 10).min(limit);
    }
}

fn run(request: &Request, mut measure: Measure) -> Result<(), Failure> {
    if request.text("mode")? == "calibrate" {
        println!("repeats\t{}", calibrate(&mut measure, request.parse("target")?, request.parse("limit")?)?);
    } else {
        let repeats = request.parse("repeats")?;
        let start = Instant::now();
        for _ in 0..request.parse("warmups")? {
            if start.elapsed().as_millis() >= 500 {
                break;
            }
            measure(repeats)?;
        }
        for value in 1..=request.parse::<usize>("values")? {
            for Reading { metric, unit, value: number, count, detail } in measure(repeats)? {
                println!("reading\t{value}\t{metric}\t{unit}\t{number}\t{count}\t{detail}");
            }
        }
    }
    println!("end");
    Ok(())
}

// ---- overhead ----

fn external_add<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    let operations = request.parse("param.ops")?;
    let flags = Flags::new(operations);
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let start = Counters::read();
            pool.in_place_scope(|scope| {
                for flag in &flags.0 {
                    scope.spawn(move |_| mark(flag));
                }
            });
            elapsed.add(start);
            flags.verify()?;
        }
        Ok(elapsed.readings(operations * repeats))
    }))
}

fn local_add<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    let operations = request.parse("param.ops")?;
    let flags = Flags::new(operations);
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let start = Counters::read();
            pool.scope(|scope| {
                for flag in &flags.0 {
                    scope.spawn(move |_| mark(flag));
                }
            });
            elapsed.add(start);
            flags.verify()?;
        }
        Ok(elapsed.readings(operations * repeats))
    }))
}

// ---- dependencies ----

/// Each task spawns the next as its last act.
struct Chain {
    length: usize,
    visited: AtomicU64,
    out_of_order: AtomicU32,
}

impl Chain {
    fn step<'a>(&'a self, index: usize, scope: &rayon::Scope<'a>) {
        let visited = self.visited.load(Ordering::Relaxed);
        if visited != index as u64 {
            self.out_of_order.store(1, Ordering::Relaxed);
        }
        self.visited.store(visited + 1, Ordering::Relaxed);
        if index + 1 < self.length {
            scope.spawn(move |scope| self.step(index + 1, scope));
        }
    }
}

fn chain<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    let length: usize = request.parse("param.length")?;
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let chain = Chain { length, visited: AtomicU64::new(0), out_of_order: AtomicU32::new(0) };
            let start = Counters::read();
            pool.in_place_scope(|scope| scope.spawn(|scope| chain.step(0, scope)));
            elapsed.add(start);
            let visited = chain.visited.into_inner();
            check(visited == length as u64 && chain.out_of_order.into_inner() == 0, || {
                format!("a chain ran {visited} tasks, or out of order")
            })?;
        }
        Ok(elapsed.with_edges(length * repeats, (length - 1) * repeats))
    }))
}

/// The join is what follows the scope.
fn fan_in<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    let width = request.parse("param.width")?;
    let flags = Flags::new(width);
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let start = Counters::read();
            pool.in_place_scope(|scope| {
                for flag in &flags.0 {
                    scope.spawn(move |_| mark(flag));
                }
            });
            let seen = flags.ran();
            elapsed.add(start);
            check(seen == width, || format!("the join saw {seen} inputs complete"))?;
            flags.verify()?;
        }
        Ok(elapsed.with_edges((width + 1) * repeats, width * repeats))
    }))
}

/// The graph as opbench wrote it (a line per task, its nanoseconds and the tasks it depends on), and what flows along its edges:
/// each task writes a word of its own for this run, each consumer checks those of all its inputs.
struct Graph {
    nanoseconds: Vec<f64>,
    inputs: Vec<Vec<u32>>,
    dependents: Vec<Vec<u32>>,
    sources: Vec<u32>,
    edges: usize,
    rounds: Vec<u64>,
    words: Vec<AtomicU64>,
    waiting: Vec<AtomicI32>,
    wrong: AtomicU64,
    run: u64,
}

impl Graph {
    fn read(path: &str) -> Result<Graph, Failure> {
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
        let count = inputs.len();
        let mut dependents = vec![Vec::new(); count];
        for (task, own) in inputs.iter().enumerate() {
            for input in own {
                dependents[*input as usize].push(task as u32);
            }
        }
        Ok(Graph {
            sources: (0..count as u32).filter(|task| inputs[*task as usize].is_empty()).collect(),
            edges: inputs.iter().map(Vec::len).sum(),
            rounds: vec![0; count],
            words: (0..count).map(|_| AtomicU64::new(0)).collect(),
            waiting: (0..count).map(|_| AtomicI32::new(0)).collect(),
            wrong: AtomicU64::new(0),
            run: 0,
            nanoseconds,
            inputs,
            dependents,
        })
    }

    fn set_work(&mut self, scale: f64, per_microsecond: f64) {
        for (rounds, nanoseconds) in self.rounds.iter_mut().zip(&self.nanoseconds) {
            *rounds = rounds_for(nanoseconds * scale, per_microsecond);
        }
    }

    fn word(&self, task: u32) -> u64 {
        self.run << 32 | task as u64
    }

    fn execute<'a>(&'a self, task: u32, scope: &rayon::Scope<'a>) {
        let own = task as usize;
        for input in &self.inputs[own] {
            if self.words[*input as usize].load(Ordering::Relaxed) != self.word(*input) {
                self.wrong.fetch_add(1, Ordering::Relaxed);
            }
        }
        if self.words[own].load(Ordering::Relaxed) == self.word(task) {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
        spin(self.rounds[own]);
        self.words[own].store(self.word(task), Ordering::Relaxed);
        for dependent in &self.dependents[own] {
            if self.waiting[*dependent as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                scope.spawn(move |scope| self.execute(*dependent, scope));
            }
        }
    }

    /// Runs the graph once; gives the time from the first task added to the end of the last.
    fn once(&mut self, pool: &rayon::ThreadPool, elapsed: &mut Elapsed) -> Result<i64, Failure> {
        self.run += 1;
        let graph = &*self;
        let start = Counters::read();
        for (waiting, inputs) in graph.waiting.iter().zip(&graph.inputs) {
            waiting.store(inputs.len() as i32, Ordering::Relaxed);
        }
        let added = clock(MONOTONIC);
        pool.in_place_scope(|scope| {
            for task in &graph.sources {
                scope.spawn(move |scope| graph.execute(*task, scope));
            }
        });
        let makespan = clock(MONOTONIC) - added;
        elapsed.add(start);
        let missing = (0..graph.words.len() as u32)
            .filter(|task| graph.words[*task as usize].load(Ordering::Relaxed) != graph.word(*task))
            .count();
        let wrong = graph.wrong.load(Ordering::Relaxed);
        check(missing == 0 && wrong == 0, || {
            format!("{missing} tasks did not run, and {wrong} ran twice or before an input")
        })?;
        Ok(makespan)
    }
}

fn graph<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    let mut graph = Graph::read(request.text("graph")?)?;
    graph.set_work(1.0, request.parse("rounds_per_microsecond")?);
    let bound: f64 = request.parse("bound_ns")?;
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        let mut total = 0;
        for _ in 0..repeats {
            total += graph.once(pool, &mut elapsed)?;
        }
        let mut readings = elapsed.with_edges(graph.inputs.len() * repeats, graph.edges * repeats);
        let makespan = total as f64 / repeats as f64;
        readings.push(Reading::new("makespan_ns", "ns", makespan, repeats));
        if bound > 0.0 {
            readings.push(Reading::new("efficiency", "ratio", bound / makespan, repeats));
        }
        Ok(readings)
    }))
}

/// The shortest makespan for each granularity, of a graph whose work shrinks by half from run to run: as GranularitySweep.swift
/// does it, which also gave the limits. opbench derives METG from what is printed here.
struct Sweep {
    graph: Graph,
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
    top: Option<f64>,
}

impl Sweep {
    fn new(request: &Request) -> Result<Sweep, Failure> {
        Ok(Sweep {
            graph: Graph::read(request.text("graph")?)?,
            rate: request.parse("rounds_per_microsecond")?,
            load: request.parse("load")?,
            cores: request.parse("cores")?,
            peak: request.parse("peak")?,
            first: request.parse("sweep_first")?,
            largest: request.parse("sweep_largest")?,
            smallest: request.parse("sweep_smallest")?,
            plenty: request.parse("sweep_plenty")?,
            little: request.parse("sweep_little")?,
            enough: request.parse("sweep_enough")?,
            gain: request.parse("sweep_gain")?,
            step: request.parse("sweep_step")?,
            run_time: request.parse("sweep_run_time")?,
            runs: request.parse("sweep_runs")?,
            attempts: request.parse("sweep_attempts")?,
            top: None,
        })
    }

    fn efficiency(&self, work: f64, makespan: f64) -> f64 {
        work * self.load / (makespan * self.cores) / self.peak
    }

    fn best(&mut self, work: f64, pool: &rayon::ThreadPool) -> Result<f64, Failure> {
        self.graph.set_work(work, self.rate);
        let (mut shortest, mut total) = (f64::INFINITY, 0.0);
        for _ in 0..self.runs {
            if total >= self.run_time {
                break;
            }
            let mut elapsed = Elapsed::default();
            self.graph.once(pool, &mut elapsed)?;
            shortest = shortest.min(elapsed.0.wall as f64);
            total += elapsed.0.wall as f64;
        }
        Ok(shortest)
    }

    fn find_top(&mut self, pool: &rayon::ThreadPool) -> Result<f64, Failure> {
        let mut top = self.first;
        let makespan = self.best(top, pool)?;
        let mut reached = self.efficiency(top, makespan);
        while top < self.largest && reached < self.plenty {
            let makespan = self.best(top * 2.0, pool)?;
            let next = self.efficiency(top * 2.0, makespan);
            if reached > self.enough && next < reached + self.gain {
                break;
            }
            top *= 2.0;
            reached = next;
        }
        Ok(top)
    }

    fn run(&mut self, sweeps: usize, pool: &rayon::ThreadPool) -> Result<Vec<Reading>, Failure> {
        let top = match self.top {
            Some(top) => top,
            None => self.find_top(pool)?,
        };
        self.top = Some(top);
        // From the largest granularity down; every sweep takes the same steps, but may end earlier.
        let mut shortest: Vec<(f64, f64)> = Vec::new();
        for sweep in 0..sweeps + self.attempts {
            // More sweeps than asked for only where others had the CPUs.
            if sweep >= sweeps && shortest.iter().any(|run| self.efficiency(run.0, run.1) >= 0.5) {
                break;
            }
            let (mut work, mut step, mut reached) = (top, 0, f64::INFINITY);
            while work >= self.smallest && reached >= self.little {
                let makespan = self.best(work, pool)?;
                if step == shortest.len() {
                    shortest.push((work, makespan));
                }
                shortest[step].1 = shortest[step].1.min(makespan);
                reached = self.efficiency(work, shortest[step].1);
                work /= self.step;
                step += 1;
            }
        }
        let tasks = self.graph.inputs.len();
        let reading = |(work, makespan): &(f64, f64)| {
            Reading { detail: format!("work_ns={work}"), ..Reading::new("makespan_ns", "ns", *makespan, tasks) }
        };
        Ok(shortest.iter().map(reading).collect())
    }
}

fn metg<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    let mut sweep = Sweep::new(request)?;
    Ok(Box::new(move |repeats| sweep.run(repeats, pool)))
}

// ---- forkjoin: trees whose nodes contribute to one sum, as in ForkJoinTree.swift ----

trait Tree: Sync {
    type Node: Copy + Send + Sync + Default;
    const MOST_CHILDREN: usize;

    fn root(&self) -> Self::Node;
    fn value(&self, node: &Self::Node) -> u64;
    /// Fills in the children and gives their number; 0 for a leaf.
    fn children(&self, node: &Self::Node, into: &mut [Self::Node]) -> usize;
}

/// The most children a node of any tree has.
const MOST: usize = 100;

/// `join` on halves of the children, down to one: what rayon's parallel iterators do with a slice.
fn solve<T: Tree>(tree: &T, node: &T::Node) -> u64 {
    let mut children = [T::Node::default(); MOST];
    let count = tree.children(node, &mut children[..T::MOST_CHILDREN]);
    tree.value(node) + if count == 0 { 0 } else { solve_all(tree, &children[..count]) }
}

fn solve_all<T: Tree>(tree: &T, nodes: &[T::Node]) -> u64 {
    if nodes.len() == 1 {
        return solve(tree, &nodes[0]);
    }
    let (left, right) = nodes.split_at(nodes.len() / 2);
    let (left, right) = rayon::join(|| solve_all(tree, left), || solve_all(tree, right));
    left + right
}

/// Plain recursion on one thread: the sum, and the number of nodes.
fn serial<T: Tree>(tree: &T, node: &T::Node) -> (u64, u64) {
    let mut children = [T::Node::default(); MOST];
    let count = tree.children(node, &mut children[..T::MOST_CHILDREN]);
    children[..count].iter().fold((tree.value(node), 1), |(sum, tasks), child| {
        let (below, more) = serial(tree, child);
        (sum + below, tasks + more)
    })
}

struct Fib(u32);

impl Tree for Fib {
    type Node = u32;
    const MOST_CHILDREN: usize = 2;

    fn root(&self) -> u32 {
        self.0
    }
    fn value(&self, node: &u32) -> u64 {
        if *node < 2 { *node as u64 } else { 0 }
    }
    fn children(&self, node: &u32, into: &mut [u32]) -> usize {
        if *node < 2 {
            return 0;
        }
        into.copy_from_slice(&[node - 1, node - 2]);
        2
    }
}

struct Skynet(u64);

impl Tree for Skynet {
    /// The first leaf and their number.
    type Node = (u64, u64);
    const MOST_CHILDREN: usize = 10;

    fn root(&self) -> (u64, u64) {
        (0, self.0)
    }
    fn value(&self, node: &(u64, u64)) -> u64 {
        if node.1 == 1 { node.0 } else { 0 }
    }
    fn children(&self, node: &(u64, u64), into: &mut [(u64, u64)]) -> usize {
        if node.1 == 1 {
            return 0;
        }
        let share = node.1 / 10;
        for (index, child) in into.iter_mut().enumerate() {
            *child = (node.0 + index as u64 * share, share);
        }
        10
    }
}

struct Queens(u32);

#[derive(Clone, Copy, Default)]
struct Board {
    row: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Tree for Queens {
    type Node = Board;
    const MOST_CHILDREN: usize = 32;

    fn root(&self) -> Board {
        Board::default()
    }
    fn value(&self, node: &Board) -> u64 {
        (node.row == self.0) as u64
    }
    fn children(&self, node: &Board, into: &mut [Board]) -> usize {
        if node.row == self.0 {
            return 0;
        }
        let mut free = !(node.columns | node.left | node.right) & ((1 << self.0) - 1);
        let mut count = 0;
        while free != 0 {
            let square = free & free.wrapping_neg();
            free ^= square;
            into[count] = Board {
                row: node.row + 1,
                columns: node.columns | square,
                left: (node.left | square) << 1,
                right: (node.right | square) >> 1,
            };
            count += 1;
        }
        count
    }
}

/// SHA-1 (FIPS 180-4) of one block, which defines the random numbers of Unbalanced Tree Search.
fn sha1(message: &[u32]) -> [u32; 5] {
    let mut block = [0_u32; 16];
    block[..message.len()].copy_from_slice(message);
    block[message.len()] = 0x8000_0000;
    block[15] = message.len() as u32 * 32;
    let start = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let [mut a, mut b, mut c, mut d, mut e] = start;
    for round in 0..80 {
        if round >= 16 {
            let word = block[(round - 3) & 15] ^ block[(round - 8) & 15] ^ block[(round - 14) & 15] ^ block[round & 15];
            block[round & 15] = word.rotate_left(1);
        }
        let mixed = match round {
            0..=19 => (b & c | !b & d).wrapping_add(0x5a82_7999),
            20..=39 => (b ^ c ^ d).wrapping_add(0x6ed9_eba1),
            40..=59 => (b & c | b & d | c & d).wrapping_add(0x8f1b_bcdc),
            _ => (b ^ c ^ d).wrapping_add(0xca62_c1d6),
        };
        let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(block[round & 15]);
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
    }
    let end = [a, b, c, d, e];
    std::array::from_fn(|word| start[word].wrapping_add(end[word]))
}

/// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift.
struct GeometricTree {
    depth: u32,
    cutoff: u32,
    logarithm: f64,
}

#[derive(Clone, Copy, Default)]
struct State {
    words: [u32; 5],
    depth: u32,
}

impl GeometricTree {
    fn branches(&self, node: &State) -> usize {
        if node.depth >= self.depth {
            return 0;
        }
        let uniform = (node.words[4] & 0x7fff_ffff) as f64 / 2_147_483_648.0;
        (((1.0 - uniform).ln() / self.logarithm) as usize).min(MOST)
    }
    fn child(node: &State, index: usize) -> State {
        let [a, b, c, d, e] = node.words;
        State { words: sha1(&[a, b, c, d, e, index as u32]), depth: node.depth + 1 }
    }
    fn nodes(&self, node: &State) -> u64 {
        1 + (0..self.branches(node)).map(|index| self.nodes(&Self::child(node, index))).sum::<u64>()
    }
}

impl Tree for GeometricTree {
    type Node = State;
    const MOST_CHILDREN: usize = MOST;

    fn root(&self) -> State {
        State { words: sha1(&[0, 0, 0, 0, 19]), depth: 0 }
    }
    fn value(&self, node: &State) -> u64 {
        if node.depth < self.cutoff { 1 } else { self.nodes(node) }
    }
    fn children(&self, node: &State, into: &mut [State]) -> usize {
        if node.depth >= self.cutoff {
            return 0;
        }
        let count = self.branches(node);
        for (index, child) in into[..count].iter_mut().enumerate() {
            *child = Self::child(node, index);
        }
        count
    }
}

fn fork_join<'a, T: Tree + 'a>(request: &Request, pool: &'a rayon::ThreadPool, tree: T) -> Result<Measure<'a>, Failure> {
    let tasks: usize = request.parse("tasks")?;
    let expected: u64 = request.parse("expected")?;
    // The median of at least three runs and two milliseconds.
    let mut times = Vec::new();
    let begin = clock(MONOTONIC);
    let since = |start| clock(MONOTONIC) - start;
    while times.is_empty() || since(begin) < 500_000_000 && (times.len() < 3 || since(begin) < 2_000_000) {
        let start = clock(MONOTONIC);
        // SAFETY: reads a local, so that the optimiser does not know that it is the same tree again.
        let root = unsafe { std::ptr::read_volatile(&tree.root()) };
        let (found, nodes) = serial(&tree, &root);
        times.push(since(start) as f64);
        check(found == expected && nodes == tasks as u64, || {
            format!("plain recursion gives {found} with {nodes} tasks instead of {expected} with {tasks}")
        })?;
    }
    times.sort_by(f64::total_cmp);
    let alone = (times[(times.len() - 1) / 2] + times[times.len() / 2]) / 2.0;
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let start = Counters::read();
            let found = pool.install(|| solve(&tree, &tree.root()));
            elapsed.add(start);
            check(found == expected, || format!("the result is {found} instead of {expected}"))?;
        }
        let mut readings = elapsed.readings(tasks * repeats);
        readings.push(Reading::new("speedup", "ratio", alone * repeats as f64 / elapsed.0.wall as f64, repeats));
        Ok(readings)
    }))
}

fn fib<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    fork_join(request, pool, Fib(request.parse("param.n")?))
}

fn skynet<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    fork_join(request, pool, Skynet(request.parse("param.leaves")?))
}

fn nqueens<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    fork_join(request, pool, Queens(request.parse("param.n")?))
}

fn uts<'a>(request: &Request, pool: &'a rayon::ThreadPool) -> Result<Measure<'a>, Failure> {
    let (depth, cutoff) = (request.parse("param.depth")?, request.parse("param.cutoff")?);
    fork_join(request, pool, GeometricTree { depth, cutoff, logarithm: (1.0 - 1.0 / (1.0 + 4.0_f64)).ln() })
}

fn measure() -> Result<(), Failure> {
    let mut request = Request(HashMap::new());
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').ok_or_else(|| format!("'{argument}' is not key=value"))?;
        request.0.insert(key.into(), value.into());
    }
    let prepare = match request.text("benchmark")? {
        "overhead/external-add" => external_add,
        "overhead/local-add" => local_add,
        "dependencies/chain" => chain,
        "dependencies/fan-in" => fan_in,
        "dependencies/graph" => graph,
        "dependencies/metg" => metg,
        "forkjoin/fib" => fib,
        "forkjoin/skynet" => skynet,
        "forkjoin/nqueens" => nqueens,
        "forkjoin/uts" => uts,
        other => return Err(format!("there is no {other} on rayon")),
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(request.parse("workers")?)
        .build()
        .map_err(|error| error.to_string())?;
    let measure = prepare(&request, &pool)?;
    run(&request, measure)
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("version") {
        println!("{}", env!("PEER_VERSION"));
    } else if let Err(failure) = measure() {
        println!("failure\t{failure}");
    }
}
