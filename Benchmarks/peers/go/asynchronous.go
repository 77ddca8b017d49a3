package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// What tasks of Swift do in the family async, with goroutines. The main goroutine is the task that measures.
var asynchronous = benchmarks{
	"async/spawn": spawn,
	"async/fib":   asyncFib,
	"async/limit": limit,
}

// form=task: a channel for each goroutine, awaited one after the other. form=group: a WaitGroup.
func spawn(request request) measure {
	operations := request.positive("param.ops")
	flags := make(flags, operations)
	switch form := request.text("param.form"); form {
	case "task":
		once := func() {
			ends := make([]chan struct{}, operations)
			for index := range ends {
				end := make(chan struct{})
				ends[index] = end
				go func(flag *uint32) {
					*flag++
					close(end)
				}(&flags[index])
			}
			for _, end := range ends {
				<-end
			}
		}
		return rounds(operations, 0, once, flags.verify)
	case "group":
		return externalAdd(request)
	default:
		check(false, "form is task or group, not %s", form)
		return nil
	}
}

// A goroutine for one of the two calls. An operation is such a goroutine.
func asyncFib(request request) measure {
	number := request.positive("param.n")
	started := []int{0, 0}
	expected, next := 0, 1
	for n := 0; n < number; n++ {
		expected, next = next, expected+next
		if n > 0 {
			started = append(started, started[n]+started[n-1]+1)
		}
	}
	sum := -1
	once := func() { sum = solveAsync(number) }
	verify := func() {
		check(sum == expected, "fib(%d) gave %d, not %d", number, sum, expected)
		sum = -1
	}
	return rounds(max(started[number], 1), 0, once, verify)
}

func solveAsync(number int) int {
	if number < 2 {
		return number
	}
	first := make(chan int, 1)
	go func() { first <- solveAsync(number - 1) }()
	second := solveAsync(number - 2)
	return <-first + second
}

// A channel with a place for each that may run. Each yields once.
func limit(request request) measure {
	operations, limit := request.positive("param.ops"), request.positive("param.max")
	flags := make(flags, operations)
	var running, most atomic.Int64
	once := func() {
		var group sync.WaitGroup
		group.Add(operations)
		places := make(chan struct{}, limit)
		for index := range flags {
			places <- struct{}{}
			go func(flag *uint32) {
				now := running.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				runtime.Gosched()
				*flag++
				running.Add(-1)
				<-places
				group.Done()
			}(&flags[index])
		}
		group.Wait()
	}
	verify := func() {
		most := most.Swap(0)
		check(most <= int64(limit), "%d ran at a time, and %d may", most, limit)
		flags.verify()
	}
	return rounds(operations, 0, once, verify)
}
