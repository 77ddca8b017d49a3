//! What opbench and its peers say to each other: arguments in, lines out, and the clocks and counters between.
use std::collections::HashMap;
use std::str::FromStr;

// ---- Arguments ----

pub type Failure = String;

pub fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// The `key=value` arguments. What is missing or no number is a failure.
pub struct Request(HashMap<String, String>);

impl Request {
    fn new(arguments: impl Iterator<Item = String>) -> Result<Request, Failure> {
        let mut values = HashMap::new();
        for argument in arguments {
            let (key, value) = argument.split_once('=').ok_or_else(|| format!("'{argument}' is not key=value"))?;
            values.insert(key.into(), value.into());
        }
        Ok(Request(values))
    }
    pub fn text(&self, key: &str) -> Result<&str, Failure> {
        self.0.get(key).map(String::as_str).ok_or_else(|| format!("the request has no {key}"))
    }
    pub fn number<T: FromStr>(&self, key: &str) -> Result<T, Failure> {
        self.text(key)?.parse().map_err(|_| format!("{key} is no number in the request"))
    }
    /// At least 1.
    pub fn positive(&self, key: &str) -> Result<usize, Failure> {
        let found = self.number(key)?;
        check(found > 0, || format!("{key} is 0 in the request"))?;
        Ok(found)
    }
}

// ---- Strategies ----

/// Something that a scheduler lets its user choose: the words that may stand behind `name=`, and the numbers, if any.
pub struct Decision {
    pub name: &'static str,
    pub words: &'static [&'static str],
    pub numbers: Option<(u64, u64)>,
}

impl Decision {
    fn check(&self, choice: &str) -> Result<(), Failure> {
        let (name, is_number) = (self.name, !choice.is_empty() && choice.bytes().all(|byte| byte.is_ascii_digit()));
        match self.numbers {
            _ if self.words.contains(&choice) => Ok(()),
            Some((least, most)) if is_number => {
                let number: u64 = choice.parse().map_err(|_| format!("{name} is no number in the request"))?;
                check(least <= number && number <= most, || {
                    format!("'{name}={choice}' is out of range: it takes N from {least} to {most}")
                })
            }
            _ => Err(format!("'{name}' has no choice '{choice}'")),
        }
    }
}

