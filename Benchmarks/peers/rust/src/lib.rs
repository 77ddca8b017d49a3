//! What the peers in Rust share: the protocol, the task graphs and trees, and how each benchmark measures.
pub mod forkjoin;
pub mod graph;
pub mod latency;
pub mod metg;
pub mod protocol;
pub mod team;
pub mod work;
