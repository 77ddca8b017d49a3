//! Trees whose nodes contribute to one sum, as in ForkJoinTree.swift. How a scheduler runs the tasks of one is the
//! solver's.
use std::mem::MaybeUninit;

use crate::protocol::{check, now, Counters, Elapsed, Failure, Measure, Reading, Request};
use crate::work::{rounds_for, spin};

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

/// A node of Unbalanced Tree Search; see CWorkloads, whose machine code all languages link.
#[repr(C)]
#[derive(Clone, Copy)]
struct UtsNode {
    words: [u32; 5],
    depth: u32,
}

#[link(name = "workloads", kind = "static")]
extern "C" {
    fn uts_root(seed: u32) -> UtsNode;
    fn uts_child(parent: UtsNode, index: u32) -> UtsNode;
    fn uts_children(node: UtsNode, depth: u32) -> u32;
    fn uts_nodes(node: UtsNode, depth: u32) -> u64;
}

/// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift.
struct GeometricTree {
    depth: u32,
    cutoff: u32,
}

impl Tree for GeometricTree {
    type Node = UtsNode;
    type Children = AtMost<UtsNode, 100>;

    fn root(&self) -> UtsNode {
        // SAFETY: these functions take and return values, and keep nothing.
        unsafe { uts_root(19) }
    }
    fn value(&self, node: &UtsNode) -> u64 {
        if node.depth < self.cutoff { 1 } else { unsafe { uts_nodes(*node, self.depth) } }
    }
    fn for_each_child(&self, node: &UtsNode, mut body: impl FnMut(UtsNode)) {
        if node.depth < self.cutoff {
            let count = unsafe { uts_children(*node, self.depth) };
            (0..count).for_each(|index| body(unsafe { uts_child(*node, index) }));
        }
    }
}

/// Bodies of one length, divided into halves; see ForkBreakEven.swift.
pub struct Halving {
    bodies: u64,
    rounds: u64,
}

impl Tree for Halving {
    /// The first body and their number.
    type Node = (u64, u64);
    type Children = AtMost<(u64, u64), 2>;