/// What was chosen, such as `lifo=off;global=8`. A decision that was not chosen is as in the default.
#[derive(Default)]
pub struct Strategy(HashMap<&'static str, String>);

impl Strategy {
    /// Fails when there is no such decision or choice.
    fn new(text: &str, decisions: &[Decision]) -> Result<Strategy, Failure> {
        let mut chosen = HashMap::new();
        for part in text.split(';').filter(|_| !text.is_empty()) {
            let (name, choice) =
                part.split_once('=').ok_or_else(|| format!("'{part}' is no decision: it takes name=choice"))?;
            let decision = decisions.iter().find(|decision| decision.name == name);
            let decision = decision.ok_or_else(|| format!("there is no decision '{name}'"))?;
            decision.check(choice)?;
            let earlier = chosen.insert(decision.name, choice.to_string());
            check(earlier.is_none(), || format!("'{name}' is given twice: it takes one choice"))?;
        }
        Ok(Strategy(chosen))
    }
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

// ---- Clocks and counters ----

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
    fn sched_getaffinity(thread: i32, size: usize, cpus: *mut u64) -> i32;
    fn sched_setaffinity(thread: i32, size: usize, cpus: *const u64) -> i32;
    fn raise(signal: i32) -> i32;
}

fn clock(which: i32) -> u64 {
    let mut time = Time::default();
    // SAFETY: `time` is laid out as the C struct and outlives the call.
    unsafe { clock_gettime(which, &mut time) };
    (time.seconds * 1_000_000_000 + time.fraction) as u64
}
const MONOTONIC: i32 = 1;
const PROCESS_CPU: i32 = 2;
/// SIGSTOP of Linux on x86-64 and arm64.
const STOP: i32 = 19;

/// Monotonic, in nanoseconds.
pub fn now() -> u64 {
    clock(MONOTONIC)
}

#[derive(Default)]
pub struct Counters {
    pub wall: u64,
    cpu: u64,
    voluntary: i64,
    involuntary: i64,
}

impl Counters {
    pub fn read() -> Counters {
        let mut usage = Usage::default();
        // SAFETY: as above.
        unsafe { getrusage(0, &mut usage) };
        Counters { wall: now(), cpu: clock(PROCESS_CPU), voluntary: usage.counts[12], involuntary: usage.counts[13] }
    }
}

pub struct Reading {
    pub metric: &'static str,
    pub unit: &'static str,
    pub value: f64,
    pub count: usize,
    pub detail: String,
}

impl Reading {
    pub fn new(metric: &'static str, unit: &'static str, value: f64, count: usize) -> Reading {
        Reading { metric, unit, value, count, detail: String::new() }
    }
}

/// What passed, summed over several timed stretches.
#[derive(Default)]
pub struct Elapsed(pub Counters);

impl Elapsed {
    /// What passed since a reading, as a stretch of its own.
    pub fn since(start: Counters) -> Elapsed {
        let mut elapsed = Elapsed::default();
        elapsed.add(start);
        elapsed
    }

    /// Adds what another stretch has counted.
    pub fn merge(&mut self, other: Elapsed) {
        self.0.wall += other.0.wall;
        self.0.cpu += other.0.cpu;
        self.0.voluntary += other.0.voluntary;
        self.0.involuntary += other.0.involuntary;
    }

    pub fn add(&mut self, start: Counters) {
        let end = Counters::read();
        self.0.wall += end.wall - start.wall;
        self.0.cpu += end.cpu - start.cpu;
        self.0.voluntary += end.voluntary - start.voluntary;
        self.0.involuntary += end.involuntary - start.involuntary;
    }

    pub fn readings(&self, operations: usize, edges: usize) -> Vec<Reading> {
        let per = |value: f64| value / operations as f64;
        let mut readings = vec![
            Reading::new("ns_per_op", "ns", per(self.0.wall as f64), operations),
            Reading::new("cpu_ns_per_op", "ns", per(self.0.cpu as f64), operations),
            Reading::new("voluntary_switches_per_op", "switches", per(self.0.voluntary as f64), operations),
            Reading::new("involuntary_switches_per_op", "switches", per(self.0.involuntary as f64), operations),
        ];
        if edges > 0 {
            readings.push(Reading::new("ns_per_edge", "ns", self.0.wall as f64 / edges as f64, edges));
        }
        readings
    }
}

// ---- CPUs ----

/// Moves this thread onto the CPU of that index among those it may use, modulo their number; where it may run stays as
/// it is. Each block of a run begins on the next CPU, with all its programs.
fn begin(place: usize) {
    let mut all = [0u64; 16];
    let size = std::mem::size_of_val(&all);
    // SAFETY: the sets have that size and outlive the calls; 0 is the calling thread.
    if unsafe { sched_getaffinity(0, size, all.as_mut_ptr()) } != 0 {
        return;
    }
    let cpus: Vec<usize> = (0..size * 8).filter(|cpu| all[cpu / 64] >> (cpu % 64) & 1 == 1).collect();
    let cpu = cpus[place % cpus.len()];
    let mut one = [0u64; 16];
    one[cpu / 64] = 1 << (cpu % 64);
    unsafe {
        if sched_setaffinity(0, size, one.as_ptr()) == 0 {
            sched_setaffinity(0, size, all.as_ptr());
        }
    }
}

// ---- Calibrating and timing ----

/// Runs and checks n repeats, and gives one value.
pub type Measure = Box<dyn FnMut(usize) -> Result<Vec<Reading>, Failure>>;
/// A benchmark: its name, and what does everything that is not to be timed.
pub type Benchmark<Pool> = (&'static str, fn(&Request, Pool) -> Result<Measure, Failure>);

/// A program of benchmarks. The pool lives as long as the process, which is one cell.
pub struct Peer<Pool: 'static> {
    pub name: &'static str,
    pub version: &'static str,
    pub families: &'static [&'static [Benchmark<Pool>]],
    pub decisions: &'static [Decision],
    pub pool: fn(workers: usize, &Strategy) -> Result<Pool, Failure>,
}

/// The measure of most benchmarks: `once` is timed, `verify` fails when it did anything other than asked.
pub fn rounds(
    operations: usize,
    edges: usize,
    once: impl Fn() + 'static,
    verify: impl Fn() -> Result<(), Failure> + 'static,
) -> Result<Measure, Failure> {
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let start = Counters::read();
            once();
            elapsed.add(start);
            verify()?;
        }
        Ok(elapsed.readings(operations * repeats, edges * repeats))
    }))
}

/// How long the timed work of some repeats takes, in nanoseconds.
fn timed(measure: &mut Measure, repeats: usize) -> Result<u64, Failure> {
    let start = now();
    let readings = measure(repeats)?;
    let time = ["ns_per_op", "makespan_ns"].iter().find_map(|name| readings.iter().find(|one| one.metric == *name));
    Ok(time.map_or(now() - start, |one| (one.value * one.count as f64) as u64).max(1))
}

