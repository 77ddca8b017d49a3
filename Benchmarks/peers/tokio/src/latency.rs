use peers::latency;
use peers::protocol::{Benchmark, Failure, Measure, Request};

use crate::Pool;

pub const LATENCY: &[Benchmark<Pool>] = &[("latency/slowdown", slowdown)];

fn slowdown(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    latency::slowdown(request, move |requests, index| drop(pool.spawn(async move { requests.serve(index) })))
}
