//! Trees divided by `join`, which is what rayon is made for.
use peers::forkjoin::{break_even, fib, nqueens, skynet, uts, Children, From, RepeatedSolver, Solver, Tree, Turn};
use peers::protocol::Benchmark;

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
        self.install(|| solve(tree, &tree.root()))
    }
}

impl RepeatedSolver for Pool {
    fn solve_times<T: Tree>(self, tree: &'static T, turn: Turn, from: From) -> (u64, u64) {
        match from {
            From::Worker => self.install(|| turn.timed(|| solve(tree, &tree.root()))),
            From::Outside => turn.timed(|| self.solve(tree)),
        }
    }
}

/// `join` on halves of the children, down to one: what rayon's parallel iterators do with a slice.
fn solve<T: Tree>(tree: &T, node: &T::Node) -> u64 {
    let children = tree.children(node);
    tree.value(node) + if children.all().is_empty() { 0 } else { solve_all(tree, children.all()) }
}

fn solve_all<T: Tree>(tree: &T, nodes: &[T::Node]) -> u64 {
    let (left, right) = match *nodes {
        [node] => return solve(tree, &node),
        // No list is left for a thief to read, and no call is between the fork and its node.
        [left, right] => rayon::join(move || solve(tree, &left), move || solve(tree, &right)),
        _ => {
            let (left, right) = nodes.split_at(nodes.len() / 2);
            rayon::join(|| solve_all(tree, left), || solve_all(tree, right))
        }
    };
    left + right
}
