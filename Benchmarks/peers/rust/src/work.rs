//! What operations do, and how it is known that they did it.
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::protocol::{check, Failure};

/// Unknown to the optimiser (`std::hint::black_box` is younger than Debian's compiler).
fn opaque(value: u64) -> u64 {
    // SAFETY: reads a local.
    unsafe { std::ptr::read_volatile(&value) }
}

/// Does the arithmetic of opbench's own work.
pub fn spin(rounds: u64) {
    let mut state = opaque(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    opaque(state);
}

pub fn rounds_for(nanoseconds: f64, per_microsecond: f64) -> u64 {
    (nanoseconds * per_microsecond / 1000.0).round() as u64
}

/// A word per operation: each ran exactly once. Its operation alone writes it, without an atomic addition.
pub struct Flags(pub Vec<AtomicU32>);

impl Flags {
    /// For as long as the process.
    pub fn new(count: usize) -> &'static Flags {
        Box::leak(Box::new(Flags((0..count).map(|_| AtomicU32::new(0)).collect())))
    }
    pub fn ran(&self) -> usize {
        self.0.iter().filter(|word| word.load(Ordering::Relaxed) != 0).count()
    }
    pub fn verify(&self) -> Result<(), Failure> {
        for (index, word) in self.0.iter().enumerate() {
            let found = word.swap(0, Ordering::Relaxed);
            check(found == 1, || format!("operation {index} ran {found} times"))?;
        }
        Ok(())
    }
}

pub fn mark(flag: &AtomicU32) {
    flag.store(flag.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Counts along a chain, in which only one task runs at a time and each after the one before.
pub struct Order {
    pub length: usize,
    visited: AtomicUsize,
    out_of_order: AtomicBool,
}

impl Order {
    /// For as long as the process.
    pub fn new(length: usize) -> &'static Order {
        let order = Order { length, visited: AtomicUsize::new(0), out_of_order: AtomicBool::new(false) };
        Box::leak(Box::new(order))
    }
    pub fn visit(&self, index: usize) {
        let visited = self.visited.load(Ordering::Relaxed);
        if visited != index {
            self.out_of_order.store(true, Ordering::Relaxed);
        }
        self.visited.store(visited + 1, Ordering::Relaxed);
    }
    pub fn verify(&self) -> Result<(), Failure> {
        let visited = self.visited.swap(0, Ordering::Relaxed);
        check(visited == self.length && !self.out_of_order.load(Ordering::Relaxed), || {
            format!("a chain ran {visited} tasks, or out of order")
        })
    }
}
