use peers::latency;
use peers::protocol::{Benchmark, Failure, Measure, Request};

use crate::Pool;

pub const LATENCY: &[Benchmark<Pool>] = &[("latency/slowdown", slowdown)];

fn slowdown(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    latency::slowdown(request, |requests| Ok(move |index| pool.spawn(move || requests.serve(index))))
}
