package main

// Dependencies on goroutines: there are none, so they start what becomes ready. The other usual form, a goroutine per
// task that first receives from a channel of each input, parks and wakes once per edge.

import (
	"sync"
	"sync/atomic"
)

var dependencies = benchmarks{
	"dependencies/chain":    chain,
	"dependencies/fan-in":   fanIn,
	"dependencies/fan-out":  shape,
	"dependencies/diamond":  shape,
	"dependencies/tree":     shape,
	"dependencies/recorded": shape,
	"dependencies/graph":    graph,
	"dependencies/metg":     metg,
}

// Each goroutine starts the next as its last act.
type chainRun struct {
	length, visited int
	outOfOrder      bool
	done            chan struct{}
}

func (c *chainRun) step(index int) {
	if c.visited != index {
		c.outOfOrder = true
	}
	c.visited++
	if index+1 < c.length {
		go c.step(index + 1)
	} else {
		c.done <- struct{}{}
	}
}

func chain(request request) measure {
	length := request.positive("param.length")
	chain := &chainRun{length: length, done: make(chan struct{})}
	add := func() {
		go chain.step(0)
		<-chain.done
	}
	return rounds(length, length-1, add, func() {
		check(!chain.outOfOrder && chain.visited == length, "a chain ran %d goroutines, or out of order", chain.visited)
		chain.visited = 0
	})
}

// The join is what follows the wait.
func fanIn(request request) measure {
	width := request.positive("param.width")
	flags := make(flags, width)
	seen := 0
	add := func() {
		var group sync.WaitGroup
		group.Add(width)
		startAll(&group, flags)
		group.Wait()
		seen = flags.ran()
	}
	return rounds(width+1, width, add, func() {
		check(seen == width, "the join saw %d inputs complete", seen)
		flags.verify()
	})
}

// A count of unfinished inputs for each task; whoever brings it to zero starts the task.
type graphRun struct {
	*graphData
	waiting []int32
	group   sync.WaitGroup
}

func newGraphRun(request request) *graphRun {
	data := newGraphData(readGraph(request.text("graph")))
	return &graphRun{graphData: data, waiting: make([]int32, len(data.inputs))}
}

func (g *graphRun) start(task int32) {
	g.execute(task)
	for _, dependent := range g.dependents[task] {
		if atomic.AddInt32(&g.waiting[dependent], -1) == 0 {
			go g.start(dependent)
		}
	}
	g.group.Done()
}

// Runs the graph once; gives the time from the first task added to the end of the last.
func (g *graphRun) once(elapsed *elapsed) int64 {
	g.begin()
	start := readCounters()
	for task, inputs := range g.inputs {
		g.waiting[task] = int32(len(inputs))
	}
	g.group.Add(len(g.inputs))
	added := now()
	for _, task := range g.sources {
		go g.start(task)
	}
	g.group.Wait()
	makespan := now() - added
	elapsed.add(start)
	g.verify()
	return makespan
}

func graph(request request) measure {
	data := newGraphRun(request)
	data.setWork(1, request.number("rounds_per_microsecond"))
	bound := request.number("bound_ns")
	return func(repeats int) []reading {
		var elapsed elapsed
		var total int64
		for repeat := 0; repeat < repeats; repeat++ {
			total += data.once(&elapsed)
		}
		readings := elapsed.readings(len(data.inputs)*repeats, data.edges*repeats)
		makespan := float64(total) / float64(repeats)
		readings = append(readings, reading{"makespan_ns", "ns", makespan, repeats, ""})
		if bound > 0 {
			readings = append(readings, reading{"efficiency", "ratio", bound / makespan, repeats, ""})
		}
		return readings
	}
}

// A graph without work: what a task and a dependency cost.
func shape(request request) measure {
	data := newGraphRun(request)
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			data.once(&elapsed)
		}
		return elapsed.readings(len(data.inputs)*repeats, data.edges*repeats)
	}
}
