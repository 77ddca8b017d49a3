//! What tasks of Swift do in the family async, with the futures of `std.Io`. The main thread is the task that measures.

const std = @import("std");
const protocol = @import("protocol.zig");
const overhead = @import("overhead.zig");
const work = @import("work.zig");

const gpa = protocol.gpa;
const Measure = protocol.Measure;
const Request = protocol.Request;

pub const benchmarks = [_]protocol.Benchmark{
    .{ "async/spawn", spawn },
    .{ "async/fib", fib },
    .{ "async/limit", limit },
};

/// A future for each, awaited one after the other.
const Spawn = struct {
    io: std.Io,
    flags: work.Flags,
    futures: []std.Io.Future(void),

    pub fn once(own: Spawn) void {
        for (own.futures, own.flags.words) |*future, *word| future.* = own.io.async(work.mark, .{word});
        for (own.futures) |*future| future.await(own.io);
    }

    pub fn verify(own: Spawn) !void {
        return own.flags.verify();
    }
};

/// form=task: futures. form=group: a group.
fn spawn(request: Request) !Measure {
    if (try request.choice("param.form", "task", "group") == 1) return overhead.externalAdd(request);
    const operations = try request.positive("param.ops");
    return .rounds(operations, 0, Spawn{
        .flags = try .init(operations),
        .futures = try gpa.alloc(std.Io.Future(void), operations),
        .io = try overhead.startPool(request),
    });
}

/// A future for one of the two calls. An operation is such a future.
const Fib = struct {
    io: std.Io,
    number: u32,
    expected: u64,
    sum: u64 = 0,

    fn solve(io: std.Io, number: u32) u64 {
        if (number < 2) return number;
        var first = io.async(solve, .{ io, number - 1 });
        const second = solve(io, number - 2);
        return first.await(io) + second;
    }

    pub fn once(own: *Fib) void {
        own.sum = solve(own.io, own.number);
    }

    pub fn verify(own: *Fib) !void {
        if (own.sum != own.expected) {
            return protocol.fail("fib({d}) gave {d}, not {d}", .{ own.number, own.sum, own.expected });
        }
        own.sum = 0;
    }
};

fn fib(request: Request) !Measure {
    const number = try request.small("param.n", 90);
    var expected: u64 = 0;
    var next: u64 = 1;
    for (0..number) |_| {
        const before = expected;
        expected = next;
        next += before;
    }
    const own = try gpa.create(Fib);
    own.* = .{ .number = number, .expected = expected, .io = try overhead.startPool(request) };
    // As many as fib(number + 1) - 1: one more for each number than for the two before it together.
    return .rounds(@max(next - 1, 1), 0, own);
}

/// A semaphore with a permit for each that may run. Each yields once.
const Limit = struct {
    io: std.Io,
    flags: work.Flags,
    permits: std.Io.Semaphore,
    most: u64,
    running: std.atomic.Value(u64) = .init(0),
    seen: std.atomic.Value(u64) = .init(0),

    fn step(own: *Limit, word: *u32) void {
        _ = own.seen.fetchMax(own.running.fetchAdd(1, .monotonic) + 1, .monotonic);
        std.Thread.yield() catch {};
        work.mark(word);
        _ = own.running.fetchSub(1, .monotonic);
        own.permits.post(own.io);
    }

    pub fn once(own: *Limit) void {
        var group: std.Io.Group = .init;
        for (own.flags.words) |*word| {
            own.permits.waitUncancelable(own.io);
            group.async(own.io, step, .{ own, word });
        }
        overhead.await(&group, own.io);
    }

    pub fn verify(own: *Limit) !void {
        const seen = own.seen.swap(0, .monotonic);
        if (seen > own.most) return protocol.fail("{d} ran at a time, and {d} may", .{ seen, own.most });
        return own.flags.verify();
    }
};

fn limit(request: Request) !Measure {
    const operations = try request.positive("param.ops");
    const most = try request.positive("param.max");
    const own = try gpa.create(Limit);
    own.* = .{
        .flags = try .init(operations),
        .permits = .{ .permits = most },
        .most = most,
        .io = try overhead.startPool(request),
    };
    return .rounds(operations, 0, own);
}
