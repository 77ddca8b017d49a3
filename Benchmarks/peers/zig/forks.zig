//! Forks without a runtime: a list through the stack, whose end is a parameter.
//!
//! A fork is a record in the frame of who forks. The records of a thread are a list from the oldest to the newest. A
//! function that forks has the end of the list as a parameter, and hands the address of its own record, the new end,
//! to what it calls. So nothing needs to be taken off: who returns has forgotten its record. A fork that nobody took is
//! run by who offered it, as a plain call. Such a fork costs three stores, a load of `wanted`, and a load of its body.
//! None of them is atomic in more than name.
//!
//! Only a thread itself reads and writes its list. A thread without work is counted in `wanted`. Who forks and sees the
//! count gives the oldest fork of its own list away: the oldest stands for the most work.
//!
//! THE PROTOCOL
//!
//! The list. `newest_given` of a worker is the newest of its records that it has given away, or its `first`, which is
//! no fork. All records older than that are given away, too, and all newer ones are not. `newest_given.next` is the
//! oldest one that is not, if the list goes on: the record that was pushed last behind `newest_given` wrote it. A
//! record that is given away has no body any more. This is how its frame knows, and then it joins: once the fork is
//! done, `newest_given` is the record before it. That is the end that the frame was given, because forks are given
//! away in the order of the list.
//!
//! The state of a worker, one word. With `given` the word has the number of the giver, too.
//!
//!     busy     it runs something, or is outside of all forks.  It writes this itself: from looking, when what it waits
//!                                                              for is done, and from given, when it begins the gift.
//!     looking  it has no work and looks at this word.          It writes this itself, from busy or asleep; another one
//!                                                              does so from asleep, when it has done its fork, and a
//!                                                              giver from given, when it takes its gift back.
//!     asleep   it has no work and sleeps on this word (futex). It writes this itself, from looking.
//!     chosen   another worker is about to give it a fork.      The giver, from looking or asleep.
//!     given    `gift` is its fork, which it has not begun.     The same giver, from chosen.
//!
//! Every step out of looking, asleep or given is an exchange that compares, so of all that want to make one a single
//! one wins. A worker whose fork is done either stops looking or is chosen, and then takes the gift. An owner that
//! wants to join either takes its gift back, and runs the fork itself, or the other worker has begun it, and the owner
//! waits for `done`, as a worker without work. So nobody waits for a thread that has not come to run.
//!
//! Taking back meets the right gift. An owner joins its newest fork first. So when it joins one that it gave to a
//! worker, whatever it gave that worker later is joined, hence no gift any more, and whatever it gave that worker
//! earlier was begun before this one was given. If that worker is given, and by this owner, the gift is this fork.
//!
//! `wanted` is how many are looking or asleep. A worker counts itself up, and down when it stops looking; the giver
//! counts it down when it chooses, and up when it takes back. The count is a hint: who sees it late gives at its next
//! fork.
//!
//! What is published:
//!
//!     input and body of a fork, and `gift`  store of given (release)   exchange from given (acquire) by the receiver
//!     output of a fork                      store of `done` (seq_cst)  load of `done` (acquire) by the owner
//!
//! Behind `done` the record may be gone: the thread that did the fork touches only the owner, which lasts.
//!
//! What could be lost. A fork is not: its owner runs each fork that no other worker has begun. A worker that sleeps
//! and is given nothing misses nothing. A worker that sleeps until its fork is done writes asleep, and then reads
//! `done`; the other worker writes `done`, and then reads the state. All four are sequentially consistent, so one of
//! the two sees the other's store. If the other worker saw asleep, it writes looking before it wakes the sleeper: a
//! sleeper that has not reached the kernel yet finds another word there, and does not sleep. A sleeper that is chosen
//! is woken by its giver, who wrote given before: the sleeper reads the word again, and goes on looking if the gift
//! has been taken back.

const std = @import("std");
const linux = std.os.linux;
const Atomic = std.atomic.Value;

/// The part of a record that all forks have in common.
pub const Link = struct {
    /// Runs the fork in a thread that was given it; null once the fork is given away.
    body: ?*const fn (*Link) void,
    next: *Link,
    /// These three are written when the fork is given away.
    owner: *Worker,
    receiver: *Worker,
    done: Atomic(u32),
};

const busy = 0;
const looking = 1;
const asleep = 2;
const chosen = 3;
/// Of the first worker; of the others, the number more.
const given = 4;

const Worker = struct {
    state: Atomic(u32) align(std.atomic.cache_line) = .init(busy),
    gift: *Link = undefined,
    body: *const fn (*Link) void = undefined,
    newest_given: *Link,
    first: Link = undefined,
};

var wanted: Atomic(u32) align(std.atomic.cache_line) = .init(0);
var workers: []Worker align(std.atomic.cache_line) = &.{};
threadlocal var current: *Worker = undefined;

/// For how many looks a worker without work stays awake: some ten microseconds.
const looks = 500;

/// Makes the calling thread the first worker, and starts threads for the others. They last as long as the process.
pub fn start(gpa: std.mem.Allocator, count: u64) !void {
    workers = try gpa.alloc(Worker, count);
    for (workers) |*worker| worker.* = .{ .newest_given = &worker.first };
    current = &workers[0];
    for (workers[1..]) |*worker| (try std.Thread.spawn(.{}, serve, .{worker})).detach();
}

