package main

// What operations do, and how it is known that they did it.

import "math"

//go:noinline
func opaque(value uint64) uint64 { return value }

// Does the arithmetic of opbench's own work.
func spin(rounds int) {
	state := opaque(0x9e3779b97f4a7c15)
	for round := 0; round < rounds; round++ {
		state = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9
	}
	opaque(state)
}

func roundsFor(nanoseconds, perMicrosecond float64) int {
	return int(math.Round(nanoseconds * perMicrosecond / 1000))
}

// A word per operation: each ran exactly once.
type flags []uint32

func (f flags) ran() (count int) {
	for _, word := range f {
		if word != 0 {
			count++
		}
	}
	return
}

func (f flags) verify() {
	for index, word := range f {
		check(word == 1, "operation %d ran %d times", index, word)
		f[index] = 0
	}
}
