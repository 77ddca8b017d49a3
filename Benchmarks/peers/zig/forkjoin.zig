//! Trees whose nodes contribute to one sum, as in ForkJoinTree.swift, on the forks of forks.zig.
//!
//! A process solves one tree. So its parameters, such as the depth, are variables of the tree's type, and not fields.
//! The children of a node are made one after the other: `next` takes the next child from those that are left.

const std = @import("std");
const forks = @import("forks.zig");
const protocol = @import("protocol.zig");
const work = @import("work.zig");

const gpa = protocol.gpa;
const Link = forks.Link;
const Measure = protocol.Measure;
const Request = protocol.Request;

pub const benchmarks = [_]protocol.Benchmark{
    .{ "forkjoin/break-even", breakEven },
    .{ "forkjoin/fib", fib },
    .{ "forkjoin/skynet", skynet },
    .{ "forkjoin/nqueens", nqueens },
    .{ "forkjoin/uts", uts },
};

/// The first thread of forks.zig is the calling one. There are as many as workers.
pub fn startForks(request: Request) !void {
    forks.start(gpa, try request.positive("workers")) catch |problem|
        return protocol.fail("threads for the workers cannot be made: {t}", .{problem});
}

fn Solver(comptime Tree: type) type {
    return struct {
        const Rest = Tree.Rest;
        const Fork = forks.Fork(Rest, u64, solveRest);

        /// Each child but the last is a call beside the fork of those that are left.
        fn solve(end: *Link, node: Tree.Node) u64 {
            const rest = Tree.children(node) orelse return Tree.value(node);
            return Tree.inner + @call(.always_inline, solveRest, .{ end, rest });
        }

        fn solveRest(end: *Link, children: Rest) u64 {
            var rest = children;
            var sum: u64 = 0;
            while (true) {
                const child = Tree.next(&rest);
                if (Tree.isEmpty(rest)) return sum + solve(end, child);
                var fork: Fork = undefined;
                fork.offer(end, rest);
                sum += solve(&fork.link, child);
                if (fork.isGiven()) return sum + fork.join(end);
            }
        }

        /// Plain recursion in one thread. It goes on with the last child, as `solveRest` does: the compiler needs no
        /// call for that child.
        fn serial(node: Tree.Node) u64 {
            var rest = Tree.children(node) orelse return Tree.value(node);
            var sum: u64 = Tree.inner;
            while (true) {
                const child = Tree.next(&rest);
                if (Tree.isEmpty(rest)) return sum + serial(child);
                sum += serial(child);
            }
        }

        fn taskCount(node: Tree.Node) u64 {
            var rest = Tree.children(node) orelse return 1;
            var tasks: u64 = 1;
            while (true) {
                tasks += taskCount(Tree.next(&rest));
                if (Tree.isEmpty(rest)) return tasks;
            }
        }
    };
}

const Fib = struct {
    const Node = u32;
    /// The next child and the last.
    const Rest = struct { next: u32, last: u32 };
    /// What a node with children contributes itself.
    const inner = 0;

    fn value(n: u32) u64 {
        return n;
    }

    fn children(n: u32) ?Rest {
        return if (n < 2) null else .{ .next = n - 1, .last = n - 2 };
    }

    fn next(rest: *Rest) u32 {
        defer rest.next -%= 1;
        return rest.next;
    }

    fn isEmpty(rest: Rest) bool {
        return rest.next +% 1 == rest.last;
    }
};

fn fib(request: Request) !Measure {
    return forkJoin(request, Fib, try request.small("param.n", 90));
}

const Skynet = struct {
    const Node = struct { first: u64, leaves: u64 };
    const Rest = struct { first: u64, share: u64, count: u32 };
    const inner = 0;

    fn value(node: Node) u64 {
        return node.first;
    }

    fn children(node: Node) ?Rest {
        return if (node.leaves <= 1) null else .{ .first = node.first, .share = node.leaves / 10, .count = 10 };
    }

    fn next(rest: *Rest) Node {
        defer rest.first += rest.share;
        rest.count -= 1;
        return .{ .first = rest.first, .leaves = rest.share };
    }

    fn isEmpty(rest: Rest) bool {
        return rest.count == 0;
    }
};

fn skynet(request: Request) !Measure {
    return forkJoin(request, Skynet, .{ .first = 0, .leaves = try request.count("param.leaves") });
}

const Queens = struct {
    const Node = struct { row: u32, columns: u32, left: u32, right: u32 };
    /// A placement, and the squares of its row that are still to be tried.
    const Rest = struct { board: Node, free: u32 };
    const inner = 0;
    var n: u32 = undefined;

    /// A node without children has all its queens, or no square for the next one.
    fn value(board: Node) u64 {
        return @intFromBool(board.row == n);
    }

    fn children(board: Node) ?Rest {
        if (board.row == n) return null;
        const free = ~(board.columns | board.left | board.right) & ((@as(u32, 1) << @intCast(n)) - 1);
        return if (free == 0) null else .{ .board = board, .free = free };
    }

    fn next(rest: *Rest) Node {
        const square = rest.free & (~rest.free +% 1);
        rest.free ^= square;
        const board = rest.board;
        return .{
            .row = board.row + 1,
            .columns = board.columns | square,
            .left = (board.left | square) << 1,
            .right = (board.right | square) >> 1,
        };
    }

    fn isEmpty(rest: Rest) bool {
        return rest.free == 0;
    }
};

