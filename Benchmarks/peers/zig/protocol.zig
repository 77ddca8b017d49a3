//! What opbench and its peers say to each other: arguments in, lines out, and the clocks and counters between.

const std = @import("std");
const builtin = @import("builtin");
const linux = std.os.linux;

/// The version of the protocol, which is PeerProtocol.version of opbench.
const version = 1;

/// All that a benchmark makes lasts as long as the process.
pub const gpa = std.heap.smp_allocator;

// ---- Failures ----

/// What was asked for cannot be done, or what was done is wrong: `fail` has kept the words.
pub const Failure = error{ Failure, OutOfMemory };

var message: []const u8 = "";

pub fn fail(comptime format: []const u8, arguments: anytype) Failure {
    message = try std.fmt.allocPrint(gpa, format, arguments);
    return error.Failure;
}

// ---- Arguments ----

/// The key=value arguments. What is missing or no number is a failure.
pub const Request = struct {
    values: std.StringHashMapUnmanaged([]const u8) = .empty,

    fn init(arguments: []const [*:0]const u8) !Request {
        var request: Request = .{};
        for (arguments) |argument| {
            const key, const value = std.mem.cutScalar(u8, std.mem.span(argument), '=') orelse
                return fail("'{s}' is not key=value", .{argument});
            try request.values.put(gpa, key, value);
        }
        return request;
    }

    pub fn has(request: Request, key: []const u8) bool {
        return request.values.contains(key);
    }

    pub fn text(request: Request, key: []const u8) ![]const u8 {
        return request.values.get(key) orelse fail("the request has no {s}", .{key});
    }

    pub fn count(request: Request, key: []const u8) !u64 {
        return parseCount(u64, try request.text(key)) orelse fail("{s} is no number in the request", .{key});
    }

    /// At least 1.
    pub fn positive(request: Request, key: []const u8) !u64 {
        const found = try request.count(key);
        return if (found > 0) found else fail("{s} is 0 in the request", .{key});
    }

    /// One that is no larger than `most`.
    pub fn small(request: Request, key: []const u8, most: u32) !u32 {
        const found = try request.count(key);
        return if (found <= most) @intCast(found) else fail("{s} is larger than {d} in the request", .{ key, most });
    }

    pub fn number(request: Request, key: []const u8) !f64 {
        return parseNumber(try request.text(key)) orelse fail("{s} is no number in the request", .{key});
    }

    /// The index of a word among those that there are.
    pub fn choice(request: Request, key: []const u8, comptime first: []const u8, comptime second: []const u8) !u1 {
        const name = key["param.".len..];
        const found = try request.text(key);
        if (std.mem.eql(u8, found, first)) return 0;
        if (std.mem.eql(u8, found, second)) return 1;
        return fail("{s} is " ++ first ++ " or " ++ second ++ ", not {s}", .{ name, found });
    }
};

/// Digits alone: Zig's own reader takes signs and underscores, too.
pub fn parseCount(comptime Integer: type, text: []const u8) ?Integer {
    for (text) |one| if (!std.ascii.isDigit(one)) return null;
    return std.fmt.parseInt(Integer, text, 10) catch null;
}

pub fn parseNumber(text: []const u8) ?f64 {
    if (std.mem.indexOfNone(u8, text, "0123456789.eE+-") != null) return null;
    const found = std.fmt.parseFloat(f64, text) catch return null;
    return if (std.math.isFinite(found)) found else null;
}

// ---- Clocks and counters ----

fn readClock(clock: linux.clockid_t) u64 {
    var read: linux.timespec = undefined;
    _ = linux.clock_gettime(clock, &read);
    return @as(u64, @intCast(read.sec)) * 1_000_000_000 + @as(u64, @intCast(read.nsec));
}

pub fn now() u64 {
    return readClock(.MONOTONIC);
}

pub const Counters = struct {
    wall: u64 = 0,
    cpu: u64 = 0,
    voluntary: u64 = 0,
    involuntary: u64 = 0,

    pub fn read() Counters {
        var usage: linux.rusage = undefined;
        _ = linux.getrusage(linux.rusage.SELF, &usage);
        return .{
            .wall = now(),
            .cpu = readClock(.PROCESS_CPUTIME_ID),
            .voluntary = @intCast(usage.nvcsw),
            .involuntary = @intCast(usage.nivcsw),
        };
    }
};

pub const Reading = struct {
    metric: []const u8,
    unit: []const u8,
    value: f64,
    count: u64,
    detail: []const u8 = "",
};

/// The readings of one value.
pub const Readings = std.ArrayList(Reading);

/// `dividend / divisor` of two counts.
pub fn ratio(dividend: u64, divisor: u64) f64 {
    return @as(f64, @floatFromInt(dividend)) / @as(f64, @floatFromInt(divisor));
}

