//! Trees whose nodes contribute to one sum, as in ForkJoinTree.swift. How a scheduler runs the tasks of one is the solver's.
use crate::protocol::{check, now, Counters, Elapsed, Failure, Measure, Reading, Request};

pub trait Tree: Sync + 'static {
    type Node: Copy + Send + Sync + Default + 'static;
    const MOST_CHILDREN: usize;

    fn root(&self) -> Self::Node;
    fn value(&self, node: &Self::Node) -> u64;
    /// Fills in the children and gives their number; 0 for a leaf.
    fn children(&self, node: &Self::Node, into: &mut [Self::Node]) -> usize;
}

/// The most children a node of any tree has.
pub const MOST: usize = 100;

/// A way to run the tasks of a tree.
pub trait Solver: Copy + 'static {
    /// The sum over all nodes of the tree.
    fn solve<T: Tree>(self, tree: &'static T) -> u64;
}

/// Plain recursion on one thread: the sum, and the number of nodes.
fn serial<T: Tree>(tree: &T, node: &T::Node) -> (u64, u64) {
    let mut children = [T::Node::default(); MOST];
    let count = tree.children(node, &mut children[..T::MOST_CHILDREN]);
    children[..count].iter().fold((tree.value(node), 1), |(sum, tasks), child| {
        let (below, more) = serial(tree, child);
        (sum + below, tasks + more)
    })
}

struct Fib(u32);

impl Tree for Fib {
    type Node = u32;
    const MOST_CHILDREN: usize = 2;

    fn root(&self) -> u32 {
        self.0
    }
    fn value(&self, node: &u32) -> u64 {
        if *node < 2 { *node as u64 } else { 0 }
    }
    fn children(&self, node: &u32, into: &mut [u32]) -> usize {
        if *node < 2 {
            return 0;
        }
        into.copy_from_slice(&[node - 1, node - 2]);
        2
    }
}

struct Skynet(u64);

impl Tree for Skynet {
    /// The first leaf and their number.
    type Node = (u64, u64);
    const MOST_CHILDREN: usize = 10;

    fn root(&self) -> (u64, u64) {
        (0, self.0)
    }
    fn value(&self, node: &(u64, u64)) -> u64 {
        if node.1 == 1 { node.0 } else { 0 }
    }
    fn children(&self, node: &(u64, u64), into: &mut [(u64, u64)]) -> usize {
        if node.1 == 1 {
            return 0;
        }
        let share = node.1 / 10;
        for (index, child) in into.iter_mut().enumerate() {
            *child = (node.0 + index as u64 * share, share);
        }
        10
    }
}

struct Queens(u32);

#[derive(Clone, Copy, Default)]
struct Board {
    row: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Tree for Queens {
    type Node = Board;
    const MOST_CHILDREN: usize = 32;

    fn root(&self) -> Board {
        Board::default()
    }
    fn value(&self, node: &Board) -> u64 {
        (node.row == self.0) as u64
    }
    fn children(&self, node: &Board, into: &mut [Board]) -> usize {
        if node.row == self.0 {
            return 0;
        }
        let mut free = !(node.columns | node.left | node.right) & ((1 << self.0) - 1);
        let mut count = 0;
        while free != 0 {
            let square = free & free.wrapping_neg();
            free ^= square;
            into[count] = Board {
                row: node.row + 1,
                columns: node.columns | square,
                left: (node.left | square) << 1,
                right: (node.right | square) >> 1,
            };
            count += 1;
        }
        count
    }
}

/// SHA-1 (FIPS 180-4) of one block, which defines the random numbers of Unbalanced Tree Search.
fn sha1(message: &[u32]) -> [u32; 5] {
    let mut block = [0_u32; 16];
    block[..message.len()].copy_from_slice(message);
    block[message.len()] = 0x8000_0000;
    block[15] = message.len() as u32 * 32;
    let start = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let [mut a, mut b, mut c, mut d, mut e] = start;
    for round in 0..80 {
        if round >= 16 {
            let word = block[(round - 3) & 15] ^ block[(round - 8) & 15] ^ block[(round - 14) & 15] ^ block[round & 15];
            block[round & 15] = word.rotate_left(1);
        }
        let mixed = match round {
            0..=19 => (b & c | !b & d).wrapping_add(0x5a82_7999),
            20..=39 => (b ^ c ^ d).wrapping_add(0x6ed9_eba1),
            40..=59 => (b & c | b & d | c & d).wrapping_add(0x8f1b_bcdc),
            _ => (b ^ c ^ d).wrapping_add(0xca62_c1d6),
        };
        let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(block[round & 15]);
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
    }
    let end = [a, b, c, d, e];
    std::array::from_fn(|word| start[word].wrapping_add(end[word]))
}

/// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift.
struct GeometricTree {
    depth: u32,
    cutoff: u32,
    logarithm: f64,
}

#[derive(Clone, Copy, Default)]
struct State {
    words: [u32; 5],
    depth: u32,
}

impl GeometricTree {
    fn branches(&self, node: &State) -> usize {
        if node.depth >= self.depth {
            return 0;
        }
        let uniform = (node.words[4] & 0x7fff_ffff) as f64 / 2_147_483_648.0;
        (((1.0 - uniform).ln() / self.logarithm) as usize).min(MOST)
    }
    fn child(node: &State, index: usize) -> State {
        let [a, b, c, d, e] = node.words;
        State { words: sha1(&[a, b, c, d, e, index as u32]), depth: node.depth + 1 }
    }
    fn nodes(&self, node: &State) -> u64 {
        1 + (0..self.branches(node)).map(|index| self.nodes(&Self::child(node, index))).sum::<u64>()
    }
}

impl Tree for GeometricTree {
    type Node = State;
    const MOST_CHILDREN: usize = MOST;

