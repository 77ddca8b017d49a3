//! The benchmarks of opbench on rayon. Started by opbench for one cell at a time; scripts/peers builds it.
//!
//! Form: `in_place_scope` of a pool of `workers` threads, for work that the main thread adds from outside while it takes no part,
//! and `spawn` on the scope for what tasks add. Each family is a file; a new benchmark is a function and its line in the table of
//! one of them.
mod dependencies;
mod forkjoin;
mod graph;
mod metg;
mod overhead;
mod protocol;
mod work;

fn main() {
    protocol::serve(&[overhead::OVERHEAD, dependencies::DEPENDENCIES, forkjoin::FORK_JOIN]);
}