/// What passed, summed over several timed stretches.
pub const Elapsed = struct {
    sum: Counters = .{},

    pub fn add(elapsed: *Elapsed, start: Counters) void {
        const end: Counters = .read();
        inline for (comptime std.meta.fieldNames(Counters)) |name| {
            @field(elapsed.sum, name) += @field(end, name) - @field(start, name);
        }
    }

    pub fn report(elapsed: Elapsed, readings: *Readings, operations: u64, edges: u64) !void {
        const sum = elapsed.sum;
        const per = [_]struct { []const u8, []const u8, u64 }{
            .{ "ns_per_op", "ns", sum.wall },
            .{ "cpu_ns_per_op", "ns", sum.cpu },
            .{ "voluntary_switches_per_op", "switches", sum.voluntary },
            .{ "involuntary_switches_per_op", "switches", sum.involuntary },
        };
        for (per) |one| try readings.append(gpa, .{
            .metric = one[0],
            .unit = one[1],
            .value = ratio(one[2], operations),
            .count = operations,
        });
        if (edges > 0) try readings.append(gpa, .{
            .metric = "ns_per_edge",
            .unit = "ns",
            .value = ratio(sum.wall, edges),
            .count = edges,
        });
    }
};

/// Sorts the values.
pub fn median(values: []f64) f64 {
    std.mem.sort(f64, values, {}, std.sort.asc(f64));
    return (values[(values.len - 1) / 2] + values[values.len / 2]) / 2;
}

// ---- CPUs ----

/// Moves this thread onto the CPU of that index among those it may use, modulo their number; where it may run stays as
/// it is. Each block of a run begins on the next CPU, with all its programs.
fn begin(place: u64) void {
    var all: linux.cpu_set_t = undefined;
    if (linux.sched_getaffinity(0, @sizeOf(linux.cpu_set_t), &all) != 0) return;
    var left = place % linux.CPU_COUNT(all);
    var one: linux.cpu_set_t = @splat(0);
    for (all, &one) |word, *own| {
        for (0..@bitSizeOf(usize)) |bit| {
            const mask = @as(usize, 1) << @intCast(bit);
            if (word & mask == 0) continue;
            if (left == 0) {
                own.* = mask;
                linux.sched_setaffinity(0, &one) catch return;
                linux.sched_setaffinity(0, &all) catch {};
                return;
            }
            left -= 1;
        }
    }
}

// ---- Calibrating and timing ----

/// A benchmark that is ready: runs and checks some repeats, and appends the readings of one value.
pub const Measure = struct {
    context: *anyopaque,
    run: *const fn (*anyopaque, repeats: u64, *Readings) Failure!void,

    /// Of something with a function `measure(*Context, repeats, *Readings)`.
    pub fn of(context: anytype) !Measure {
        const Context = @TypeOf(context);
        const kept = try gpa.create(Context);
        kept.* = context;
        return .{ .context = kept, .run = struct {
            fn run(erased: *anyopaque, repeats: u64, readings: *Readings) Failure!void {
                const own: *Context = @ptrCast(@alignCast(erased));
                return own.measure(repeats, readings);
            }
        }.run };
    }

    /// Of most benchmarks: `once` of the context is timed, and `verify` fails when it did anything other than asked.
    pub fn rounds(operations: u64, edges: u64, context: anytype) !Measure {
        const Rounds = struct {
            operations: u64,
            edges: u64,
            context: @TypeOf(context),

            fn measure(own: *@This(), repeats: u64, readings: *Readings) Failure!void {
                var elapsed: Elapsed = .{};
                for (0..repeats) |_| {
                    const start: Counters = .read();
                    own.context.once();
                    elapsed.add(start);
                    try own.context.verify();
                }
                try elapsed.report(readings, own.operations * repeats, own.edges * repeats);
            }
        };
        return .of(Rounds{ .operations = operations, .edges = edges, .context = context });
    }

    fn value(measure: Measure, repeats: u64) Failure!Readings {
        var readings: Readings = .empty;
        try measure.run(measure.context, repeats, &readings);
        return readings;
    }

    /// How long the timed work of some repeats takes, in nanoseconds.
    fn timed(measure: Measure, repeats: u64) Failure!u64 {
        const start = now();
        var readings = try measure.value(repeats);
        defer readings.deinit(gpa);
        for ([_][]const u8{ "ns_per_op", "makespan_ns" }) |metric| {
            for (readings.items) |reading| {
                if (!std.mem.eql(u8, reading.metric, metric)) continue;
                return @max(1, std.math.lossyCast(u64, reading.value * @as(f64, @floatFromInt(reading.count))));
            }
        }
        return @max(1, now() - start);
    }
};

/// Does everything that is not to be timed.
pub const Benchmark = struct { []const u8, *const fn (Request) Failure!Measure };

