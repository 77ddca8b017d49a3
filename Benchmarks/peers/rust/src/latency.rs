//! Requests that arrive whether or not the ones before have been served, as ServedRequests.swift sends them.
use std::io::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::protocol::{check, now, Failure, Measure, Reading, Request};
use crate::work::{rounds_for, spin};

pub struct Requests {
    /// When each comes, in nanoseconds from the beginning, and how long it takes.
    offsets: Vec<u64>,
    services: Vec<f64>,
    rounds: Vec<u64>,
    arrivals: Vec<AtomicU64>,
    ends: Vec<AtomicU64>,
    runs: Vec<AtomicU32>,
    /// Whether the sender sleeps until a request comes.
    sleeps: bool,
    left: AtomicUsize,
    is_over: Mutex<bool>,
    over: Condvar,
}

impl Requests {
    /// For as long as the process. As opbench wrote them: a line per request, when it comes and how long it takes.
    fn read(request: &Request) -> Result<&'static Requests, Failure> {
        let (path, rate): (_, f64) = (request.text("requests")?, request.number("rounds_per_microsecond")?);
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("the requests {path} cannot be read: {error}"))?;
        let (mut offsets, mut services) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let fields: Option<Vec<f64>> = line.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
            match fields.as_deref() {
                Some([offset, service]) if *offset >= 0.0 && *service > 0.0 => {
                    offsets.push(*offset as u64);
                    services.push(*service);
                }
                _ => return Err(format!("'{line}' is no request")),
            }
        }
        check(!offsets.is_empty(), || "there is no request".into())?;
        let (count, sleeps) = (offsets.len(), request.number::<u8>("sleeps")? != 0);
        Ok(Box::leak(Box::new(Requests {
            rounds: services.iter().map(|service| rounds_for(*service, rate)).collect(),
            arrivals: (0..count).map(|_| AtomicU64::new(0)).collect(),
            ends: (0..count).map(|_| AtomicU64::new(0)).collect(),
            runs: (0..count).map(|_| AtomicU32::new(0)).collect(),
            sleeps,
            left: AtomicUsize::new(0),
            is_over: Mutex::new(false),
            over: Condvar::new(),
            offsets,
            services,
        })))
    }

    pub fn serve(&self, index: usize) {
        spin(self.rounds[index]);
        self.ends[index].store(now(), Relaxed);
        self.runs[index].fetch_add(1, Relaxed);
        if self.left.fetch_sub(1, AcqRel) == 1 {
            *self.is_over.lock().unwrap() = true;
            self.over.notify_one();
        }
    }

    /// A sender that is late sends the next ones at once, and they count from when they should have been sent. A
    /// request that should have come while the sender overslept comes when the sender wakes.
    fn run(&'static self, send: impl Fn(usize)) -> Result<Vec<f64>, Failure> {
        self.left.store(self.offsets.len(), Relaxed);
        *self.is_over.lock().unwrap() = false;
        let (start, mut woke) = (now() + 100_000, 0);
        for (index, offset) in self.offsets.iter().enumerate() {
            let intended = start + offset;
            if !self.sleeps {
                while now() < intended {}
            } else if now() < intended {
                while now() < intended {
                    std::thread::sleep(Duration::from_nanos(intended.saturating_sub(now())));
                }
                woke = now();
            }
            self.arrivals[index].store(intended.max(woke), Relaxed);
            send(index);
        }
        let mut is_over = self.is_over.lock().unwrap();
        while !*is_over {
            is_over = self.over.wait(is_over).unwrap();
        }
        let mut slowdowns = Vec::new();
        for (index, service) in self.services.iter().enumerate() {
            let runs = self.runs[index].swap(0, Acquire);
            check(runs == 1, || format!("request {index} ran {runs} times"))?;
            let sojourn = self.ends[index].load(Relaxed).saturating_sub(self.arrivals[index].load(Relaxed));
            slowdowns.push(sojourn as f64 / service);
        }
        Ok(slowdowns)
    }
}

/// `send` hands a request over, which calls `serve`.
pub fn slowdown(request: &Request, send: impl Fn(&'static Requests, usize) + 'static) -> Result<Measure, Failure> {
    let requests = Requests::read(request)?;
    // The kernel wakes the main thread when asked, and not up to 50 us later. Where it may not, nothing changes.
    if let Ok(mut slack) = std::fs::OpenOptions::new().write(true).open("/proc/self/timerslack_ns") {
        let _ = slack.write_all(b"1");
    }
    Ok(Box::new(move |repeats| {
        let mut slowdowns = Vec::new();
        for _ in 0..repeats {
            slowdowns.extend(requests.run(|index| send(requests, index))?);
        }
        slowdowns.sort_by(f64::total_cmp);
        let count = slowdowns.len();
        // The smallest slowdown that at least this share of the requests does not exceed.
        let reading = |&(metric, share): &(&'static str, f64)| {
            let rank = ((share - 1e-9) * count as f64).ceil() as usize;
            Reading::new(metric, "ratio", slowdowns[rank.clamp(1, count) - 1], count)
        };
        Ok([("slowdown_p50", 0.5), ("slowdown_p99", 0.99), ("slowdown_p999", 0.999)].iter().map(reading).collect())
    }))
}
