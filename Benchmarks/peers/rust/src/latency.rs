//! Requests that arrive whether or not the ones before have been served, as ServedRequests.swift sends them.
use std::io::Write;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::protocol::{check, now, Failure, Measure, Reading, Request};
use crate::work::{rounds_for, spin};

/// Hands a job to another instance of what serves the requests.
pub type Submit = Box<dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync>;

/// Another instance, that always has jobs from one time to another, but not longer than there are requests.
struct Crowd {
    from: u64,
    until: u64,
    rounds: u64,
    jobs: usize,
    submit: Submit,
    is_over: AtomicBool,
    ran: AtomicU64,
}

impl Crowd {
    fn read(request: &Request, another: impl FnOnce() -> Result<Submit, Failure>) -> Result<Option<Crowd>, Failure> {
        if request.text("crowd_from").is_err() {
            return Ok(None);
        }
        Ok(Some(Crowd {
            from: request.number("crowd_from")?,
            until: request.number("crowd_until")?,
            rounds: rounds_for(request.number("crowd_ns")?, request.number("rounds_per_microsecond")?),
            jobs: 2 * request.number::<usize>("workers")?,
            submit: another()?,
            is_over: AtomicBool::new(false),
            ran: AtomicU64::new(0),
        }))
    }

    fn add(&'static self) {
        (self.submit)(Box::new(|| {
            spin(self.rounds);
            self.ran.fetch_add(1, Relaxed);
            if !self.is_over.load(Relaxed) {
                self.add();
            }
        }));
    }
}

pub struct Requests {
    /// When each comes, in nanoseconds from the beginning.
    offsets: Vec<u64>,
    rounds: Vec<u64>,
    /// How long each sleeps once it has used a CPU.
    pauses: Vec<Duration>,
    arrivals: Vec<AtomicU64>,
    ends: Vec<AtomicU64>,
    runs: Vec<AtomicU32>,
    /// Whether the sender sleeps until a request comes.
    sleeps: bool,
    /// When the first may come; else as soon as the program is ready.
    start: Option<u64>,
    left: AtomicUsize,
    is_over: Mutex<bool>,
    over: Condvar,
}

