package main

// Trees whose nodes contribute to one sum, as in ForkJoinTree.swift.

// #include "UnbalancedTree.h"
import "C"

import (
	"math"
	"math/bits"
	"sort"
	"strconv"
	"strings"
	"sync"
)

var forkJoin = benchmarks{
	"forkjoin/break-even": breakEven,
	"forkjoin/fib":        func(r request) measure { return solved[int](r, fib{r.integer("param.n")}) },
	"forkjoin/skynet": func(r request) measure {
		return solved[skynetNode](r, skynet{r.count("param.leaves")})
	},
	"forkjoin/nqueens": func(r request) measure { return solved[board](r, queens{uint32(r.integer("param.n"))}) },
	"forkjoin/uts": func(r request) measure {
		return solved[state](r, geometricTree{uint32(r.integer("param.depth")), uint32(r.integer("param.cutoff"))})
	},
}

type tree[Node any] interface {
	root() Node
	value(node Node) uint64
	childCount(node Node) int
	child(node Node, index int) Node
	// Plain recursion on one goroutine. Each tree has its own: the methods of a type parameter are called through a table.
	serial(node Node) uint64
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

func taskCount[Node any, Tree tree[Node]](tree Tree, node Node) int {
	tasks := 1
	for index, count := 0, tree.childCount(node); index < count; index++ {
		tasks += taskCount(tree, tree.child(node, index))
	}
	return tasks
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

func (f fib) serial(node int) uint64 {
	if node < 2 {
		return uint64(node)
	}
	return f.serial(node-1) + f.serial(node-2)
}

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

func (s skynet) serial(node skynetNode) uint64 {
	if node.leaves == 1 {
		return node.first
	}
	sum := uint64(0)
	for index := 0; index < 10; index++ {
		sum += s.serial(s.child(node, index))
	}
	return sum
}

type board struct{ row, columns, left, right uint32 }

// The placement with one more queen.
func (b board) with(square uint32) board {
	return board{b.row + 1, b.columns | square, (b.left | square) << 1, (b.right | square) >> 1}
}

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
	return node.with(free & -free)
}

func (q queens) serial(node board) uint64 {
	if node.row == q.n {
		return 1
	}
	sum := uint64(0)
	for free := q.free(node); free != 0; free &= free - 1 {
		sum += q.serial(node.with(free & -free))
	}
	return sum
}

// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift. The nodes are in C: a task below the
// cutoff is one call of 9 us.
type geometricTree struct{ depth, cutoff uint32 }

type state = C.struct_uts_node

func (g geometricTree) root() state { return C.uts_root(19) }

func (g geometricTree) value(node state) uint64 {
	if uint32(node.depth) < g.cutoff {
		return 1
	}
	return g.serial(node)
}

func (g geometricTree) childCount(node state) int {
	if uint32(node.depth) < g.cutoff {
		return int(C.uts_children(node, C.uint32_t(g.depth)))
	}
	return 0
}

func (g geometricTree) child(node state, index int) state { return C.uts_child(node, C.uint32_t(index)) }

// A node deeper than the cutoff belongs to the task of its ancestor there, so all nodes are counted in one way.
func (g geometricTree) serial(node state) uint64 { return uint64(C.uts_nodes(node, C.uint32_t(g.depth))) }

// Bodies of one length, divided into halves; see ForkBreakEven.swift.
type halvingNode struct{ first, bodies uint64 }

type halving struct {
	bodies uint64
	rounds int
}

func (h halving) root() halvingNode { return halvingNode{0, h.bodies} }

func (h halving) value(node halvingNode) uint64 {
	if node.bodies > 1 {
		return 0
	}
	if h.rounds > 0 {
		spin(h.rounds)
	}
	return node.first
}

func (h halving) childCount(node halvingNode) int {
	if node.bodies == 1 {
		return 0
	}
	return 2
}

func (h halving) child(node halvingNode, index int) halvingNode {
	half := node.bodies / 2
	if index == 0 {
		return halvingNode{node.first, half}
	}
	return halvingNode{node.first + half, node.bodies - half}
}

func (h halving) serial(node halvingNode) uint64 {
	if node.bodies == 1 {
		return h.value(node)
	}
	return h.serial(h.child(node, 0)) + h.serial(h.child(node, 1))
}

func median(values []float64) float64 {
	sort.Float64s(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// Is busy while other threads fall asleep. Returns the nanoseconds that this took.
func idle(pause int64) int64 {
	start := now()
	for now()-start < pause {
	}
	return now() - start
}

// Solves the problems of a sweep by plain recursion and with goroutines, by turns, as BreakEvenSweep does in Swift.
// opbench derives where forking pays from the times. The calling goroutine is one like any other, so `from` changes
// nothing.
func breakEven(request request) measure {
	from := request.text("param.from")
	check(from == "worker" || from == "outside", "from is worker or outside, not %s", from)
	least, turns, rate := request.number("sweep_least"), request.positive("sweep_turns"), request.number("rounds_per_microsecond")
	pause, most := request.count("sweep_pause"), request.positive("sweep_most")
	var trees []halving
	var details []string
	for _, problem := range strings.Split(request.text("sweep_problems"), ",") {
		count, body, _ := strings.Cut(problem, ":")
		bodies, noCount := strconv.ParseUint(count, 10, 64)
		nanoseconds, noBody := strconv.ParseFloat(body, 64)
		check(noCount == nil && noBody == nil && bodies > 0, "'%s' is no problem", problem)
		trees = append(trees, halving{bodies, roundsFor(nanoseconds, rate)})
		details = append(details, "bodies="+count+";body_ns="+body)
	}
	return func(sweeps int) []reading {
		var readings []reading
		for index, tree := range trees {
			// The nanoseconds of one solution.
			time := func(times int, solve func() uint64) float64 {
				sum, start, paused := uint64(0), now(), int64(0)
				for each := 0; each < times; each++ {
					sum += solve()
					if pause > 0 {
						paused += idle(int64(pause))
					}
				}
				took, expected := max(1, now()-start-paused), tree.bodies*(tree.bodies-1)/2*uint64(times)
				check(sum == expected, "the result is %d instead of %d", sum, expected)
				return float64(took) / float64(times)
			}
			// How often to solve a problem, so that the time is filled.
			often := func(solve func() uint64) int {
				for times := 1; ; {
					needed := min(most, max(1, int(math.Ceil(least/time(times, solve)))))
					if needed <= times {
						return needed
					}
					times = min(needed, times*10)
				}
			}
			alone := func() uint64 { return tree.serial(tree.root()) }
			forked := func() uint64 { return solve[halvingNode](tree, tree.root()) }
			few, many := often(alone), often(forked)
			var plain, goroutines []float64
			for turn := 0; turn < turns*sweeps; turn++ {
				plain = append(plain, time(few, alone))
				goroutines = append(goroutines, time(many, forked))
			}
			count, detail := int(tree.bodies), details[index]
			readings = append(readings, reading{"serial_ns", "ns", median(plain), count, detail},
				reading{"makespan_ns", "ns", median(goroutines), count, detail})
		}
		return readings
	}
}

func solved[Node any, Tree tree[Node]](request request, tree Tree) measure {
	tasks, expected := request.positive("tasks"), request.count("expected")
	check(taskCount[Node](tree, tree.root()) == tasks, "the tree has another number of tasks than %d", tasks)
	// The median of at least three runs and two milliseconds.
	var times []float64
	begin := now()
	for len(times) == 0 || now()-begin < 500_000_000 && (len(times) < 3 || now()-begin < 2_000_000) {
		start := now()
		found := tree.serial(tree.root())
		times = append(times, float64(now()-start))
		check(found == expected, "the result of plain recursion is %d instead of %d", found, expected)
	}
	alone := median(times)
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			start := readCounters()
			found := solve(tree, tree.root())
			elapsed.add(start)
			check(found == expected, "the result is %d instead of %d", found, expected)
		}
		speedup := alone * float64(repeats) / float64(elapsed.wall)
		return append(elapsed.readings(tasks*repeats, 0), reading{"speedup", "ratio", speedup, repeats, ""})
	}
}
