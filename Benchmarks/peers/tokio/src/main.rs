//! The benchmarks of opbench on Tokio. Started by opbench for one cell at a time; scripts/peers builds it.
//!
//! Form: a multi-thread runtime of `workers` threads without drivers (with timers where requests sleep), `spawn`, and
//! `block_on` of the main thread, which takes no part. Each family is a file; a new benchmark is a function and its
//! line in the table of one of them.
mod asynchronous;
mod dependencies;
mod forkjoin;
mod latency;
mod overhead;

use std::ops::Deref;
use std::sync::Mutex;

use peers::protocol::{serve, Decision, Failure, Peer, Strategy};
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Copy)]
pub struct Pool {
    runtime: &'static Runtime,
    builder: &'static Mutex<Builder>,
}

impl Deref for Pool {
    type Target = &'static Runtime;

    fn deref(&self) -> &&'static Runtime {
        &self.runtime
    }
}

impl Pool {
    fn new(workers: usize, strategy: &Strategy) -> Result<Pool, Failure> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers);
        if strategy.text("lifo") == Some("off") {
            builder.disable_lifo_slot();
        }
        if let Some(Ok(interval)) = strategy.text("global").map(str::parse) {
            builder.global_queue_interval(interval);
        }
        let runtime = built(&mut builder)?;
        Ok(Pool { runtime, builder: Box::leak(Box::new(Mutex::new(builder))) })
    }

    /// Another runtime.
    pub fn another(&self) -> Result<&'static Runtime, Failure> {
        built(&mut self.builder.lock().unwrap())
    }

    /// Another runtime, whose tasks can sleep.
    pub fn with_timers(&self) -> Result<&'static Runtime, Failure> {
        built(self.builder.lock().unwrap().enable_time())
    }
}

fn built(builder: &mut Builder) -> Result<&'static Runtime, Failure> {
    Ok(Box::leak(Box::new(builder.build().map_err(|error| error.to_string())?)))
}

fn main() {
    serve(Peer {
        name: "tokio",
        version: env!("PEER_VERSION"),
        families: &[
            overhead::OVERHEAD, dependencies::DEPENDENCIES, forkjoin::FORK_JOIN, asynchronous::ASYNC, latency::LATENCY,
        ],
        decisions: &[
            Decision { name: "lifo", words: &["on", "off"], numbers: None },
            Decision { name: "global", words: &["default"], numbers: Some((1, 1000000)) },
        ],
        pool: Pool::new,
    });
}
