//! Trees whose nodes contribute to one sum, as in ForkJoinTree.swift. How a scheduler runs the tasks of one is the solver's.
use std::mem::MaybeUninit;

use crate::protocol::{check, now, Counters, Elapsed, Failure, Measure, Reading, Request};

pub trait Tree: Sync + 'static {
    type Node: Copy + Send + Sync + 'static;
    /// Room for the children of a node, as many as a node of this tree has at most.
    type Children: Children<Self::Node>;

    fn root(&self) -> Self::Node;
    fn value(&self, node: &Self::Node) -> u64;
    /// Calls `body` for each child; never for a leaf.
    fn for_each_child(&self, node: &Self::Node, body: impl FnMut(Self::Node));
    /// The children, where they are needed side by side.
    fn children(&self, node: &Self::Node) -> Self::Children {
        let mut children = Self::Children::none();
        self.for_each_child(node, |child| children.push(child));
        children
    }
}

/// A list of nodes that needs no heap.
pub trait Children<Node> {
    fn none() -> Self;
    fn push(&mut self, node: Node);
    fn all(&self) -> &[Node];
}

/// Writes only the places of the nodes that there are: filling all places would cost more than most nodes.
pub struct AtMost<Node, const MOST: usize> {
    count: usize,
    places: [MaybeUninit<Node>; MOST],
}

impl<Node: Copy, const MOST: usize> Children<Node> for AtMost<Node, MOST> {
    #[inline(always)]
    fn none() -> Self {
        AtMost { count: 0, places: [MaybeUninit::uninit(); MOST] }
    }
    #[inline(always)]
    fn push(&mut self, node: Node) {
        self.places[self.count] = MaybeUninit::new(node);
        self.count += 1;
    }
    #[inline(always)]
    fn all(&self) -> &[Node] {
        // SAFETY: `push` has written the first `count` places, and MaybeUninit<Node> is laid out as Node.
        unsafe { std::slice::from_raw_parts(self.places.as_ptr().cast(), self.count) }
    }
}

/// A way to run the tasks of a tree.
pub trait Solver: Copy + 'static {
    /// The sum over all nodes of the tree.
    fn solve<T: Tree>(self, tree: &'static T) -> u64;
}

/// Plain recursion on one thread, a call for each node.
#[inline(never)]
fn serial<T: Tree>(tree: &T, node: &T::Node) -> u64 {
    let mut sum = tree.value(node);
    tree.for_each_child(node, |child| sum += serial(tree, &child));
    sum
}

fn task_count<T: Tree>(tree: &T, node: &T::Node) -> usize {
    let mut tasks = 1;
    tree.for_each_child(node, |child| tasks += task_count(tree, &child));
    tasks
}

struct Fib(u32);

impl Tree for Fib {
    type Node = u32;
    type Children = AtMost<u32, 2>;

    fn root(&self) -> u32 {
        self.0
    }
    fn value(&self, node: &u32) -> u64 {
        if *node < 2 { *node as u64 } else { 0 }
    }
    #[inline(always)]
    fn for_each_child(&self, node: &u32, mut body: impl FnMut(u32)) {
        if *node >= 2 {
            body(node - 1);
            body(node - 2);
        }
    }
}

struct Skynet(u64);

impl Tree for Skynet {
    /// The first leaf and their number.
    type Node = (u64, u64);
    type Children = AtMost<(u64, u64), 10>;

    fn root(&self) -> (u64, u64) {
        (0, self.0)
    }
    fn value(&self, node: &(u64, u64)) -> u64 {
        if node.1 == 1 { node.0 } else { 0 }
    }
    #[inline(always)]
    fn for_each_child(&self, node: &(u64, u64), mut body: impl FnMut((u64, u64))) {
        if node.1 > 1 {
            let share = node.1 / 10;
            for index in 0..10 {
                body((node.0 + index * share, share));
            }
        }
    }
}

struct Queens(u32);

#[derive(Clone, Copy)]
struct Board {
    row: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Tree for Queens {
    type Node = Board;
    type Children = AtMost<Board, 32>;

    fn root(&self) -> Board {
        Board { row: 0, columns: 0, left: 0, right: 0 }
    }
    fn value(&self, node: &Board) -> u64 {
        (node.row == self.0) as u64
    }
    #[inline(always)]
    fn for_each_child(&self, node: &Board, mut body: impl FnMut(Board)) {
        if node.row == self.0 {
            return;
        }
        let mut free = !(node.columns | node.left | node.right) & ((1 << self.0) - 1);
        while free != 0 {
            let square = free & free.wrapping_neg();
            free ^= square;
            body(Board {
                row: node.row + 1,
                columns: node.columns | square,
                left: (node.left | square) << 1,
                right: (node.right | square) >> 1,
            });
        }
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

#[derive(Clone, Copy)]
struct State {
    words: [u32; 5],
    depth: u32,
}

impl GeometricTree {
    const MOST_CHILDREN: usize = 100;

    fn branches(&self, node: &State) -> usize {
        if node.depth >= self.depth {
            return 0;
        }
        let uniform = (node.words[4] & 0x7fff_ffff) as f64 / 2_147_483_648.0;
        (((1.0 - uniform).ln() / self.logarithm) as usize).min(Self::MOST_CHILDREN)
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
    type Children = AtMost<State, { GeometricTree::MOST_CHILDREN }>;

    fn root(&self) -> State {
        State { words: sha1(&[0, 0, 0, 0, 19]), depth: 0 }
    }
    fn value(&self, node: &State) -> u64 {
        if node.depth < self.cutoff { 1 } else { self.nodes(node) }
    }
    fn for_each_child(&self, node: &State, mut body: impl FnMut(State)) {
        if node.depth < self.cutoff {
            (0..self.branches(node)).for_each(|index| body(Self::child(node, index)));
        }
    }
}

fn fork_join<T: Tree>(request: &Request, solver: impl Solver, tree: T) -> Result<Measure, Failure> {
    let tasks = request.positive("tasks")?;
    let expected: u64 = request.number("expected")?;
    let tree: &'static T = Box::leak(Box::new(tree));
    check(task_count(tree, &tree.root()) == tasks, || format!("the tree has another number of tasks than {tasks}"))?;
    // The median of at least three runs and two milliseconds.
    let mut times = Vec::new();
    let begin = now();
    let since = |start| now() - start;
    while times.is_empty() || since(begin) < 500_000_000 && (times.len() < 3 || since(begin) < 2_000_000) {
        let start = now();
        // SAFETY: reads a local, so that the optimiser does not know that it is the same tree again.
        let root = unsafe { std::ptr::read_volatile(&tree.root()) };
        let found = serial(tree, &root);
        times.push(since(start) as f64);
        check(found == expected, || format!("the result of plain recursion is {found} instead of {expected}"))?;
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
