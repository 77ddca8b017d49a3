package main

import "sync"

var overhead = benchmarks{
	"overhead/external-add":  externalAdd,
	"overhead/local-add":     localAdd,
	"overhead/contended-add": contendedAdd,
}

// A goroutine for each flag, of which the group knows.
func startAll(group *sync.WaitGroup, flags flags) {
	for index := range flags {
		go func(flag *uint32) {
			*flag++
			group.Done()
		}(&flags[index])
	}
}

func externalAdd(request request) measure {
	operations := request.positive("param.ops")
	flags := make(flags, operations)
	add := func() {
		var group sync.WaitGroup
		group.Add(operations)
		startAll(&group, flags)
		group.Wait()
	}
	return rounds(operations, 0, add, flags.verify)
}

func localAdd(request request) measure {
	operations := request.positive("param.ops")
	flags := make(flags, operations)
	add := func() {
		var group sync.WaitGroup
		group.Add(1 + operations)
		go func() {
			startAll(&group, flags)
			group.Done()
		}()
		group.Wait()
	}
	return rounds(operations, 0, add, flags.verify)
}

// Goroutines that were started before and wait for a channel start the others. Go has no threads outside.
func contendedAdd(request request) measure {
	operations, producers := request.positive("param.ops"), request.positive("param.producers")
	flags := make(flags, operations)
	var group sync.WaitGroup
	begin := make([]chan struct{}, producers)
	produce := func(producer int) {
		for range begin[producer] {
			startAll(&group, flags[producer*operations/producers:(producer+1)*operations/producers])
		}
	}
	for producer := range begin {
		begin[producer] = make(chan struct{}, 1)
		go produce(producer)
	}
	add := func() {
		group.Add(operations)
		for _, producer := range begin {
			producer <- struct{}{}
		}
		group.Wait()
	}
	return rounds(operations, 0, add, flags.verify)
}
