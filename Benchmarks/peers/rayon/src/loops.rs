//! Loops and collections: parallel iterators and sorts.
use peers::forkjoin::beside_one_thread;
use peers::protocol::{check, Benchmark, Failure, Measure, Request};
use peers::work::{mark, rounds_for, spin, Flags};
use rayon::prelude::*;

use crate::Pool;

pub const LOOPS: &[Benchmark<Pool>] = &[("forkjoin/perform", perform), ("forkjoin/map", map), ("forkjoin/sort", sort)];

/// A parallel iterator over a range.
fn perform(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let iterations = request.positive("param.iterations")?;
    let rounds = rounds_for(request.number("param.work_ns")?, request.number("rounds_per_microsecond")?);
    let flags = Flags::new(iterations);
    let body = move |index: usize| {
        if rounds > 0 {
            spin(rounds);
        }
        mark(&flags.0[index]);
    };
    let together = move |()| pool.install(|| (0..iterations).into_par_iter().for_each(body));
    beside_one_thread(iterations, || (), move |()| (0..iterations).for_each(body), together, move |()| flags.verify())
}

/// The numbers of SeededGenerator.swift.
fn elements(request: &Request) -> Result<Vec<u64>, Failure> {
    let (count, seed): (u64, u64) = (request.positive("param.elements")? as u64, request.number("seed")?);
    Ok((1..=count).map(|index| mixed(seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)))).collect())
}

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn map(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let elements: &'static Vec<u64> = Box::leak(Box::new(elements(request)?));
    let alone = move |()| elements.iter().map(|element| mixed(*element)).collect::<Vec<u64>>();
    let together =
        move |()| pool.install(|| elements.par_iter().map(|element| mixed(*element)).collect::<Vec<u64>>());
    let verify = move |mapped: Vec<u64>| {
        let is_right = mapped.len() == elements.len()
            && mapped.iter().zip(elements).all(|(mapped, element)| *mapped == mixed(*element));
        check(is_right, || "the elements are not those of a plain map".into())
    };
    beside_one_thread(elements.len(), || (), alone, together, verify)
}

fn sort(request: &Request, pool: Pool) -> Result<Measure, Failure> {
    let elements: &'static Vec<u64> = Box::leak(Box::new(elements(request)?));
    let sum = elements.iter().fold(0_u64, |sum, element| sum.wrapping_add(mixed(*element)));
    let alone = move |mut own: Vec<u64>| {
        own.sort();
        own
    };
    let together = move |mut own: Vec<u64>| {
        pool.install(|| own.par_sort());
        own
    };
    let verify = move |sorted: Vec<u64>| {
        let found = sorted.iter().fold(0_u64, |sum, element| sum.wrapping_add(mixed(*element)));
        let is_sorted = sorted.windows(2).all(|pair| pair[0] <= pair[1]);
        check(is_sorted && found == sum && sorted.len() == elements.len(), || "the elements are not sorted".into())
    };
    beside_one_thread(elements.len(), || elements.clone(), alone, together, verify)
}
