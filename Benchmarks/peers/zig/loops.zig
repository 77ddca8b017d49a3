//! Loops and collections on the forks of forks.zig.

const std = @import("std");
const forks = @import("forks.zig");
const forkjoin = @import("forkjoin.zig");
const protocol = @import("protocol.zig");
const work = @import("work.zig");

const gpa = protocol.gpa;
const Link = forks.Link;
const Measure = protocol.Measure;
const Request = protocol.Request;

pub const benchmarks = [_]protocol.Benchmark{
    .{ "forkjoin/perform", perform },
    .{ "forkjoin/map", map },
    .{ "forkjoin/sort", sort },
};

/// A loop that forks only where it is asked to: behind each piece of at most `grain` steps it looks whether a worker
/// has no work, and then forks the second half of what is left. `steps` does the steps of a context from one to
/// another.
fn Loop(comptime Context: type, comptime grain: usize, comptime steps: fn (Context, usize, usize) void) type {
    return struct {
        const Range = struct { context: Context, first: usize, end: usize };
        const Fork = forks.Fork(Range, void, run);

        fn run(end: *Link, range: Range) void {
            var first = range.first;
            while (first < range.end) {
                const left = range.end - first;
                if (left > grain and forks.areWanted()) {
                    const middle = first + left / 2;
                    var fork: Fork = undefined;
                    fork.offer(end, .{ .context = range.context, .first = middle, .end = range.end });
                    run(&fork.link, .{ .context = range.context, .first = first, .end = middle });
                    if (fork.isGiven()) return fork.join(end);
                    first = middle;
                } else {
                    const next = first + @min(left, grain);
                    steps(range.context, first, next);
                    first = next;
                }
            }
        }

        fn forked(context: Context, count: usize) void {
            run(forks.outermost(), .{ .context = context, .first = 0, .end = count });
        }
    };
}

const Perform = struct {
    flags: work.Flags,
    rounds: u64,

    fn steps(own: *const Perform, first: usize, end: usize) void {
        for (own.flags.words[first..end]) |*word| {
            if (own.rounds > 0) work.spin(own.rounds);
            work.mark(word);
        }
    }

    pub fn prepare(_: *Perform) !void {}

    pub fn alone(own: *Perform) void {
        steps(own, 0, own.flags.words.len);
    }

    pub fn together(own: *Perform) void {
        Loop(*const Perform, 1, steps).forked(own, own.flags.words.len);
    }

    pub fn verify(own: *Perform, _: void) !void {
        return own.flags.verify();
    }
};

fn perform(request: Request) !Measure {
    const iterations = try request.positive("param.iterations");
    const rate = try request.number("rounds_per_microsecond");
    return forkjoin.besideOneThread(request, iterations, Perform{
        .flags = try .init(iterations),
        .rounds = work.roundsFor(try request.number("param.work_ns"), rate),
    });
}

/// The numbers of SeededGenerator.swift.
fn elements(request: Request) ![]u64 {
    const seed = try request.count("seed");
    const made = try gpa.alloc(u64, try request.positive("param.elements"));
    for (made, 1..) |*one, index| one.* = mixed(seed +% @as(u64, index) *% 0x9e3779b97f4a7c15);
    return made;
}

fn mixed(start: u64) u64 {
    var value = start;
    value = (value ^ (value >> 30)) *% 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) *% 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

const Map = struct {
    elements: []const u64,
    mapped: []u64 = &.{},

    fn steps(own: *const Map, first: usize, end: usize) void {
        for (own.elements[first..end], own.mapped[first..end]) |element, *place| place.* = mixed(element);
    }

    pub fn prepare(_: *Map) !void {}

    /// The array that the map makes belongs to what is timed, as in other languages.
    fn make(own: *Map) void {
        own.mapped = gpa.alloc(u64, own.elements.len) catch &.{};
    }

    pub fn alone(own: *Map) void {
        own.make();
        if (own.mapped.len > 0) steps(own, 0, own.mapped.len);
    }

    pub fn together(own: *Map) void {
        own.make();
        Loop(*const Map, 256, steps).forked(own, own.mapped.len);
    }

    pub fn verify(own: *Map, _: void) !void {
        defer gpa.free(own.mapped);
        if (own.mapped.len != own.elements.len) return error.OutOfMemory;
        for (own.mapped, own.elements) |found, element| {
            if (found != mixed(element)) return protocol.fail("the elements are not those of a plain map", .{});
        }
    }
};

