// The benchmarks of opbench on goroutines. Started by opbench for one cell at a time; scripts/peers builds it.
//
// Form: a goroutine per operation and a sync.WaitGroup to wait for them, which is what everybody writes. Graphs count
// unfinished inputs by hand and start a goroutine for what becomes ready; the other usual form, a goroutine per task that
// first receives from a channel of each input, parks and wakes once per edge. GOMAXPROCS is the number of
// workers; the garbage collector runs as it comes. Trees start a goroutine per child and wait for them with a WaitGroup.
package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// ---- What every peer has: the request, the clock, the protocol ----

type request map[string]string

// A missing or malformed value ends the process with a failure line.
func (r request) text(key string) string {
	value, found := r[key]
	if !found {
		panic(errors.New("the request has no " + key))
	}
	return value
}

func (r request) integer(key string) int {
	value, err := strconv.Atoi(r.text(key))
	if err != nil {
		panic(err)
	}
	return value
}

func (r request) number(key string) float64 {
	value, err := strconv.ParseFloat(r.text(key), 64)
	if err != nil {
		panic(err)
	}
	return value
}

const (
	clockMonotonic      = 1
	clockProcessCPUTime = 2
)

func readClock(clock uintptr) int64 {
	var time syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&time)), 0)
	return time.Sec*1_000_000_000 + time.Nsec
}

func now() int64 { return readClock(clockMonotonic) }

type counters struct{ wall, cpu, voluntary, involuntary int64 }

func readCounters() counters {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return counters{now(), readClock(clockProcessCPUTime), usage.Nvcsw, usage.Nivcsw}
}

type reading struct {
	metric, unit string
	value        float64
	count        int
	detail       string
}

// What passed, summed over several timed stretches.
type elapsed counters

func (e *elapsed) add(start counters) {
	end := readCounters()
	e.wall += end.wall - start.wall
	e.cpu += end.cpu - start.cpu
	e.voluntary += end.voluntary - start.voluntary
	e.involuntary += end.involuntary - start.involuntary
}

func (e *elapsed) readings(operations int) []reading {
	count := float64(operations)
	return []reading{
		{"ns_per_op", "ns", float64(e.wall) / count, operations, ""},
		{"cpu_ns_per_op", "ns", float64(e.cpu) / count, operations, ""},
		{"voluntary_switches_per_op", "switches", float64(e.voluntary) / count, operations, ""},
		{"involuntary_switches_per_op", "switches", float64(e.involuntary) / count, operations, ""},
	}
}

func (e *elapsed) withEdges(operations, edges int) []reading {
	readings := e.readings(operations)
	if edges > 0 {
		readings = append(readings, reading{"ns_per_edge", "ns", float64(e.wall) / float64(edges), edges, ""})
	}
	return readings
}

// Runs and checks so many repeats.
type measure func(repeats int) []reading

func check(holds bool, format string, arguments ...any) {
	if !holds {
		panic(fmt.Errorf(format, arguments...))
	}
}

//go:noinline
func opaque(value uint64) uint64 { return value }

// The same arithmetic as opbench's own work.
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

// As Calibration.swift decides: at most ten times as many repeats at a time, and no more than a slower subject needed.
func calibrate(measure measure, target int64, limit int) int {
	measure(1)
	repeats := 1
	for {
		start := now()
		measure(repeats)
		took := max(now()-start, 1)
		needed := max(1, int(math.Ceil(float64(target)/(float64(took)/float64(repeats)))))
		if took >= target {
			return min(needed, limit)
		}
		if repeats >= limit {
			return limit
		}
		repeats = min(min(max(needed, repeats+1), repeats*10), limit)
	}
}

func max[T int | int64](a, b T) T {
	if a > b {
		return a
	}
	return b
}

func min[T int | int64](a, b T) T {
	if a < b {
		return a
	}
	return b
}

func run(request request, measure measure) {
	if request.text("mode") == "calibrate" {
		fmt.Printf("repeats\t%d\n", calibrate(measure, int64(request.integer("target")), request.integer("limit")))
	} else {
		repeats, values, warmups := request.integer("repeats"), request.integer("values"), request.integer("warmups")
		start := now()
		for warmup := 0; warmup < warmups && now()-start < 500_000_000; warmup++ {
			measure(repeats)
		}
		for value := 1; value <= values; value++ {
			for _, r := range measure(repeats) {
				text := strconv.FormatFloat(r.value, 'g', -1, 64)
				fmt.Printf("reading\t%d\t%s\t%s\t%s\t%d\t%s\n", value, r.metric, r.unit, text, r.count, r.detail)
			}
		}
	}
	fmt.Println("end")
}

