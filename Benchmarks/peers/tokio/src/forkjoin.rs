//! Trees whose tasks await the handles of their children.
use std::future::Future;
use std::pin::Pin;

use peers::forkjoin::{break_even, fib, nqueens, skynet, uts, Children, From, RepeatedSolver, Solver, Tree, Turn};
use peers::protocol::{now, Benchmark};
use tokio::task::JoinHandle;

use crate::Pool;

pub const FORK_JOIN: &[Benchmark<Pool>] = &[
    ("forkjoin/fib", fib),
    ("forkjoin/skynet", skynet),
    ("forkjoin/nqueens", nqueens),
    ("forkjoin/uts", uts),
    ("forkjoin/break-even", break_even),
];

impl Solver for Pool {
    fn solve<T: Tree>(self, tree: &'static T) -> u64 {
        self.block_on(async move { tokio::spawn(solve(tree, tree.root())).await.expect("the root has panicked") })
    }
}

impl RepeatedSolver for Pool {
    fn solve_times<T: Tree>(self, tree: &'static T, turn: Turn, from: From) -> (u64, u64) {
        if from == From::Outside {
            return turn.timed(|| self.solve(tree));
        }
        let all = async move {
            let (start, mut sum, mut paused) = (now(), 0, 0);
            for _ in 0..turn.times {
                sum += solve(tree, tree.root()).await;
                paused += turn.idle();
            }
            (now() - start - paused, sum)
        };
        self.block_on(async move { tokio::spawn(all).await.expect("the root has panicked") })
    }
}

/// A future that calls itself has to be on the heap.
fn solve<T: Tree>(tree: &'static T, node: T::Node) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        let mut sum = tree.value(&node);
        let (handles, last) = fork(tree, &node);
        if let Some(last) = last {
            sum += solve(tree, last).await;
        }
        for handle in handles {
            sum += handle.await.expect("a child has panicked");
        }
        sum
    })
}

/// Spawns a task for each child but the last, with which the task of its parent goes on. The children stay out of the
/// future, which would be as large as all of them.
fn fork<T: Tree>(tree: &'static T, node: &T::Node) -> (Vec<JoinHandle<u64>>, Option<T::Node>) {
    match tree.children(node).all().split_last() {
        Some((last, others)) => (others.iter().map(|child| tokio::spawn(solve(tree, *child))).collect(), Some(*last)),
        None => (Vec::new(), None),
    }
}
