//! Task graphs, and the data that flows along their edges.

const std = @import("std");
const protocol = @import("protocol.zig");
const work = @import("work.zig");

const gpa = protocol.gpa;
const fail = protocol.fail;

/// In an order in which every task stands after all its inputs. Each task writes a word of its own for this run, and
/// each consumer checks those of all its inputs.
pub const Graph = struct {
    nanoseconds: []f64,
    inputs: [][]u32,
    edges: u64,
    words: []u64,
    rounds: []u64,
    wrong: std.atomic.Value(u64) = .init(0),
    run: u64 = 0,

    /// As opbench wrote it: a line per task, its nanoseconds and the tasks it depends on.
    pub fn read(path: []const u8) !Graph {
        const io = std.Io.Threaded.global_single_threaded.io();
        const text = std.Io.Dir.cwd().readFileAlloc(io, path, gpa, .unlimited) catch |problem|
            return fail("the graph {s} cannot be read: {t}", .{ path, problem });
        var nanoseconds: std.ArrayList(f64) = .empty;
        var all: std.ArrayList([]u32) = .empty;
        var edges: u64 = 0;
        var lines = std.mem.tokenizeScalar(u8, text, '\n');
        while (lines.next()) |line| {
            var fields = std.mem.tokenizeScalar(u8, line, ' ');
            const duration = protocol.parseNumber(fields.next() orelse "") orelse
                return fail("the graph has no duration in '{s}'", .{line});
            var inputs: std.ArrayList(u32) = .empty;
            while (fields.next()) |field| {
                const input = protocol.parseCount(u32, field) orelse std.math.maxInt(u32);
                if (input >= all.items.len) return fail("the graph has no task '{s}' before this one", .{field});
                try inputs.append(gpa, input);
            }
            edges += inputs.items.len;
            try nanoseconds.append(gpa, duration);
            try all.append(gpa, inputs.items);
        }
        const words = try gpa.alloc(u64, all.items.len);
        const rounds = try gpa.alloc(u64, all.items.len);
        @memset(words, 0);
        @memset(rounds, 0);
        return .{
            .nanoseconds = nanoseconds.items,
            .inputs = all.items,
            .edges = edges,
            .words = words,
            .rounds = rounds,
        };
    }

    pub fn setWork(graph: *Graph, scale: f64, per_microsecond: f64) void {
        for (graph.rounds, graph.nanoseconds) |*rounds, nanoseconds| {
            rounds.* = work.roundsFor(nanoseconds * scale, per_microsecond);
        }
    }

    pub fn begin(graph: *Graph) void {
        graph.run += 1;
    }

    fn word(graph: *const Graph, task: u32) u64 {
        return graph.run << 32 | task;
    }

    /// The body of a task.
    pub fn execute(graph: *Graph, task: u32) void {
        for (graph.inputs[task]) |input| {
            if (graph.words[input] != graph.word(input)) _ = graph.wrong.fetchAdd(1, .monotonic);
        }
        if (graph.words[task] == graph.word(task)) _ = graph.wrong.fetchAdd(1, .monotonic);
        work.spin(graph.rounds[task]);
        graph.words[task] = graph.word(task);
    }

    pub fn verify(graph: *const Graph) !void {
        var missing: u64 = 0;
        for (graph.words, 0..) |found, task| missing += @intFromBool(found != graph.word(@intCast(task)));
        const wrong = graph.wrong.load(.monotonic);
        if (missing > 0 or wrong > 0) {
            return fail("{d} tasks did not run, and {d} ran twice or before an input", .{ missing, wrong });
        }
    }
};
