//! The benchmarks of opbench on rayon. Started by opbench for one cell at a time; scripts/peers builds it.
//!
//! Form: `in_place_scope` of a pool of `workers` threads, for work that the main thread adds from outside while it
//! takes no part, and `spawn` on the scope for what tasks add. Each family is a file; a new benchmark is a function and
//! its line in the table of one of them.
mod dependencies;
mod forkjoin;
mod latency;
mod loops;
mod overhead;

use std::ops::Deref;

use peers::protocol::{serve, Peer};

#[derive(Clone, Copy)]
pub struct Pool(&'static rayon::ThreadPool);

impl Deref for Pool {
    type Target = rayon::ThreadPool;

    fn deref(&self) -> &rayon::ThreadPool {
        self.0
    }
}

fn main() {
    serve(Peer {
        name: "rayon",
        version: env!("PEER_VERSION"),
        families: &[overhead::OVERHEAD, dependencies::DEPENDENCIES, forkjoin::FORK_JOIN, loops::LOOPS, latency::LATENCY],
        decisions: &[],
        pool: |workers, _| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
            Ok(Pool(Box::leak(Box::new(pool.map_err(|error| error.to_string())?))))
        },
    });
}
