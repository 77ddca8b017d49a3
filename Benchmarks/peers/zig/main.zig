//! The benchmarks of opbench on Zig. Started by opbench for one cell at a time; scripts/peers builds it.
//!
//! Form: tasks of a group in `std.Io.Threaded`, the pool of the standard library, for operations; the list of forks in
//! `forks.zig` for trees and loops. Each family is a file; a new benchmark is a function and its line in the table of
//! one of them.

const std = @import("std");

pub fn main(init: std.process.Init.Minimal) noreturn {
    @import("protocol.zig").serve(init, &.{
        &@import("overhead.zig").benchmarks,
        &@import("dependencies.zig").benchmarks,
        &@import("forkjoin.zig").benchmarks,
        &@import("loops.zig").benchmarks,
        &@import("asynchronous.zig").benchmarks,
    });
}
