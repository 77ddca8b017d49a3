//! Tasks that a task spawns and awaits. Times are taken inside of that task, as in the Swift benchmark: neither its
//! start nor the wait of the main thread counts.
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use peers::protocol::{check, Benchmark, Counters, Elapsed, Failure, Measure, Request};
use peers::work::{mark, Flags};
use tokio::task::JoinSet;

use crate::overhead::spawn_all;
use crate::Pool;

pub const ASYNC: &[Benchmark<Pool>] = &[("async/spawn", spawn), ("async/fib", fib), ("async/limit", limit)];

/// `once` gives the future of a round; `verify` fails when it did anything other than asked.
fn rounds<Round: Future<Output = ()> + Send + 'static>(
    operations: usize,
    pool: Pool,
    once: impl Fn() -> Round + 'static,
    verify: impl Fn() -> Result<(), Failure> + 'static,
) -> Result<Measure, Failure> {
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let round = once();
            let timed = async move {
                let start = Counters::read();
                round.await;
                Elapsed::since(start)
            };
            elapsed.merge(pool.block_on(async move { tokio::spawn(timed).await.expect("the round has panicked") }));
            verify()?;
        }
        Ok(elapsed.readings(operations * repeats, 0))
    }))
}

/// `form=task`: a handle for each, awaited one after the other. `form=group`: a `JoinSet`.
fn spawn(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let flags = Flags::new(operations);
    match request.text("param.form")? {
        "task" => rounds(operations, pool, move || spawn_all(&flags.0), move || flags.verify()),
        "group" => {
            let group = move || async move {
                let mut group = JoinSet::new();
                for flag in flags.0.iter() {
                    group.spawn(async move { mark(flag) });
                }
                while let Some(end) = group.join_next().await {
                    end.expect("a child has panicked");
                }
            };
            rounds(operations, pool, group, move || flags.verify())
        }
        other => Err(format!("form is task or group, not {other}")),
    }
}

/// A spawned task for one of the two calls. An operation is such a task.
fn fib(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let number = request.positive("param.n")?;
    let mut spawned = vec![0, 0];
    let (mut expected, mut next) = (0, 1);
    for n in 0..number {
        (expected, next) = (next, expected + next);
        if n > 0 {
            spawned.push(spawned[n] + spawned[n - 1] + 1);
        }
    }
    let result: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
    let once = move || async move { result.store(solve(number).await, Relaxed) };
    rounds(spawned[number].max(1), pool, once, move || {
        let sum = result.swap(usize::MAX, Relaxed);
        check(sum == expected, || format!("fib({number}) gave {sum}, not {expected}"))
    })
}

/// A future that calls itself has to be on the heap.
fn solve(number: usize) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        if number < 2 {
            return number;
        }
        let first = tokio::spawn(solve(number - 1));
        let second = solve(number - 2).await;
        first.await.expect("a child has panicked") + second
    })
}

/// A `JoinSet` as a window: a child is spawned when another one has ended. Each yields once.
fn limit(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let operations = request.positive("param.ops")?;
    let limit = request.positive("param.max")?;
    let flags = Flags::new(operations);
    let running: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
    let most: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
    let once = move || async move {
        let mut window = JoinSet::new();
        for (index, flag) in flags.0.iter().enumerate() {
            if index >= limit {
                window.join_next().await.expect("the window is empty").expect("a child has panicked");
            }
            window.spawn(async move {
                most.fetch_max(running.fetch_add(1, Relaxed) + 1, Relaxed);
                tokio::task::yield_now().await;
                mark(flag);
                running.fetch_sub(1, Relaxed);
            });
        }
        while let Some(end) = window.join_next().await {
            end.expect("a child has panicked");
        }
    };
    rounds(operations, pool, once, move || {
        let most = most.swap(0, Relaxed);
        check(most <= limit, || format!("{most} ran at a time, and {limit} may"))?;
        flags.verify()
    })
}
