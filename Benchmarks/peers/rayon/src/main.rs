// The benchmarks of opbench on rayon. Started by opbench for one cell at a time; scripts/peers builds it.
//
// Form: `in_place_scope` of a pool of `workers` threads, for work that the main thread adds from outside while it takes no part,
// and `spawn` on the scope for what tasks add. Graphs count unfinished inputs by hand and `spawn` what becomes ready: rayon has
// no dependencies of its own.
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

struct Reading(&'static str, &'static str, f64, usize);

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
            Reading("ns_per_op", "ns", per(self.0.wall), operations),
            Reading("cpu_ns_per_op", "ns", per(self.0.cpu), operations),
            Reading("voluntary_switches_per_op", "switches", per(self.0.voluntary), operations),
            Reading("involuntary_switches_per_op", "switches", per(self.0.involuntary), operations),
        ]
    }

    fn with_edges(&self, operations: usize, edges: usize) -> Vec<Reading> {
        let mut readings = self.readings(operations);
        if edges > 0 {
            readings.push(Reading("ns_per_edge", "ns", self.0.wall as f64 / edges as f64, edges));
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
            for Reading(metric, unit, number, count) in measure(repeats)? {
                println!("reading\t{value}\t{metric}\t{unit}\t{number}\t{count}\t");
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
        readings.push(Reading("makespan_ns", "ns", makespan, repeats));
        if bound > 0.0 {
            readings.push(Reading("efficiency", "ratio", bound / makespan, repeats));
        }
        Ok(readings)
    }))
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