    fn root(&self) -> State {
        State { words: sha1(&[0, 0, 0, 0, 19]), depth: 0 }
    }
    fn value(&self, node: &State) -> u64 {
        if node.depth < self.cutoff { 1 } else { self.nodes(node) }
    }
    fn children(&self, node: &State, into: &mut [State]) -> usize {
        if node.depth >= self.cutoff {
            return 0;
        }
        let count = self.branches(node);
        for (index, child) in into[..count].iter_mut().enumerate() {
            *child = Self::child(node, index);
        }
        count
    }
}

fn fork_join<T: Tree>(request: &Request, solver: impl Solver, tree: T) -> Result<Measure, Failure> {
    let tasks = request.positive("tasks")?;
    let expected: u64 = request.number("expected")?;
    let tree: &'static T = Box::leak(Box::new(tree));
    // The median of at least three runs and two milliseconds.
    let mut times = Vec::new();
    let begin = now();
    let since = |start| now() - start;
    while times.is_empty() || since(begin) < 500_000_000 && (times.len() < 3 || since(begin) < 2_000_000) {
        let start = now();
        // SAFETY: reads a local, so that the optimiser does not know that it is the same tree again.
        let root = unsafe { std::ptr::read_volatile(&tree.root()) };
        let (found, nodes) = serial(tree, &root);
        times.push(since(start) as f64);
        check(found == expected && nodes == tasks as u64, || {
            format!("plain recursion gives {found} with {nodes} tasks instead of {expected} with {tasks}")
        })?;
    }
    times.sort_by(f64::total_cmp);
    let alone = (times[(times.len() - 1) / 2] + times[times.len() / 2]) / 2.0;
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let start = Counters::read();
            let found = solver.solve(tree);
            elapsed.add(start);
            check(found == expected, || format!("the result is {found} instead of {expected}"))?;
        }
        let mut readings = elapsed.readings(tasks * repeats, 0);
        readings.push(Reading::new("speedup", "ratio", alone * repeats as f64 / elapsed.0.wall as f64, repeats));
        Ok(readings)
    }))
}

pub fn fib(request: &Request, solver: impl Solver) -> Result<Measure, Failure> {
    fork_join(request, solver, Fib(request.number("param.n")?))
}

pub fn skynet(request: &Request, solver: impl Solver) -> Result<Measure, Failure> {
    fork_join(request, solver, Skynet(request.number("param.leaves")?))
}

pub fn nqueens(request: &Request, solver: impl Solver) -> Result<Measure, Failure> {
    fork_join(request, solver, Queens(request.number("param.n")?))
}

pub fn uts(request: &Request, solver: impl Solver) -> Result<Measure, Failure> {
    let (depth, cutoff) = (request.number("param.depth")?, request.number("param.cutoff")?);
    fork_join(request, solver, GeometricTree { depth, cutoff, logarithm: (1.0 - 1.0 / (1.0 + 4.0_f64)).ln() })
}
