package main

// Requests that arrive whether or not the ones before have been served, as ServedRequests.swift sends them.

import (
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	clock "time"
)

var latency = benchmarks{"latency/slowdown": slowdown}

type servedRequest struct {
	// When it comes, in nanoseconds from the beginning, and how long it takes.
	offset  int64
	service float64
	rounds  int
	// From when it should come until its end, in nanoseconds.
	sojourn int64
	runs    int
}

// As opbench wrote them: a line per request, when it comes and how long it takes.
func readRequests(request request) []servedRequest {
	text, err := os.ReadFile(request.text("requests"))
	check(err == nil, "the requests cannot be read: %v", err)
	rate := request.number("rounds_per_microsecond")
	var all []servedRequest
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields := strings.Fields(line)
		check(len(fields) == 2, "'%s' is no request", line)
		offset, wrong := strconv.ParseFloat(fields[0], 64)
		service, bad := strconv.ParseFloat(fields[1], 64)
		check(wrong == nil && bad == nil && offset >= 0 && service > 0, "'%s' is no request", line)
		all = append(all, servedRequest{offset: int64(offset), service: service, rounds: roundsFor(service, rate)})
	}
	return all
}

// A goroutine for each request. A sender that is late sends the next ones at once, and all count from when they should
// have come: the sender is a goroutine, and waits for its turn among the others.
func slowdown(request request) measure {
	requests, sleeps := readRequests(request), request.count("sleeps") != 0
	send := func() {
		var group sync.WaitGroup
		group.Add(len(requests))
		start := now() + 100_000
		for index := range requests {
			one := &requests[index]
			intended := start + one.offset
			for left := intended - now(); left > 0; left = intended - now() {
				if sleeps {
					clock.Sleep(clock.Duration(left))
				}
			}
			go func() {
				spin(one.rounds)
				one.sojourn = now() - intended
				one.runs++
				group.Done()
			}()
		}
		group.Wait()
	}
	return func(repeats int) []reading {
		var slowdowns []float64
		for repeat := 0; repeat < repeats; repeat++ {
			send()
			for index := range requests {
				one := &requests[index]
				check(one.runs == 1, "request %d ran %d times", index, one.runs)
				one.runs = 0
				slowdowns = append(slowdowns, float64(one.sojourn)/one.service)
			}
		}
		sort.Float64s(slowdowns)
		count := len(slowdowns)
		// The smallest slowdown that at least this share of the requests does not exceed.
		percentile := func(metric string, share float64) reading {
			rank := min(max(int(math.Ceil((share-1e-9)*float64(count))), 1), count)
			return reading{metric, "ratio", slowdowns[rank-1], count, ""}
		}
		return []reading{percentile("slowdown_p50", 0.5), percentile("slowdown_p99", 0.99), percentile("slowdown_p999", 0.999)}
	}
}
