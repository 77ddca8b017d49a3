package main

// Task graphs, and the data that flows along their edges.

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// The graph as opbench wrote it: a line per task, its nanoseconds and the tasks it depends on.
type taskGraph struct {
	nanoseconds        []float64
	inputs, dependents [][]int32
	sources            []int32
	edges              int
}

func readGraph(path string) *taskGraph {
	file, err := os.Open(path)
	check(err == nil, "the graph cannot be read: %v", err)
	defer file.Close()
	graph := &taskGraph{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		check(len(fields) > 0, "the graph has an empty line")
		duration, err := strconv.ParseFloat(fields[0], 64)
		check(err == nil, "the graph has no duration in '%s'", fields[0])
		var inputs []int32
		for _, field := range fields[1:] {
			input, err := strconv.Atoi(field)
			check(err == nil && input >= 0 && input < len(graph.inputs), "the graph has no task '%s' before this one", field)
			inputs = append(inputs, int32(input))
		}
		graph.nanoseconds = append(graph.nanoseconds, duration)
		graph.inputs = append(graph.inputs, inputs)
	}
	check(lines.Err() == nil, "the graph cannot be read: %v", lines.Err())
	graph.dependents = make([][]int32, len(graph.inputs))
	for task, inputs := range graph.inputs {
		for _, input := range inputs {
			graph.dependents[input] = append(graph.dependents[input], int32(task))
		}
		if len(inputs) == 0 {
			graph.sources = append(graph.sources, int32(task))
		}
		graph.edges += len(inputs)
	}
	return graph
}

// What flows along the edges: each task writes a word of its own for this run, each consumer checks those of all its
// inputs.
type graphData struct {
	*taskGraph
	words  []uint64
	rounds []int
	wrong  int64
	run    uint64
}

func newGraphData(graph *taskGraph) *graphData {
	count := len(graph.inputs)
	return &graphData{taskGraph: graph, words: make([]uint64, count), rounds: make([]int, count)}
}

func (g *graphData) setWork(scale, perMicrosecond float64) {
	for task, nanoseconds := range g.nanoseconds {
		g.rounds[task] = roundsFor(nanoseconds*scale, perMicrosecond)
	}
}

func (g *graphData) begin() { g.run++ }

func (g *graphData) word(task int32) uint64 { return g.run<<32 | uint64(task) }

// The body of a task.
func (g *graphData) execute(task int32) {
	for _, input := range g.inputs[task] {
		if g.words[input] != g.word(input) {
			atomic.AddInt64(&g.wrong, 1)
		}
	}
	if g.words[task] == g.word(task) {
		atomic.AddInt64(&g.wrong, 1)
	}
	spin(g.rounds[task])
	g.words[task] = g.word(task)
}

func (g *graphData) verify() {
	missing := 0
	for task, word := range g.words {
		if word != g.word(int32(task)) {
			missing++
		}
	}
	check(missing == 0 && g.wrong == 0, "%d tasks did not run, and %d ran twice or before an input", missing, g.wrong)
}
