//! Dependencies as `std.Io` has them: a task waits for the event of each of its inputs, and sets its own.
//!
//! Tasks are added in the order of the graph, so each runs or waits while later ones are still being added. Nothing
//! hangs: the first task that has not ended waits for no other, and has a thread (see overhead.zig). A task that waits
//! keeps its thread, and where that is the adding thread, no other task is added meanwhile. Counting inputs by hand, as
//! other peers do, is no way here: where the pool has no thread free, a task that adds the next one calls it, and a
//! chain would be a recursion as deep as it is long.

const std = @import("std");
const protocol = @import("protocol.zig");
const overhead = @import("overhead.zig");
const Graph = @import("graph.zig").Graph;
const work = @import("work.zig");

const gpa = protocol.gpa;
const Event = std.Io.Event;
const Measure = protocol.Measure;
const Request = protocol.Request;

pub const benchmarks = [_]protocol.Benchmark{
    .{ "dependencies/chain", chain },
    .{ "dependencies/fan-in", fanIn },
    .{ "dependencies/fan-out", shape },
    .{ "dependencies/diamond", shape },
    .{ "dependencies/tree", shape },
    .{ "dependencies/graph", graph },
    .{ "dependencies/metg", metg },
};

/// A chain needs no list of events: a task is behind the one before.
const Chain = struct {
    io: std.Io,
    ended: []Event,
    visited: u64 = 0,
    is_in_order: bool = true,

    fn step(own: *Chain, index: u64) void {
        if (index > 0) own.ended[index - 1].waitUncancelable(own.io);
        if (own.visited != index) own.is_in_order = false;
        own.visited += 1;
        own.ended[index].set(own.io);
    }

    pub fn once(own: *Chain) void {
        @memset(own.ended, .unset);
        var group: std.Io.Group = .init;
        for (0..own.ended.len) |index| group.async(own.io, step, .{ own, index });
        overhead.await(&group, own.io);
    }

    pub fn verify(own: *Chain) !void {
        if (!own.is_in_order or own.visited != own.ended.len) {
            return protocol.fail("a chain ran {d} tasks, or out of order", .{own.visited});
        }
        own.visited = 0;
    }
};

fn chain(request: Request) !Measure {
    const length = try request.positive("param.length");
    const own = try gpa.create(Chain);
    own.* = .{ .ended = try gpa.alloc(Event, length), .io = try overhead.startPool(request) };
    return .rounds(length, length - 1, own);
}

/// The join is what follows the wait for the group.
const FanIn = struct {
    io: std.Io,
    flags: work.Flags,
    seen: u64 = 0,

    pub fn once(own: *FanIn) void {
        var group: std.Io.Group = .init;
        overhead.addAll(own.io, &group, own.flags.words);
        overhead.await(&group, own.io);
        own.seen = own.flags.ran();
    }

    pub fn verify(own: *FanIn) !void {
        if (own.seen != own.flags.words.len) {
            return protocol.fail("the join saw {d} inputs complete", .{own.seen});
        }
        return own.flags.verify();
    }
};

fn fanIn(request: Request) !Measure {
    const width = try request.positive("param.width");
    const own = try gpa.create(FanIn);
    own.* = .{ .flags = try .init(width), .io = try overhead.startPool(request) };
    return .rounds(width + 1, width, own);
}

const GraphRun = struct {
    io: std.Io,
    graph: Graph,
    ended: []Event,
    bound: f64 = 0,
    /// Whether the makespan is of interest.
    is_with_work: bool = false,

    fn init(request: Request) !GraphRun {
        const read: Graph = try .read(try request.text("graph"));
        if (read.inputs.len == 0) return protocol.fail("the graph has no task", .{});
        const ended = try gpa.alloc(Event, read.inputs.len);
        return .{ .graph = read, .ended = ended, .io = try overhead.startPool(request) };
    }

    fn execute(own: *GraphRun, task: u32) void {
        for (own.graph.inputs[task]) |input| own.ended[input].waitUncancelable(own.io);
        own.graph.execute(task);
        own.ended[task].set(own.io);
    }

    /// Runs the graph once; gives the time from the first task added to the end of the last.
    fn once(own: *GraphRun, elapsed: *protocol.Elapsed) !u64 {
        own.graph.begin();
        const start: protocol.Counters = .read();
        @memset(own.ended, .unset);
        const added = protocol.now();
        var group: std.Io.Group = .init;
        for (0..own.ended.len) |task| group.async(own.io, execute, .{ own, @as(u32, @intCast(task)) });
        overhead.await(&group, own.io);
        const makespan = protocol.now() - added;
        elapsed.add(start);
        try own.graph.verify();
        return makespan;
    }

    pub fn measure(own: *GraphRun, repeats: u64, readings: *protocol.Readings) !void {
        var elapsed: protocol.Elapsed = .{};
        var total: u64 = 0;
        for (0..repeats) |_| total += try own.once(&elapsed);
        try elapsed.report(readings, own.ended.len * repeats, own.graph.edges * repeats);
        if (!own.is_with_work) return;
        const makespan = protocol.ratio(total, repeats);
        try readings.append(gpa, .{ .metric = "makespan_ns", .unit = "ns", .value = makespan, .count = repeats });
        if (own.bound > 0) try readings.append(gpa, .{
            .metric = "efficiency",
            .unit = "ratio",
            .value = own.bound / makespan,
            .count = repeats,
        });
    }
};