fn nqueens(request: Request) !Measure {
    Queens.n = try request.small("param.n", 31);
    return forkJoin(request, Queens, .{ .row = 0, .columns = 0, .left = 0, .right = 0 });
}

/// A node of Unbalanced Tree Search; see CWorkloads, whose machine code all languages link.
const UtsNode = extern struct { words: [5]u32, depth: u32 };

extern fn uts_root(seed: u32) UtsNode;
extern fn uts_child(parent: UtsNode, index: u32) UtsNode;
extern fn uts_children(node: UtsNode, depth: u32) u32;
extern fn uts_nodes(node: UtsNode, depth: u32) u64;

/// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift.
const Uts = struct {
    const Node = UtsNode;
    const Rest = struct { parent: Node, next: u32, count: u32 };
    const inner = 1;
    var depth: u32 = undefined;
    var cutoff: u32 = undefined;

    /// A node deeper than the cutoff belongs to the task of its ancestor there.
    fn value(node: Node) u64 {
        return if (node.depth < cutoff) 1 else uts_nodes(node, depth);
    }

    fn children(node: Node) ?Rest {
        const count = if (node.depth < cutoff) uts_children(node, depth) else 0;
        return if (count == 0) null else .{ .parent = node, .next = 0, .count = count };
    }

    fn next(rest: *Rest) Node {
        defer rest.next += 1;
        return uts_child(rest.parent, rest.next);
    }

    fn isEmpty(rest: Rest) bool {
        return rest.next == rest.count;
    }
};

fn uts(request: Request) !Measure {
    Uts.depth = try request.small("param.depth", std.math.maxInt(u16));
    Uts.cutoff = try request.small("param.cutoff", std.math.maxInt(u16));
    return forkJoin(request, Uts, uts_root(19));
}

/// Bodies of one length, divided into halves; see ForkBreakEven.swift.
const Halving = struct {
    const Node = struct { first: u64, bodies: u64 };
    /// Both halves, or the second one.
    const Rest = struct { first: u64, bodies: u64, half: u64 };
    const inner = 0;
    var rounds: u64 = undefined;

    fn value(node: Node) u64 {
        if (rounds > 0) work.spin(rounds);
        return node.first;
    }

    fn children(node: Node) ?Rest {
        return if (node.bodies == 1) null else .{ .first = node.first, .bodies = node.bodies, .half = node.bodies / 2 };
    }

    fn next(rest: *Rest) Node {
        const child: Node = .{ .first = rest.first, .bodies = rest.half };
        rest.first += rest.half;
        rest.bodies -= rest.half;
        rest.half = rest.bodies;
        return child;
    }

    fn isEmpty(rest: Rest) bool {
        return rest.bodies == 0;
    }
};

/// Solves the problems of a sweep by plain recursion and by forks, by turns, as BreakEvenSweep does in Swift. opbench
/// derives where forking pays from the times. The calling thread is one like any other, so `from` changes nothing.
const BreakEven = struct {
    const Problem = struct { bodies: u64, rounds: u64, detail: []const u8 };
    const Way = enum { alone, forked };

    problems: []Problem,
    least: f64,
    turns: u64,
    /// For how long to be busy behind each solution, while other threads fall asleep; in nanoseconds.
    pause: u64,
    /// How often to solve a problem in a turn at most.
    most: u64,

    /// The nanoseconds of one solution.
    fn time(own: *const BreakEven, problem: Problem, times: u64, way: Way) !f64 {
        Halving.rounds = problem.rounds;
        var sum: u64 = 0;
        var paused: u64 = 0;
        const start = protocol.now();
        for (0..times) |_| {
            const root: Halving.Node = .{ .first = 0, .bodies = work.opaqued(problem.bodies) };
            sum += switch (way) {
                .alone => Solver(Halving).serial(root),
                .forked => Solver(Halving).solve(forks.outermost(), root),
            };
            if (own.pause > 0) {
                const solved = protocol.now();
                while (protocol.now() - solved < own.pause) {}
                paused += protocol.now() - solved;
            }
        }
        const took = @max(1, protocol.now() - start - paused);
        const expected = problem.bodies * (problem.bodies - 1) / 2 * times;
        if (sum != expected) return protocol.fail("the result is {d} instead of {d}", .{ sum, expected });
        return protocol.ratio(took, times);
    }

    /// How often to solve a problem, so that the time is filled.
    fn often(own: *BreakEven, problem: Problem, way: Way) !u64 {
        var times: u64 = 1;
        while (true) {
            const needed = std.math.lossyCast(u64, @ceil(own.least / try own.time(problem, times, way)));
            const wanted = std.math.clamp(needed, 1, own.most);
            if (wanted <= times) return wanted;
            times = @min(wanted, times * 10);
        }
    }

    pub fn measure(own: *BreakEven, sweeps: u64, readings: *protocol.Readings) !void {
        for (own.problems) |problem| {
            const few = try own.often(problem, .alone);
            const many = try own.often(problem, .forked);
            const turns = own.turns * sweeps;
            const plain = try gpa.alloc(f64, turns);
            const forked = try gpa.alloc(f64, turns);
            for (plain, forked) |*one, *other| {
                one.* = try own.time(problem, few, .alone);
                other.* = try own.time(problem, many, .forked);
            }
            for ([_][]const u8{ "serial_ns", "makespan_ns" }, [_][]f64{ plain, forked }) |metric, values| {
                try readings.append(gpa, .{
                    .metric = metric,
                    .unit = "ns",
                    .value = protocol.median(values),
                    .count = problem.bodies,
                    .detail = problem.detail,
                });
            }
        }
    }
};