/// As MeasuringProcess.swift and Calibration.swift do: after the lead-in, at most ten times as many repeats at a time,
/// and no more than a slower subject needed; the median of three attempts.
fn calibrate(mut measure: Measure, target: u64, limit: usize, lead_in: u64) -> Result<usize, Failure> {
    let born = now();
    let mut led = timed(&mut measure, 1)?;
    while now() - born < lead_in {
        led = timed(&mut measure, 1)?;
    }
    let mut repeats = 1;
    let mut answers = vec![];
    while answers.len() < 3 {
        let took = timed(&mut measure, repeats)?.min(led);
        led = u64::MAX;
        let needed = ((target as f64 / (took as f64 / repeats as f64)).ceil() as usize).max(1);
        if took >= target {
            if repeats == 1 && took >= 2 * target {
                return Ok(1);
            }
            answers.push(needed.min(limit));
            repeats = needed.min(limit).max(repeats.div_ceil(2));
        } else if repeats >= limit {
            return Ok(limit);
        } else {
            repeats = needed.max(repeats + 1).min(repeats * 10).min(limit);
        }
    }
    answers.sort();
    Ok(answers[1])
}

/// Runs until the lead-in has passed, at least once if there is one; then takes values until the budget has passed, at
/// least one. Prints nothing before the last value: threads would fall asleep meanwhile, and the first repeat of a
/// value be dearer. In turns, stops before each value until opbench lets the process go on, and runs once uncounted.
fn time(
    mut measure: Measure, repeats: usize, more: usize, values: usize, lead_in: u64, budget: u64, in_turns: bool,
) -> Result<(), Failure> {
    let start = now();
    while lead_in > 0 {
        measure(repeats)?;
        if now() - start >= lead_in {
            break;
        }
    }
    let mut taken = vec![];
    let mut spent = 0;
    while taken.len() < values {
        if in_turns {
            // Standard output is written line by line.
            println!("turn");
            // SAFETY: the call has no memory of ours; the kernel stops all threads before it returns.
            unsafe { raise(STOP) };
            measure(repeats)?;
        }
        let start = now();
        taken.push(measure(if taken.len() % 2 == 0 { repeats } else { repeats + more })?);
        spent += now() - start;
        if spent >= budget {
            break;
        }
    }
    for (index, readings) in taken.into_iter().enumerate() {
        for Reading { metric, unit, value: number, count, detail } in readings {
            println!("reading\t{}\t{metric}\t{unit}\t{number}\t{count}\t{detail}", index + 1);
        }
    }
    Ok(())
}

fn run<Pool: Copy>(peer: &Peer<Pool>) -> Result<(), Failure> {
    let request = Request::new(std::env::args().skip(1))?;
    if request.text("place").is_ok() {
        begin(request.number("place")?);
    }
    let name = request.text("benchmark")?;
    let found = peer.families.iter().flat_map(|family| family.iter()).find(|benchmark| benchmark.0 == name);
    let prepare = found.ok_or_else(|| format!("there is no {name} on {}", peer.name))?.1;
    let strategy = match request.text("strategy") {
        Ok(_) if peer.decisions.is_empty() => return Err(format!("'{}' has no strategy to choose", peer.name)),
        Ok(text) => Strategy::new(text, peer.decisions)?,
        Err(_) => Strategy::default(),
    };
    let pool = (peer.pool)(request.positive("workers")?, &strategy)?;
    match request.text("mode")? {
        "calibrate" => {
            let (target, limit) = (request.number("target")?, request.positive("limit")?);
            println!("repeats\t{}", calibrate(prepare(&request, pool)?, target, limit, request.number("lead_in")?)?);
        }
        "time" => {
            let (repeats, values) = (request.positive("repeats")?, request.positive("values")?);
            let (lead_in, budget) = (request.number("lead_in")?, request.number("budget")?);
            let in_turns = request.text("turns").is_ok();
            time(prepare(&request, pool)?, repeats, request.number("more")?, values, lead_in, budget, in_turns)?;
        }
        other => return Err(format!("there is no mode {other}")),
    }
    println!("end");
    Ok(())
}

/// The version of the protocol, which is PeerProtocol.version of opbench.
const PROTOCOL_VERSION: u32 = 1;

/// The main function.
pub fn serve<Pool: Copy>(peer: Peer<Pool>) {
    if std::env::args().nth(1).as_deref() == Some("version") {
        println!("opbench-peer\t{PROTOCOL_VERSION}\nversion\t{}", peer.version);
        for (name, _) in peer.families.iter().flat_map(|family| family.iter()) {
            println!("benchmark\t{name}");
        }
        println!("end");
    } else if let Err(failure) = run(&peer) {
        println!("failure\t{}", failure.replace(['\n', '\t'], " "));
    }
}