fn graph(request: Request) !Measure {
    var run: GraphRun = try .init(request);
    run.graph.setWork(1, try request.number("rounds_per_microsecond"));
    run.bound = try request.number("bound_ns");
    run.is_with_work = true;
    return .of(run);
}

/// A graph without work: what a task and a dependency cost.
fn shape(request: Request) !Measure {
    return .of(try GraphRun.init(request));
}

/// The shortest makespan for each granularity, of a graph whose work shrinks from run to run: as
/// GranularitySweep.swift does it, which also gave the limits. opbench derives METG from what is printed here.
const Sweep = struct {
    run: GraphRun,
    rate: f64,
    /// The efficiency of a run whose makespan is its work.
    ideal: f64,
    first: f64,
    largest: f64,
    smallest: f64,
    plenty: f64,
    little: f64,
    enough: f64,
    gain: f64,
    divisor: f64,
    run_time: f64,
    runs: u64,
    attempts: u64,
    low_in_a_row: u64,
    top: f64 = 0,

    fn best(own: *Sweep, size: f64) !f64 {
        own.run.graph.setWork(size, own.rate);
        var shortest = std.math.inf(f64);
        var total: f64 = 0;
        for (0..own.runs) |_| {
            if (total >= own.run_time) break;
            var elapsed: protocol.Elapsed = .{};
            _ = try own.run.once(&elapsed);
            const took: f64 = @floatFromInt(elapsed.sum.wall);
            shortest = @min(shortest, took);
            total += took;
        }
        return shortest;
    }

    fn efficiency(own: *Sweep, size: f64, makespan: f64) f64 {
        return size * own.ideal / makespan;
    }

    fn findTop(own: *Sweep) !void {
        own.top = own.first;
        var reached = own.efficiency(own.top, try own.best(own.top));
        while (own.top < own.largest and reached < own.plenty) : (own.top *= 2) {
            const next = own.efficiency(own.top * 2, try own.best(own.top * 2));
            if (reached > own.enough and next < reached + own.gain) break;
            reached = next;
        }
    }

    /// From the largest granularity down; every sweep takes the same steps, but may end earlier.
    pub fn measure(own: *Sweep, sweeps: u64, readings: *protocol.Readings) !void {
        if (own.top == 0) try own.findTop();
        var is_reached = false;
        for (0..sweeps + own.attempts) |sweep| {
            // More sweeps than asked for only where others had the CPUs.
            if (sweep >= sweeps and is_reached) break;
            var size = own.top;
            var low: u64 = 0;
            var step: usize = 0;
            while (size >= own.smallest and low < own.low_in_a_row) : (step += 1) {
                if (step == readings.items.len) try readings.append(gpa, .{
                    .metric = "makespan_ns",
                    .unit = "ns",
                    .value = std.math.inf(f64),
                    .count = own.run.ended.len,
                    .detail = try std.fmt.allocPrint(gpa, "work_ns={d}", .{size}),
                });
                const found = try own.best(size);
                const shortest = &readings.items[step].value;
                shortest.* = @min(shortest.*, found);
                const reached = own.efficiency(size, shortest.*);
                is_reached = is_reached or reached >= 0.5;
                low = if (reached < own.little) low + 1 else 0;
                size /= own.divisor;
            }
        }
    }
};

fn metg(request: Request) !Measure {
    return .of(Sweep{
        .run = try .init(request),
        .rate = try request.number("rounds_per_microsecond"),
        .ideal = try request.number("load") / try request.number("cores") / try request.number("peak"),
        .first = try request.number("sweep_first"),
        .largest = try request.number("sweep_largest"),
        .smallest = try request.number("sweep_smallest"),
        .plenty = try request.number("sweep_plenty"),
        .little = try request.number("sweep_little"),
        .enough = try request.number("sweep_enough"),
        .gain = try request.number("sweep_gain"),
        .divisor = try request.number("sweep_step"),
        .run_time = try request.number("sweep_run_time"),
        .runs = try request.positive("sweep_runs"),
        .attempts = try request.count("sweep_attempts"),
        .low_in_a_row = try request.count("sweep_low_in_a_row"),
    });
}
