package main

import "sync"

var overhead = benchmarks{
	"overhead/external-add":  externalAdd,
	"overhead/local-add":     localAdd,
	"overhead/contended-add": contendedAdd,
}

func externalAdd(request request) measure {
	operations := request.positive("param.ops")
	flags := make(flags, operations)
	add := func() {
		var group sync.WaitGroup
		group.Add(operations)
		for index := 0; index < operations; index++ {
			go func(index int) {
				flags[index]++
				group.Done()
			}(index)
		}
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
			for index := 0; index < operations; index++ {
				go func(index int) {
					flags[index]++
					group.Done()
				}(index)
			}
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
			for index := producer * operations / producers; index < (producer+1)*operations/producers; index++ {
				go func(index int) {
					flags[index]++
					group.Done()
				}(index)
			}
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
