use peers::latency;
use peers::protocol::{Benchmark, Failure, Measure, Request};

use crate::Pool;

pub const LATENCY: &[Benchmark<Pool>] = &[("latency/slowdown", slowdown)];

fn slowdown(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let another = || {
        let other = pool.another()?;
        Ok(Box::new(move |job: Box<dyn FnOnce() + Send>| drop(other.spawn(async move { job() }))) as latency::Submit)
    };
    latency::slowdown(request, another, |requests| {
        // A task that sleeps gives its thread back.
        let runtime = if requests.pauses() { pool.with_timers()? } else { *pool };
        Ok(move |index: usize| {
            drop(runtime.spawn(async move {
                requests.work(index);
                if !requests.pause(index).is_zero() {
                    tokio::time::sleep(requests.pause(index)).await;
                }
                requests.end(index);
            }))
        })
    })
}
