//! Trees whose tasks await the handles of their children.
use std::future::Future;
use std::pin::Pin;

use peers::forkjoin::{fib, nqueens, skynet, uts, Children, Solver, Tree};
use peers::protocol::Benchmark;
use tokio::task::JoinHandle;

use crate::Pool;

pub const FORK_JOIN: &[Benchmark<Pool>] =
    &[("forkjoin/fib", fib), ("forkjoin/skynet", skynet), ("forkjoin/nqueens", nqueens), ("forkjoin/uts", uts)];

impl Solver for Pool {
    fn solve<T: Tree>(self, tree: &'static T) -> u64 {
        self.block_on(async move { tokio::spawn(solve(tree, tree.root())).await.expect("the root has panicked") })
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

/// Spawns a task for each child but the last, with which the task of its parent goes on. The children stay out of the future,
/// which would be as large as all of them.
fn fork<T: Tree>(tree: &'static T, node: &T::Node) -> (Vec<JoinHandle<u64>>, Option<T::Node>) {
    match tree.children(node).all().split_last() {
        Some((last, others)) => (others.iter().map(|child| tokio::spawn(solve(tree, *child))).collect(), Some(*last)),
        None => (Vec::new(), None),
    }
}
