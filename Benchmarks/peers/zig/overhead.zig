//! A task of a group for each operation.
//!
//! `std.Io.Threaded` hands a task to a thread of its own only while one is free or may be started. Else who adds a task
//! runs it, there and then. So with N workers the pool may start N - 1 threads, which is what it does by itself with N
//! CPUs, and the adding thread is the last worker.

const std = @import("std");
const protocol = @import("protocol.zig");
const work = @import("work.zig");

const Measure = protocol.Measure;
const Request = protocol.Request;

pub const benchmarks = [_]protocol.Benchmark{
    .{ "overhead/external-add", externalAdd },
    .{ "overhead/local-add", localAdd },
};

/// The pool of the request, for as long as the process.
pub fn startPool(request: Request) !std.Io {
    const pool = try protocol.gpa.create(std.Io.Threaded);
    const workers = try request.positive("workers");
    pool.* = .init(protocol.gpa, .{ .async_limit = .limited(workers - 1) });
    return pool.io();
}

/// Nothing here is ever cancelled.
pub fn await(group: *std.Io.Group, io: std.Io) void {
    group.await(io) catch unreachable;
}

pub fn addAll(io: std.Io, group: *std.Io.Group, words: []u32) void {
    for (words) |*word| group.async(io, work.mark, .{word});
}

const External = struct {
    io: std.Io,
    flags: work.Flags,

    pub fn once(own: External) void {
        var group: std.Io.Group = .init;
        addAll(own.io, &group, own.flags.words);
        await(&group, own.io);
    }

    pub fn verify(own: External) !void {
        return own.flags.verify();
    }
};

pub fn externalAdd(request: Request) !Measure {
    const operations = try request.positive("param.ops");
    const flags: work.Flags = try .init(operations);
    return .rounds(operations, 0, External{ .io = try startPool(request), .flags = flags });
}

const Local = struct {
    external: External,

    pub fn once(own: Local) void {
        var group: std.Io.Group = .init;
        group.async(own.external.io, addAll, .{ own.external.io, &group, own.external.flags.words });
        await(&group, own.external.io);
    }

    pub fn verify(own: Local) !void {
        return own.external.verify();
    }
};

fn localAdd(request: Request) !Measure {
    const operations = try request.positive("param.ops");
    const flags: work.Flags = try .init(operations);
    return .rounds(operations, 0, Local{ .external = .{ .io = try startPool(request), .flags = flags } });
}