    fn root(&self) -> (u64, u64) {
        (0, self.bodies)
    }
    #[inline(always)]
    fn value(&self, node: &(u64, u64)) -> u64 {
        if node.1 > 1 {
            return 0;
        }
        if self.rounds > 0 {
            spin(self.rounds);
        }
        node.0
    }
    #[inline(always)]
    fn for_each_child(&self, node: &(u64, u64), mut body: impl FnMut((u64, u64))) {
        if node.1 > 1 {
            let half = node.1 / 2;
            body((node.0, half));
            body((node.0 + half, node.1 - half));
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// Where the problems of a sweep come from.
#[derive(Clone, Copy, PartialEq)]
pub enum From {
    Worker,
    Outside,
}

/// How often to solve a problem, and how long to be busy behind each solution, in nanoseconds.
#[derive(Clone, Copy)]
pub struct Turn {
    pub times: u64,
    pub pause: u64,
}

impl Turn {
    /// The nanoseconds that the solutions took, and the sum of all results.
    pub fn timed(self, mut solve: impl FnMut() -> u64) -> (u64, u64) {
        let (start, mut sum, mut paused) = (now(), 0, 0);
        for _ in 0..self.times {
            sum += solve();
            paused += self.idle();
        }
        (now() - start - paused, sum)
    }

    /// Is busy while other threads fall asleep. Returns the nanoseconds that this took.
    #[inline(always)]
    pub fn idle(self) -> u64 {
        if self.pause == 0 {
            return 0;
        }
        let start = now();
        while now() - start < self.pause {}
        now() - start
    }
}

/// A way to run the problems of a sweep.
pub trait RepeatedSolver: Solver {
    /// Solves the tree some times; the nanoseconds that the solutions took, and the sum of all results.
    fn solve_times<T: Tree>(self, tree: &'static T, turn: Turn, from: From) -> (u64, u64);
}

/// Solves the problems of a sweep by plain recursion and by the solver, by turns, as BreakEvenSweep does in Swift.
/// opbench derives where forking pays from the times.
pub fn break_even(request: &Request, solver: impl RepeatedSolver) -> Result<Measure, Failure> {
    let from = match request.text("param.from")? {
        "worker" => From::Worker,
        "outside" => From::Outside,
        other => return Err(format!("from is worker or outside, not {other}")),
    };
    let least: f64 = request.number("sweep_least")?;
    let turns = request.positive("sweep_turns")?;
    let pause: u64 = request.number("sweep_pause")?;
    let most = request.positive("sweep_most")? as u64;
    let rate: f64 = request.number("rounds_per_microsecond")?;
    let mut trees: Vec<(&'static Halving, String)> = Vec::new();
    for problem in request.text("sweep_problems")?.split(',') {
        let read = |text: &str| {
            let (bodies, body) = text.split_once(':')?;
            Some((bodies.parse::<u64>().ok().filter(|bodies| *bodies > 0)?, body.parse::<f64>().ok()?, body.to_string()))
        };
        let (bodies, nanoseconds, body) = read(problem).ok_or_else(|| format!("'{problem}' is no problem"))?;
        let tree = Halving { bodies, rounds: rounds_for(nanoseconds, rate) };
        trees.push((Box::leak(Box::new(tree)), format!("bodies={bodies};body_ns={body}")));
    }
    Ok(Box::new(move |sweeps| {
        let mut readings = Vec::new();
        for (tree, detail) in &trees {
            let alone = |turn| solve_alone(*tree, turn);
            let forked = |turn| solver.solve_times(*tree, turn, from);
            let turn = |times| Turn { times, pause };
            let few = turn(times(tree, least, most, turn, alone)?);
            let many = turn(times(tree, least, most, turn, forked)?);
            let (mut plain, mut by_turns) = (Vec::new(), Vec::new());
            for _ in 0..turns * sweeps {
                plain.push(time(tree, few, alone)?);
                by_turns.push(time(tree, many, forked)?);
            }
            for (metric, values) in [("serial_ns", plain), ("makespan_ns", by_turns)] {
                let mut reading = Reading::new(metric, "ns", median(values), tree.bodies as usize);
                reading.detail = detail.clone();
                readings.push(reading);
            }
        }
        Ok(readings)
    }))
}

fn solve_alone(tree: &Halving, turn: Turn) -> (u64, u64) {
    turn.timed(|| {
        // SAFETY: reads a local, so that the optimiser does not know that it is the same tree again.
        let root = unsafe { std::ptr::read_volatile(&tree.root()) };
        serial(tree, &root)
    })
}

/// How often to solve a problem, so that the time is filled.
fn times(
    tree: &Halving, least: f64, most: u64, turn: impl Fn(u64) -> Turn, solve: impl Fn(Turn) -> (u64, u64) + Copy,
) -> Result<u64, Failure> {
    let mut times = 1;
    loop {
        let needed = ((least / time(tree, turn(times), solve)?).ceil() as u64).clamp(1, most);
        if needed <= times {
            return Ok(needed);
        }
        times = needed.min(times * 10);
    }
}

/// The nanoseconds of one solution.
fn time(tree: &Halving, turn: Turn, solve: impl Fn(Turn) -> (u64, u64)) -> Result<f64, Failure> {
    let (nanoseconds, sum) = solve(turn);
    let expected = tree.bodies * (tree.bodies - 1) / 2 * turn.times;
    check(sum == expected, || format!("the result is {sum} instead of {expected}"))?;
    Ok(nanoseconds.max(1) as f64 / turn.times as f64)
}

fn fork_join<T: Tree>(request: &Request, solver: impl Solver, tree: T) -> Result<Measure, Failure> {
    let tasks = request.positive("tasks")?;
    let expected: u64 = request.number("expected")?;
    let tree: &'static T = Box::leak(Box::new(tree));
    check(task_count(tree, &tree.root()) == tasks, || format!("the tree has another number of tasks than {tasks}"))?;
    let verify = move |found| check(found == expected, || format!("the result is {found} instead of {expected}"));
    let plain = move || {
        // SAFETY: reads a local, so that the optimiser does not know that it is the same tree again.
        let root = unsafe { std::ptr::read_volatile(&tree.root()) };
        serial(tree, &root)
    };
    beside_one_thread(tasks, || (), move |()| plain(), move |()| solver.solve(tree), verify)
}

/// A measure with the speed-up over one thread: `alone` and `together` each make a result of what `prepare` makes, and
/// `verify` checks the result. Only they are timed.
pub fn beside_one_thread<Input: 'static, Output: 'static>(
    operations: usize,
    prepare: impl Fn() -> Input + 'static,
    alone: impl Fn(Input) -> Output,
    together: impl Fn(Input) -> Output + 'static,
    verify: impl Fn(Output) -> Result<(), Failure> + 'static,
) -> Result<Measure, Failure> {
    // The median of at least five runs and two milliseconds: the first two may be dearer, because they take memory that
    // is new to the process.
    let mut times = Vec::new();
    let begin = now();
    let since = |start| now() - start;
    while times.is_empty() || since(begin) < 500_000_000 && (times.len() < 5 || since(begin) < 2_000_000) {
        let input = prepare();
        let start = now();
        let output = alone(input);
        times.push(since(start) as f64);
        verify(output).map_err(|failure| format!("on one thread {failure}"))?;
    }
    let alone = median(times);
    Ok(Box::new(move |repeats| {
        let mut elapsed = Elapsed::default();
        for _ in 0..repeats {
            let input = prepare();
            let start = Counters::read();
            let output = together(input);
            elapsed.add(start);
            verify(output)?;
        }
        let mut readings = elapsed.readings(operations * repeats, 0);
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
    fork_join(request, solver, GeometricTree { depth, cutoff })
}