fn breakEven(request: Request) !Measure {
    _ = try request.choice("param.from", "worker", "outside");
    const rate = try request.number("rounds_per_microsecond");
    var problems: std.ArrayList(BreakEven.Problem) = .empty;
    var texts = std.mem.splitScalar(u8, try request.text("sweep_problems"), ',');
    while (texts.next()) |text| {
        const count, const body = std.mem.cutScalar(u8, text, ':') orelse .{ "", "" };
        const bodies = protocol.parseCount(u32, count) orelse 0;
        const nanoseconds = protocol.parseNumber(body);
        if (bodies == 0 or nanoseconds == null) return protocol.fail("'{s}' is no problem", .{text});
        try problems.append(gpa, .{
            .bodies = bodies,
            .rounds = work.roundsFor(nanoseconds.?, rate),
            .detail = try std.fmt.allocPrint(gpa, "bodies={s};body_ns={s}", .{ count, body }),
        });
    }
    const sweep: BreakEven = .{
        .problems = problems.items,
        .least = try request.number("sweep_least"),
        .turns = try request.positive("sweep_turns"),
        .pause = try request.count("sweep_pause"),
        .most = try request.positive("sweep_most"),
    };
    try startForks(request);
    return .of(sweep);
}

fn forkJoin(request: Request, comptime Tree: type, root: Tree.Node) !Measure {
    const Problem = struct {
        root: Tree.Node,
        expected: u64,

        pub fn prepare(_: *@This()) !void {}

        pub fn alone(own: *@This()) u64 {
            return Solver(Tree).serial(work.opaqued(own.root));
        }

        pub fn together(own: *@This()) u64 {
            return Solver(Tree).solve(forks.outermost(), work.opaqued(own.root));
        }

        pub fn verify(own: *@This(), found: u64) !void {
            if (found != own.expected) {
                return protocol.fail("the result is {d} instead of {d}", .{ found, own.expected });
            }
        }
    };
    const tasks = try request.positive("tasks");
    const expected = try request.count("expected");
    if (Solver(Tree).taskCount(root) != tasks) {
        return protocol.fail("the tree has another number of tasks than {d}", .{tasks});
    }
    return besideOneThread(request, tasks, Problem{ .root = root, .expected = expected });
}

/// A measure with the speed-up over one thread: `alone` and `together` each make a result of what `prepare` has made
/// ready, and `verify` checks the result. Only they are timed.
pub fn besideOneThread(request: Request, operations: u64, problem: anytype) !Measure {
    const Problem = @TypeOf(problem);
    const Beside = struct {
        operations: u64,
        problem: Problem,
        alone: f64 = undefined,

        /// The median of at least three runs and two milliseconds.
        fn timeAlone(own: *@This()) !void {
            var times: std.ArrayList(f64) = .empty;
            const born = protocol.now();
            while (true) {
                try own.problem.prepare();
                const start = protocol.now();
                const output = own.problem.alone();
                try times.append(gpa, @floatFromInt(protocol.now() - start));
                try own.problem.verify(output);
                const passed = protocol.now() - born;
                if (passed >= 500_000_000 or times.items.len >= 3 and passed >= 2_000_000) break;
            }
            own.alone = protocol.median(times.items);
        }

        pub fn measure(own: *@This(), repeats: u64, readings: *protocol.Readings) !void {
            var elapsed: protocol.Elapsed = .{};
            for (0..repeats) |_| {
                try own.problem.prepare();
                const start: protocol.Counters = .read();
                const output = own.problem.together();
                elapsed.add(start);
                try own.problem.verify(output);
            }
            try elapsed.report(readings, own.operations * repeats, 0);
            try readings.append(gpa, .{
                .metric = "speedup",
                .unit = "ratio",
                .value = own.alone / protocol.ratio(elapsed.sum.wall, repeats),
                .count = repeats,
            });
        }
    };
    var beside: Beside = .{ .operations = operations, .problem = problem };
    try beside.timeAlone();
    try startForks(request);
    return .of(beside);
}