// ---- overhead ----

func externalAdd(request request) measure {
	operations := request.integer("param.ops")
	flags := make(flags, operations)
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			start := readCounters()
			var group sync.WaitGroup
			group.Add(operations)
			for index := 0; index < operations; index++ {
				go func(index int) {
					flags[index]++
					group.Done()
				}(index)
			}
			group.Wait()
			elapsed.add(start)
			flags.verify()
		}
		return elapsed.readings(operations * repeats)
	}
}

func localAdd(request request) measure {
	operations := request.integer("param.ops")
	flags := make(flags, operations)
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			start := readCounters()
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
			elapsed.add(start)
			flags.verify()
		}
		return elapsed.readings(operations * repeats)
	}
}

// ---- dependencies ----

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
		close(c.done)
	}
}

func chain(request request) measure {
	length := request.integer("param.length")
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			chain := &chainRun{length: length, done: make(chan struct{})}
			start := readCounters()
			go chain.step(0)
			<-chain.done
			elapsed.add(start)
			check(!chain.outOfOrder && chain.visited == length, "a chain ran %d goroutines, or out of order", chain.visited)
		}
		return elapsed.withEdges(length*repeats, (length-1)*repeats)
	}
}

// The join is what follows the wait.
func fanIn(request request) measure {
	width := request.integer("param.width")
	flags := make(flags, width)
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			start := readCounters()
			var group sync.WaitGroup
			group.Add(width)
			for index := 0; index < width; index++ {
				go func(index int) {
					flags[index]++
					group.Done()
				}(index)
			}
			group.Wait()
			seen := flags.ran()
			elapsed.add(start)
			check(seen == width, "the join saw %d inputs complete", seen)
			flags.verify()
		}
		return elapsed.withEdges((width+1)*repeats, width*repeats)
	}
}

// The graph as opbench wrote it: a line per task, its nanoseconds and the tasks it depends on.
type taskGraph struct {
	nanoseconds        []float64
	inputs, dependents [][]int32
	sources            []int32
	edges              int
}

func readGraph(path string) *taskGraph {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
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
			check(err == nil && input < len(graph.inputs), "the graph has no task '%s' before this one", field)
			inputs = append(inputs, int32(input))
		}
		graph.nanoseconds = append(graph.nanoseconds, duration)
		graph.inputs = append(graph.inputs, inputs)
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
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

// What flows along the edges: each task writes a word of its own for this run, each consumer checks those of all its inputs.
type graphRun struct {
	*taskGraph
	words   []uint64
	rounds  []int
	waiting []int32
	wrong   int64
	run     uint64
	group   sync.WaitGroup
}

func newGraphRun(graph *taskGraph) *graphRun {
	count := len(graph.inputs)
	return &graphRun{taskGraph: graph, words: make([]uint64, count), rounds: make([]int, count), waiting: make([]int32, count)}
}

func (g *graphRun) setWork(scale, perMicrosecond float64) {
	for task, nanoseconds := range g.nanoseconds {
		g.rounds[task] = roundsFor(nanoseconds*scale, perMicrosecond)
	}
}

func (g *graphRun) word(task int32) uint64 { return g.run<<32 | uint64(task) }

func (g *graphRun) execute(task int32) {
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
	for _, dependent := range g.dependents[task] {
		if atomic.AddInt32(&g.waiting[dependent], -1) == 0 {
			go g.execute(dependent)
		}
	}
	g.group.Done()
}

// Runs the graph once; gives the time from the first task added to the end of the last.
func (g *graphRun) once(elapsed *elapsed) int64 {
	g.run++
	start := readCounters()
	for task, inputs := range g.inputs {
		g.waiting[task] = int32(len(inputs))
	}
	g.group.Add(len(g.inputs))
	added := now()
	for _, task := range g.sources {
		go g.execute(task)
	}
	g.group.Wait()
	makespan := now() - added
	elapsed.add(start)
	missing := 0
	for task, word := range g.words {
		if word != g.word(int32(task)) {
			missing++
		}
	}
	check(missing == 0 && g.wrong == 0, "%d tasks did not run, and %d ran twice or before an input", missing, g.wrong)
	return makespan
}

