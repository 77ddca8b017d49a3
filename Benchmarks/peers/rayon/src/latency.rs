use peers::latency;
use peers::protocol::{Benchmark, Failure, Measure, Request};

use crate::Pool;

pub const LATENCY: &[Benchmark<Pool>] = &[("latency/slowdown", slowdown)];

fn slowdown(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let another = || {
        let other = rayon::ThreadPoolBuilder::new().num_threads(pool.current_num_threads()).build();
        let other = other.map_err(|error| error.to_string())?;
        Ok(Box::new(move |job| other.spawn(job)) as latency::Submit)
    };
    latency::slowdown(request, another, |requests| Ok(move |index| pool.spawn(move || requests.serve(index))))
}