/// The end of the list of the calling thread, while that runs no fork: for the outermost call.
pub fn outermost() *Link {
    return current.newest_given;
}

/// Whether a worker has no work.
pub inline fn areWanted() bool {
    return wanted.load(.monotonic) != 0;
}

/// A record of a call `run(end, input)` that may happen in another thread.
pub fn Fork(comptime Input: type, comptime Output: type, comptime run: fn (*Link, Input) Output) type {
    return struct {
        link: Link,
        input: Input,
        output: Output,

        const Self = @This();

        /// Offers the call. Behind it, `&link` is the end of the list.
        pub inline fn offer(fork: *Self, end: *Link, input: Input) void {
            fork.link.body = runGiven;
            fork.input = input;
            end.next = &fork.link;
            if (areWanted()) {
                @branchHint(.unlikely);
                give();
            }
        }

        /// Whether another thread was given the call. If so, then `join`, else the call is the caller's.
        pub inline fn isGiven(fork: *Self) bool {
            return fork.link.body == null;
        }

        /// The result from the other thread, or that of the call, if no thread has begun it.
        pub noinline fn join(fork: *Self, end: *Link) Output {
            @branchHint(.cold);
            const is_own = takesBack(&fork.link);
            if (!is_own) work(&fork.link.done);
            current.newest_given = end;
            return if (is_own) run(end, fork.input) else fork.output;
        }

        fn runGiven(link: *Link) void {
            const fork: *Self = @fieldParentPtr("link", link);
            fork.output = run(current.newest_given, fork.input);
        }
    };
}

/// Gives the oldest fork of this thread to a worker without work, rather to one that is awake. The list must have one.
noinline fn give() void {
    @branchHint(.cold);
    const self = current;
    for ([_]u32{ looking, asleep }) |state| {
        for (workers) |*worker| {
            if (worker.state.load(.monotonic) != state) continue;
            if (worker.state.cmpxchgStrong(state, chosen, .acquire, .monotonic) != null) continue;
            _ = wanted.fetchSub(1, .monotonic);
            const fork = self.newest_given.next;
            self.newest_given = fork;
            worker.gift = fork;
            worker.body = fork.body.?;
            fork.body = null;
            fork.owner = self;
            fork.receiver = worker;
            fork.done = .init(0);
            worker.state.store(givenBy(self), .release);
            if (state == asleep) wake(worker);
            return;
        }
    }
}

fn givenBy(worker: *Worker) u32 {
    return given + @as(u32, @intCast(worker - workers.ptr));
}

/// Whether a fork that was given away is its owner's again.
fn takesBack(fork: *Link) bool {
    const is_own = fork.receiver.state.cmpxchgStrong(givenBy(fork.owner), looking, .monotonic, .monotonic) == null;
    if (is_own) _ = wanted.fetchAdd(1, .monotonic);
    return is_own;
}

fn serve(worker: *Worker) void {
    current = worker;
    work(null);
}

/// Runs what others give, until the fork with that word is done, or for ever.
fn work(until: ?*const Atomic(u32)) void {
    const self = current;
    while (!isDone(until, .acquire)) {
        // In this order: a giver finds the worker in the count that it lowers.
        _ = wanted.fetchAdd(1, .monotonic);
        self.state.store(looking, .release);
        if (!receive(self, until)) return;
        const fork = self.gift;
        self.body(fork);
        const owner = fork.owner;
        fork.done.store(1, .seq_cst);
        if (owner.state.load(.seq_cst) == asleep and
            owner.state.cmpxchgStrong(asleep, looking, .seq_cst, .monotonic) == null) wake(owner);
    }
}

/// Waits for a gift, and takes it; false if the worker has stopped looking, because what it waits for is done.
fn receive(self: *Worker, until: ?*const Atomic(u32)) bool {
    var left: u32 = looks;
    while (true) {
        const state = self.state.load(.monotonic);
        switch (state) {
            looking => if (isDone(until, .acquire)) {
                if (self.state.cmpxchgStrong(looking, busy, .monotonic, .monotonic) == null) {
                    _ = wanted.fetchSub(1, .monotonic);
                    return false;
                }
            } else if (left > 0) {
                left -= 1;
            } else if (self.state.cmpxchgStrong(looking, asleep, .seq_cst, .monotonic) == null) {
                if (!isDone(until, .seq_cst)) {
                    _ = linux.futex_4arg(&self.state.raw, .{ .cmd = .WAIT, .private = true }, asleep, null);
                }
                // Fails if another one has woken this one, or chosen it.
                _ = self.state.cmpxchgStrong(asleep, looking, .monotonic, .monotonic);
            },
            chosen => {},
            else => if (self.state.cmpxchgStrong(state, busy, .acquire, .monotonic) == null) return true,
        }
        std.atomic.spinLoopHint();
    }
}

inline fn isDone(until: ?*const Atomic(u32), comptime order: std.lang.AtomicOrder) bool {
    return if (until) |done| done.load(order) != 0 else false;
}

fn wake(worker: *Worker) void {
    _ = linux.futex_3arg(&worker.state.raw, .{ .cmd = .WAKE, .private = true }, 1);
}