func graph(request request) measure {
	data := newGraphRun(readGraph(request.text("graph")))
	data.setWork(1, request.number("rounds_per_microsecond"))
	bound := request.number("bound_ns")
	return func(repeats int) []reading {
		var elapsed elapsed
		var total int64
		for repeat := 0; repeat < repeats; repeat++ {
			total += data.once(&elapsed)
		}
		readings := elapsed.withEdges(len(data.inputs)*repeats, data.edges*repeats)
		makespan := float64(total) / float64(repeats)
		readings = append(readings, reading{"makespan_ns", "ns", makespan, repeats, ""})
		if bound > 0 {
			readings = append(readings, reading{"efficiency", "ratio", bound / makespan, repeats, ""})
		}
		return readings
	}
}

// The shortest makespan for each granularity, of a graph whose work shrinks by half from run to run: as GranularitySweep.swift
// does it, which also gave the limits. opbench derives METG from what is printed here.
func metg(request request) measure {
	data := newGraphRun(readGraph(request.text("graph")))
	rate, load := request.number("rounds_per_microsecond"), request.number("load")
	cores, peak := request.number("cores"), request.number("peak")
	first, largest, smallest := request.number("sweep_first"), request.number("sweep_largest"), request.number("sweep_smallest")
	plenty, little := request.number("sweep_plenty"), request.number("sweep_little")
	enough, gain, divisor := request.number("sweep_enough"), request.number("sweep_gain"), request.number("sweep_step")
	runTime, runs, attempts := request.number("sweep_run_time"), request.integer("sweep_runs"), request.integer("sweep_attempts")

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
			work, reached := top, math.Inf(1)
			for step := 0; work >= smallest && reached >= little; step++ {
				if step == len(readings) {
					detail := "work_ns=" + strconv.FormatFloat(work, 'f', -1, 64)
					readings = append(readings, reading{"makespan_ns", "ns", math.Inf(1), len(data.inputs), detail})
				}
				shortest := &readings[step].value
				*shortest = math.Min(*shortest, best(work))
				reached = efficiency(work, *shortest)
				isReached = isReached || reached >= 0.5
				work /= divisor
			}
		}
		return readings
	}
}

// ---- forkjoin: trees whose nodes contribute to one sum, as in ForkJoinTree.swift ----

type tree[Node any] interface {
	root() Node
	value(node Node) uint64
	childCount(node Node) int
	child(node Node, index int) Node
}

// A goroutine for every child but the last, with which its parent goes on, and a WaitGroup for the others.
func solve[Node any, Tree tree[Node]](tree Tree, node Node) uint64 {
	count := tree.childCount(node)
	if count == 0 {
		return tree.value(node)
	}
	sums := make([]uint64, count)
	var group sync.WaitGroup
	group.Add(count - 1)
	for index := 0; index < count-1; index++ {
		go func(child Node, sum *uint64) {
			*sum = solve(tree, child)
			group.Done()
		}(tree.child(node, index), &sums[index])
	}
	sums[count-1] = solve(tree, tree.child(node, count-1))
	group.Wait()
	total := tree.value(node)
	for _, sum := range sums {
		total += sum
	}
	return total
}

// Plain recursion on one goroutine: the sum, and the number of nodes.
func serial[Node any, Tree tree[Node]](tree Tree, node Node) (sum uint64, tasks int) {
	sum, tasks = tree.value(node), 1
	for index, count := 0, tree.childCount(node); index < count; index++ {
		below, more := serial(tree, tree.child(node, index))
		sum += below
		tasks += more
	}
	return
}

type fib struct{ n int }

func (f fib) root() int { return f.n }

func (f fib) value(node int) uint64 {
	if node < 2 {
		return uint64(node)
	}
	return 0
}

func (f fib) childCount(node int) int {
	if node < 2 {
		return 0
	}
	return 2
}

func (f fib) child(node, index int) int { return node - 1 - index }

type skynetNode struct{ first, leaves uint64 }

type skynet struct{ leaves uint64 }

func (s skynet) root() skynetNode { return skynetNode{0, s.leaves} }

func (s skynet) value(node skynetNode) uint64 {
	if node.leaves == 1 {
		return node.first
	}
	return 0
}

func (s skynet) childCount(node skynetNode) int {
	if node.leaves == 1 {
		return 0
	}
	return 10
}

func (s skynet) child(node skynetNode, index int) skynetNode {
	share := node.leaves / 10
	return skynetNode{node.first + uint64(index)*share, share}
}

type board struct{ row, columns, left, right uint32 }

type queens struct{ n uint32 }

func (q queens) root() board { return board{} }

func (q queens) value(node board) uint64 {
	if node.row == q.n {
		return 1
	}
	return 0
}

