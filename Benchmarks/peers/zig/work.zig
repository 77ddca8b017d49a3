//! What operations do, and how it is known that they did it.

const std = @import("std");
const protocol = @import("protocol.zig");

/// Unknown to the optimiser.
pub inline fn opaqued(value: anytype) @TypeOf(value) {
    var place = value;
    return @as(*volatile @TypeOf(value), &place).*;
}

/// Does the arithmetic of opbench's own work.
pub fn spin(rounds: u64) void {
    var state: u64 = opaqued(@as(u64, 0x9e3779b97f4a7c15));
    for (0..rounds) |_| state = (state ^ (state >> 29)) *% 0xbf58476d1ce4e5b9;
    _ = opaqued(state);
}

pub fn roundsFor(nanoseconds: f64, per_microsecond: f64) u64 {
    return std.math.lossyCast(u64, @round(nanoseconds * per_microsecond / 1000));
}

/// A word per operation: each ran exactly once.
pub const Flags = struct {
    words: []u32,

    pub fn init(count: u64) !Flags {
        const words = try protocol.gpa.alloc(u32, count);
        @memset(words, 0);
        return .{ .words = words };
    }

    pub fn ran(flags: Flags) u64 {
        var count: u64 = 0;
        for (flags.words) |word| count += @intFromBool(word != 0);
        return count;
    }

    pub fn verify(flags: Flags) !void {
        for (flags.words, 0..) |*word, index| {
            if (word.* != 1) return protocol.fail("operation {d} ran {d} times", .{ index, word.* });
            word.* = 0;
        }
    }
};

pub fn mark(word: *u32) void {
    word.* += 1;
}
