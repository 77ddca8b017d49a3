package main

import (
	"math"
	"strconv"
)

// The shortest makespan for each granularity, of a graph whose work shrinks from run to run: as GranularitySweep.swift
// does it, which also gave the limits. opbench derives METG from what is printed here.
func metg(request request) measure {
	data := newGraphRun(request)
	rate, load := request.number("rounds_per_microsecond"), request.number("load")
	cores, peak := request.number("cores"), request.number("peak")
	first, largest, smallest := request.number("sweep_first"), request.number("sweep_largest"), request.number("sweep_smallest")
	plenty, little := request.number("sweep_plenty"), request.number("sweep_little")
	enough, gain, divisor := request.number("sweep_enough"), request.number("sweep_gain"), request.number("sweep_step")
	runTime, runs := request.number("sweep_run_time"), request.integer("sweep_runs")
	attempts, lowInARow := request.integer("sweep_attempts"), request.integer("sweep_low_in_a_row")

	efficiency := func(work, makespan float64) float64 { return work * load / (makespan * cores) / peak }
	best := func(work float64) float64 {
		data.setWork(work, rate)
		shortest, total := math.Inf(1), 0.0
		for run := 0; run < runs && total < runTime; run++ {
			var elapsed elapsed
			data.once(&elapsed)
			shortest = math.Min(shortest, float64(elapsed.wall))
			total += float64(elapsed.wall)
		}
		return shortest
	}
	top := 0.0
	return func(sweeps int) []reading {
		if top == 0 {
			top = first
			for reached := efficiency(top, best(top)); top < largest && reached < plenty; top *= 2 {
				next := efficiency(top*2, best(top*2))
				if reached > enough && next < reached+gain {
					break
				}
				reached = next
			}
		}
		// From the largest granularity down; every sweep takes the same steps, but may end earlier.
		var readings []reading
		isReached := false
		for sweep := 0; sweep < sweeps+attempts; sweep++ {
			// More sweeps than asked for only where others had the CPUs.
			if sweep >= sweeps && isReached {
				break
			}
			work, low := top, 0
			for step := 0; work >= smallest && low < lowInARow; step++ {
				if step == len(readings) {
					detail := "work_ns=" + strconv.FormatFloat(work, 'f', -1, 64)
					readings = append(readings, reading{"makespan_ns", "ns", math.Inf(1), len(data.inputs), detail})
				}
				shortest := &readings[step].value
				*shortest = math.Min(*shortest, best(work))
				reached := efficiency(work, *shortest)
				isReached = isReached || reached >= 0.5
				if low++; reached >= little {
					low = 0
				}
				work /= divisor
			}
		}
		return readings
	}
}