func (q queens) free(node board) uint32 {
	return ^(node.columns | node.left | node.right) & (1<<q.n - 1)
}

func (q queens) childCount(node board) int {
	if node.row == q.n {
		return 0
	}
	return bits.OnesCount32(q.free(node))
}

func (q queens) child(node board, index int) board {
	free := q.free(node)
	for ; index > 0; index-- {
		free &= free - 1
	}
	square := free & -free
	return board{node.row + 1, node.columns | square, (node.left | square) << 1, (node.right | square) >> 1}
}

// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift. The hash is Go's own.
type geometricTree struct {
	depth, cutoff int
	logarithm     float64
}

type state struct {
	digest [sha1.Size]byte
	depth  int
}

func (g geometricTree) root() state {
	message := [20]byte{19: 19}
	return state{sha1.Sum(message[:]), 0}
}

func (g geometricTree) value(node state) uint64 {
	if node.depth < g.cutoff {
		return 1
	}
	return g.nodes(node)
}

func (g geometricTree) childCount(node state) int {
	if node.depth < g.cutoff {
		return g.branches(node)
	}
	return 0
}

func (g geometricTree) child(node state, index int) state {
	var message [24]byte
	copy(message[:], node.digest[:])
	binary.BigEndian.PutUint32(message[20:], uint32(index))
	return state{sha1.Sum(message[:]), node.depth + 1}
}

func (g geometricTree) nodes(node state) uint64 {
	sum := uint64(1)
	for index, count := 0, g.branches(node); index < count; index++ {
		sum += g.nodes(g.child(node, index))
	}
	return sum
}

func (g geometricTree) branches(node state) int {
	if node.depth >= g.depth {
		return 0
	}
	uniform := float64(binary.BigEndian.Uint32(node.digest[16:])&0x7fffffff) / (1 << 31)
	return min(int(math.Log(1-uniform)/g.logarithm), 100)
}

func forkJoin[Node any, Tree tree[Node]](request request, tree Tree) measure {
	tasks, expected := request.integer("tasks"), uint64(request.integer("expected"))
	// The median of at least three runs and two milliseconds.
	var times []float64
	begin := now()
	for len(times) == 0 || now()-begin < 500_000_000 && (len(times) < 3 || now()-begin < 2_000_000) {
		start := now()
		found, nodes := serial(tree, tree.root())
		times = append(times, float64(now()-start))
		check(found == expected && nodes == tasks,
			"plain recursion gives %d with %d tasks instead of %d with %d", found, nodes, expected, tasks)
	}
	sort.Float64s(times)
	alone := (times[(len(times)-1)/2] + times[len(times)/2]) / 2
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			start := readCounters()
			found := solve(tree, tree.root())
			elapsed.add(start)
			check(found == expected, "the result is %d instead of %d", found, expected)
		}
		speedup := alone * float64(repeats) / float64(elapsed.wall)
		return append(elapsed.readings(tasks*repeats), reading{"speedup", "ratio", speedup, repeats, ""})
	}
}

var benchmarks = map[string]func(request) measure{
	"overhead/external-add": externalAdd,
	"overhead/local-add":    localAdd,
	"dependencies/chain":    chain,
	"dependencies/fan-in":   fanIn,
	"dependencies/graph":    graph,
	"dependencies/metg":     metg,
	"forkjoin/fib":          func(r request) measure { return forkJoin[int](r, fib{r.integer("param.n")}) },
	"forkjoin/skynet": func(r request) measure {
		return forkJoin[skynetNode](r, skynet{uint64(r.integer("param.leaves"))})
	},
	"forkjoin/nqueens": func(r request) measure { return forkJoin[board](r, queens{uint32(r.integer("param.n"))}) },
	"forkjoin/uts": func(r request) measure {
		return forkJoin[state](r, geometricTree{r.integer("param.depth"), r.integer("param.cutoff"), math.Log(1 - 1/(1+4.0))})
	},
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	defer func() {
		if failure := recover(); failure != nil {
			fmt.Printf("failure\t%v\n", failure)
		}
	}()
	request := request{}
	for _, argument := range os.Args[1:] {
		key, value, found := strings.Cut(argument, "=")
		check(found, "'%s' is not key=value", argument)
		request[key] = value
	}
	prepare, found := benchmarks[request.text("benchmark")]
	check(found, "there is no %s on go", request.text("benchmark"))
	runtime.GOMAXPROCS(request.integer("workers"))
	run(request, prepare(request))
}