fn map(request: Request) !Measure {
    const made = try elements(request);
    return forkjoin.besideOneThread(request, made.len, Map{ .elements = made });
}

/// The sorts of the standard library, which has none for several threads: forked, they sort pieces, and pairs of sorted
/// pieces are merged, with forks within a merge, too.
const Sort = struct {
    elements: []const u64,
    sum: u64,
    own: []u64,
    spare: []u64,

    const piece = 4096;
    const is_less = std.sort.asc(u64);
    const Sorting = forks.Fork(Pieces, void, sorted);
    const Merging = forks.Fork(Pair, void, merged);

    /// The numbers stand in `values`, and end in `spare` if that is what `into_spare` says.
    const Pieces = struct { values: []u64, spare: []u64, into_spare: bool };

    fn sorted(end: *Link, all: Pieces) void {
        if (all.values.len <= piece) {
            plain(all.values);
            if (all.into_spare) @memcpy(all.spare, all.values);
            return;
        }
        const middle = all.values.len / 2;
        const left: Pieces = .{
            .values = all.values[0..middle],
            .spare = all.spare[0..middle],
            .into_spare = !all.into_spare,
        };
        var right = left;
        right.values = all.values[middle..];
        right.spare = all.spare[middle..];
        var fork: Sorting = undefined;
        fork.offer(end, right);
        sorted(&fork.link, left);
        if (fork.isGiven()) fork.join(end) else sorted(end, right);
        merged(end, if (all.into_spare)
            .{ .left = left.values, .right = right.values, .into = all.spare }
        else
            .{ .left = left.spare, .right = right.spare, .into = all.values });
    }

    fn plain(values: []u64) void {
        std.sort.block(u64, values, {}, is_less);
    }

    const Pair = struct { left: []const u64, right: []const u64, into: []u64 };

    /// Of equals those of the left stand first. A long merge is two: all below the middle of the longer one, and the
    /// rest.
    fn merged(end: *Link, pair: Pair) void {
        const left = pair.left;
        const right = pair.right;
        if (pair.into.len <= 4 * piece) return mergedAlone(left, right, pair.into);
        const is_left = left.len >= right.len;
        const pivot = if (is_left) left[left.len / 2] else right[right.len / 2];
        const in_left = if (is_left) left.len / 2 else std.sort.upperBound(u64, left, pivot, order);
        const in_right = if (is_left) std.sort.lowerBound(u64, right, pivot, order) else right.len / 2;
        const rest: Pair = .{
            .left = left[in_left..],
            .right = right[in_right..],
            .into = pair.into[in_left + in_right ..],
        };
        var fork: Merging = undefined;
        fork.offer(end, rest);
        merged(&fork.link, .{
            .left = left[0..in_left],
            .right = right[0..in_right],
            .into = pair.into[0 .. in_left + in_right],
        });
        if (fork.isGiven()) fork.join(end) else merged(end, rest);
    }

    fn order(context: u64, item: u64) std.math.Order {
        return std.math.order(context, item);
    }

    fn mergedAlone(left: []const u64, right: []const u64, into: []u64) void {
        var from_left: usize = 0;
        var from_right: usize = 0;
        for (into) |*place| {
            if (from_right == right.len or from_left < left.len and left[from_left] <= right[from_right]) {
                place.* = left[from_left];
                from_left += 1;
            } else {
                place.* = right[from_right];
                from_right += 1;
            }
        }
    }

    pub fn prepare(own: *Sort) !void {
        @memcpy(own.own, own.elements);
    }

    pub fn alone(own: *Sort) void {
        plain(own.own);
    }

    pub fn together(own: *Sort) void {
        sorted(forks.outermost(), .{
            .values = own.own,
            .spare = own.spare,
            .into_spare = false,
        });
    }

    pub fn verify(own: *Sort, _: void) !void {
        if (!std.sort.isSorted(u64, own.own, {}, is_less) or sumOf(own.own) != own.sum) {
            return protocol.fail("the elements are not sorted", .{});
        }
    }

    /// Tells whether two arrays have the same elements, whatever their order.
    fn sumOf(values: []const u64) u64 {
        var sum: u64 = 0;
        for (values) |value| sum +%= mixed(value);
        return sum;
    }
};

fn sort(request: Request) !Measure {
    const made = try elements(request);
    return forkjoin.besideOneThread(request, made.len, Sort{
        .elements = made,
        .sum = Sort.sumOf(made),
        .own = try gpa.alloc(u64, made.len),
        .spare = try gpa.alloc(u64, made.len),
    });
}