/// As MeasuringProcess.swift and Calibration.swift do: after the lead-in, at most ten times as many repeats at a time,
/// and no more than a slower subject needed; the median of three attempts.
fn calibrate(measure: Measure, target: u64, limit: u64, lead_in: u64) !u64 {
    const born = now();
    var led = try measure.timed(1);
    while (now() - born < lead_in) led = try measure.timed(1);
    var repeats: u64 = 1;
    var answers: [3]u64 = undefined;
    var answered: usize = 0;
    while (answered < answers.len) {
        const took = @min(try measure.timed(repeats), led);
        led = std.math.maxInt(u64);
        const needed = @max(1, std.math.lossyCast(u64, @ceil(@as(f64, @floatFromInt(target)) / ratio(took, repeats))));
        if (took >= target) {
            if (repeats == 1 and took / 2 >= target) return 1;
            answers[answered] = @min(needed, limit);
            repeats = @max(answers[answered], (repeats + 1) / 2);
            answered += 1;
        } else if (repeats >= limit) {
            return limit;
        } else {
            repeats = @min(@max(needed, repeats + 1), repeats *| 10, limit);
        }
    }
    std.mem.sort(u64, &answers, {}, std.sort.asc(u64));
    return answers[1];
}

/// Runs until the lead-in has passed, at least once if there is one; then takes values until the budget has passed, at
/// least one. Prints nothing before the last value: threads would fall asleep meanwhile, and the first repeat of a
/// value be dearer. In turns, stops before each value until opbench lets the process go on, and runs once uncounted.
fn time(
    out: *std.Io.Writer,
    measure: Measure,
    repeats: u64,
    more: u64,
    values: u64,
    lead_in: u64,
    budget: u64,
    in_turns: bool,
) !void {
    const born = now();
    if (lead_in > 0) while (true) {
        _ = try measure.timed(repeats);
        if (now() - born >= lead_in) break;
    };
    var taken: std.ArrayList(Readings) = .empty;
    var spent: u64 = 0;
    while (taken.items.len < values) {
        if (in_turns) {
            // All other lines are written together at the end.
            _ = linux.write(1, "turn\n", 5);
            // A signal to this thread: the kernel stops all threads before the call returns.
            _ = linux.tgkill(linux.getpid(), linux.gettid(), .STOP);
            _ = try measure.timed(repeats);
        }
        const is_longer = taken.items.len % 2 == 1;
        const start = now();
        try taken.append(gpa, try measure.value(if (is_longer) repeats +| more else repeats));
        spent += now() - start;
        if (spent >= budget) break;
    }
    for (taken.items, 1..) |readings, index| {
        for (readings.items) |r| try out.print("reading\t{d}\t{s}\t{s}\t{e}\t{d}\t{s}\n", .{
            index, r.metric, r.unit, r.value, r.count, r.detail,
        });
    }
}

fn run(out: *std.Io.Writer, request: Request, prepare: *const fn (Request) Failure!Measure) !void {
    const mode = try request.text("mode");
    if (std.mem.eql(u8, mode, "calibrate")) {
        const target = try request.count("target");
        const limit = try request.positive("limit");
        const lead_in = try request.count("lead_in");
        try out.print("repeats\t{d}\n", .{try calibrate(try prepare(request), target, limit, lead_in)});
    } else if (std.mem.eql(u8, mode, "time")) {
        const repeats = try request.positive("repeats");
        const more = try request.count("more");
        const values = try request.positive("values");
        const lead_in = try request.count("lead_in");
        const budget = try request.count("budget");
        try time(out, try prepare(request), repeats, more, values, lead_in, budget, request.has("turns"));
    } else {
        return fail("there is no mode {s}", .{mode});
    }
    try out.writeAll("end\n");
}

fn answer(out: *std.Io.Writer, arguments: []const [*:0]const u8, families: []const []const Benchmark) !void {
    if (arguments.len == 1 and std.mem.eql(u8, std.mem.span(arguments[0]), "version")) {
        try out.print("opbench-peer\t{d}\nversion\tzig {s}\n", .{ version, builtin.zig_version_string });
        for (families) |family| for (family) |benchmark| try out.print("benchmark\t{s}\n", .{benchmark[0]});
        return out.writeAll("end\n");
    }
    const request: Request = try .init(arguments);
    if (request.has("place")) begin(try request.count("place"));
    const name = try request.text("benchmark");
    for (families) |family| for (family) |benchmark| {
        if (!std.mem.eql(u8, benchmark[0], name)) continue;
        if (request.has("strategy")) return fail("'zig' has no strategy to choose", .{});
        _ = try request.small("workers", std.math.maxInt(u16));
        _ = try request.positive("workers");
        return run(out, request, benchmark[1]);
    };
    return fail("there is no {s} on zig", .{name});
}

/// The main function. Lines are written together, behind the last value.
pub fn serve(main: std.process.Init.Minimal, families: []const []const Benchmark) noreturn {
    var out: std.Io.Writer.Allocating = .init(gpa);
    answer(&out.writer, main.args.vector[1..], families) catch |failure| {
        if (failure != error.Failure) message = "there is not enough memory";
        const line: []u8 = gpa.dupe(u8, message) catch &.{};
        std.mem.replaceScalar(u8, line, '\n', ' ');
        std.mem.replaceScalar(u8, line, '\t', ' ');
        out.clearRetainingCapacity();
        out.writer.print("failure\t{s}\n", .{line}) catch {};
    };
    const io = std.Io.Threaded.global_single_threaded.io();
    std.Io.File.stdout().writeStreamingAll(io, out.written()) catch {};
    // Without waiting for threads that sleep.
    linux.exit_group(0);
}
