package main

// Requests that arrive whether or not the ones before have been served, as ServedRequests.swift sends them.

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	clock "time"
)

var latency = benchmarks{"latency/slowdown": slowdown}

type servedRequest struct {
	// When it comes, in nanoseconds from the beginning.
	offset int64
	rounds int
	sleep  clock.Duration
	// From when it should come until its end, in nanoseconds.
	sojourn int64
	runs    int
}

// As opbench wrote them: a line per request, when it comes, how long it uses a CPU, and how long it sleeps behind that.
func readRequests(request request) []servedRequest {
	text, err := os.ReadFile(request.text("requests"))
	check(err == nil, "the requests cannot be read: %v", err)
	rate := request.number("rounds_per_microsecond")
	var all []servedRequest
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		var times []float64
		for _, field := range strings.Fields(line) {
			time, err := strconv.ParseFloat(field, 64)
			check(err == nil && time >= 0, "'%s' is no request", line)
			times = append(times, time)
		}
		check(len(times) == 3 && times[1] > 0, "'%s' is no request", line)
		all = append(all, servedRequest{
			offset: int64(times[0]), rounds: roundsFor(times[1], rate), sleep: clock.Duration(times[2])})
	}
	return all
}

// Other goroutines of the program, that always have work from one time to another, but not longer than there are
// requests. A program of Go has one scheduler.
type crowd struct {
	from, until  int64
	rounds, jobs int
	isOver       atomic.Bool
	ran          atomic.Int64
}

func readCrowd(request request) *crowd {
	if _, isAsked := request["crowd_from"]; !isAsked {
		return nil
	}
	return &crowd{
		from: int64(request.count("crowd_from")), until: int64(request.count("crowd_until")),
		rounds: roundsFor(request.number("crowd_ns"), request.number("rounds_per_microsecond")),
		jobs:   2 * request.positive("workers")}
}

func (crowd *crowd) add() {
	go func() {
		spin(crowd.rounds)
		crowd.ran.Add(1)
		if !crowd.isOver.Load() {
			crowd.add()
		}
	}()
}

// A goroutine for each request. A sender that is late sends the next ones at once, and all count from when they should
// have come: the sender is a goroutine, and waits for its turn among the others.
func slowdown(request request) measure {
	requests, sleeps := readRequests(request), request.count("sleeps") != 0
	_, isTimed := request["start"]
	crowd := readCrowd(request)
	if !sleeps {
		// The sender spins, and would take a place from the requests.
		runtime.GOMAXPROCS(request.positive("workers") + 1)
	}
	send := func() {
		var group sync.WaitGroup
		group.Add(len(requests))
		start := now() + 100_000
		if isTimed {
			start = int64(request.count("start"))
			check(now() <= start, "the program was not ready at the start of the requests")
		}
		isAlone := true
		for index := range requests {
			one := &requests[index]
			intended := start + one.offset
			for left := intended - now(); left > 0; left = intended - now() {
				if sleeps {
					clock.Sleep(clock.Duration(left))
				}
			}
			if crowd != nil && isAlone && now() >= crowd.from {
				isAlone = false
				for job := 0; job < crowd.jobs; job++ {
					crowd.add()
				}
			}
			if crowd != nil && now() >= crowd.until {
				crowd.isOver.Store(true)
			}
			go func() {
				spin(one.rounds)
				clock.Sleep(one.sleep)
				one.sojourn = now() - intended
				one.runs++
				group.Done()
			}()
		}
		group.Wait()
		if crowd != nil {
			crowd.isOver.Store(true)
		}
	}
	return func(repeats int) []reading {
		var sojourns []reading
		for repeat := 0; repeat < repeats; repeat++ {
			send()
			for index := range requests {
				one := &requests[index]
				check(one.runs == 1, "request %d ran %d times", index, one.runs)
				one.runs = 0
				detail := fmt.Sprintf("request=%d", len(sojourns)+1)
				sojourns = append(sojourns, reading{"sojourn_ns", "ns", float64(one.sojourn), 1, detail})
			}
		}
		if crowd != nil {
			sojourns = append(sojourns, reading{"crowd_jobs", "jobs", float64(crowd.ran.Load()), 1, ""})
		}
		return sojourns
	}
}