impl Requests {
    /// For as long as the process. As opbench wrote them: a line per request, when it comes, how long it uses a CPU,
    /// and how long it sleeps behind that.
    fn read(request: &Request) -> Result<&'static Requests, Failure> {
        let (path, rate): (_, f64) = (request.text("requests")?, request.number("rounds_per_microsecond")?);
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("the requests {path} cannot be read: {error}"))?;
        let (mut offsets, mut rounds, mut pauses) = (Vec::new(), Vec::new(), Vec::new());
        for line in text.lines() {
            let fields: Option<Vec<f64>> = line.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
            match fields.as_deref() {
                Some([offset, service, pause]) if *offset >= 0.0 && *service > 0.0 && *pause >= 0.0 => {
                    offsets.push(*offset as u64);
                    rounds.push(rounds_for(*service, rate));
                    pauses.push(Duration::from_nanos(*pause as u64));
                }
                _ => return Err(format!("'{line}' is no request")),
            }
        }
        check(!offsets.is_empty(), || "there is no request".into())?;
        let (count, sleeps) = (offsets.len(), request.number::<u8>("sleeps")? != 0);
        Ok(Box::leak(Box::new(Requests {
            start: request.text("start").ok().map(|_| request.number("start")).transpose()?,
            arrivals: (0..count).map(|_| AtomicU64::new(0)).collect(),
            ends: (0..count).map(|_| AtomicU64::new(0)).collect(),
            runs: (0..count).map(|_| AtomicU32::new(0)).collect(),
            sleeps,
            left: AtomicUsize::new(0),
            is_over: Mutex::new(false),
            over: Condvar::new(),
            offsets,
            rounds,
            pauses,
        })))
    }

    /// On a thread that may sleep.
    pub fn serve(&self, index: usize) {
        self.work(index);
        std::thread::sleep(self.pauses[index]);
        self.end(index);
    }

    pub fn work(&self, index: usize) {
        spin(self.rounds[index]);
    }

    pub fn pause(&self, index: usize) -> Duration {
        self.pauses[index]
    }

    /// Whether any sleeps.
    pub fn pauses(&self) -> bool {
        self.pauses.iter().any(|pause| !pause.is_zero())
    }

    pub fn end(&self, index: usize) {
        self.ends[index].store(now(), Relaxed);
        self.runs[index].fetch_add(1, Relaxed);
        if self.left.fetch_sub(1, AcqRel) == 1 {
            *self.is_over.lock().unwrap() = true;
            self.over.notify_one();
        }
    }

    /// A sender that is late sends the next ones at once, and they count from when they should have been sent. A
    /// request that should have come while the sender overslept comes when the sender wakes.
    ///
    /// Gives how long each request was there, in nanoseconds.
    fn run(&'static self, send: impl Fn(usize), crowd: Option<&'static Crowd>) -> Result<Vec<u64>, Failure> {
        self.left.store(self.offsets.len(), Relaxed);
        *self.is_over.lock().unwrap() = false;
        let (start, mut woke) = (self.start.unwrap_or_else(|| now() + 100_000), 0);
        let is_ready = self.start.is_none() || now() <= start;
        check(is_ready, || "the program was not ready at the start of the requests".into())?;
        let mut is_alone = true;
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
            if let Some(crowd) = crowd {
                if is_alone && now() >= crowd.from {
                    is_alone = false;
                    (0..crowd.jobs).for_each(|_| crowd.add());
                }
                if now() >= crowd.until {
                    crowd.is_over.store(true, Relaxed);
                }
            }
            self.arrivals[index].store(intended.max(woke), Relaxed);
            send(index);
        }
        let mut is_over = self.is_over.lock().unwrap();
        while !*is_over {
            is_over = self.over.wait(is_over).unwrap();
        }
        if let Some(crowd) = crowd {
            crowd.is_over.store(true, Relaxed);
        }
        let sojourn = |index: usize| {
            let runs = self.runs[index].swap(0, Acquire);
            check(runs == 1, || format!("request {index} ran {runs} times"))?;
            Ok(self.ends[index].load(Relaxed).saturating_sub(self.arrivals[index].load(Relaxed)))
        };
        (0..self.offsets.len()).map(sojourn).collect()
    }
}

/// `send` is made for the requests, and hands one of them over. `another` makes another instance.
pub fn slowdown<Send: Fn(usize) + 'static>(
    request: &Request,
    another: impl FnOnce() -> Result<Submit, Failure>,
    send: impl FnOnce(&'static Requests) -> Result<Send, Failure>,
) -> Result<Measure, Failure> {
    let requests = Requests::read(request)?;
    let send = send(requests)?;
    let crowd = Crowd::read(request, another)?.map(|crowd| &*Box::leak(Box::new(crowd)));
    // The kernel wakes the main thread when asked, and not up to 50 us later. Where it may not, nothing changes.
    if let Ok(mut slack) = std::fs::OpenOptions::new().write(true).open("/proc/self/timerslack_ns") {
        let _ = slack.write_all(b"1");
    }
    Ok(Box::new(move |repeats| {
        let mut readings = Vec::new();
        for _ in 0..repeats {
            for sojourn in requests.run(&send, crowd)? {
                let detail = format!("request={}", readings.len() + 1);
                readings.push(Reading { detail, ..Reading::new("sojourn_ns", "ns", sojourn as f64, 1) });
            }
        }
        if let Some(crowd) = crowd {
            readings.push(Reading::new("crowd_jobs", "jobs", crowd.ran.load(Relaxed) as f64, 1));
        }
        Ok(readings)
    }))
}
