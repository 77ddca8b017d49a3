package main

// What opbench and its peers say to each other: arguments in, lines out, and the clocks and counters between.

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// ---- Arguments ----

type request map[string]string

func newRequest(arguments []string) request {
	request := request{}
	for _, argument := range arguments {
		key, value, found := strings.Cut(argument, "=")
		check(found, "'%s' is not key=value", argument)
		request[key] = value
	}
	return request
}

// A missing or malformed value ends the process with a failure line.
func (r request) text(key string) string {
	value, found := r[key]
	check(found, "the request has no %s", key)
	return value
}

func (r request) count(key string) uint64 {
	value, err := strconv.ParseUint(r.text(key), 10, 64)
	check(err == nil, "%s is no number in the request", key)
	return value
}

func (r request) integer(key string) int {
	value := r.count(key)
	check(value <= math.MaxInt, "%s is too large in the request", key)
	return int(value)
}

// At least 1.
func (r request) positive(key string) int {
	value := r.integer(key)
	check(value > 0, "%s is 0 in the request", key)
	return value
}

func (r request) number(key string) float64 {
	value, err := strconv.ParseFloat(r.text(key), 64)
	check(err == nil, "%s is no number in the request", key)
	return value
}

func check(holds bool, format string, arguments ...any) {
	if !holds {
		panic(fmt.Errorf(format, arguments...))
	}
}

// ---- Clocks and counters ----

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

// Whether that number of nanoseconds has passed.
func hasPassed(nanoseconds uint64, start int64) bool { return uint64(now()-start) >= nanoseconds }

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

func (e *elapsed) readings(operations, edges int) []reading {
	count := float64(operations)
	readings := []reading{
		{"ns_per_op", "ns", float64(e.wall) / count, operations, ""},
		{"cpu_ns_per_op", "ns", float64(e.cpu) / count, operations, ""},
		{"voluntary_switches_per_op", "switches", float64(e.voluntary) / count, operations, ""},
		{"involuntary_switches_per_op", "switches", float64(e.involuntary) / count, operations, ""},
	}
	if edges > 0 {
		readings = append(readings, reading{"ns_per_edge", "ns", float64(e.wall) / float64(edges), edges, ""})
	}
	return readings
}

// ---- CPUs ----

// Moves this thread onto the CPU of that index among those it may use, modulo their number; where it may run stays as
// it is. Each block of a run begins on the next CPU, with all its programs.
func begin(place uint64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one [16]uint64
	size := unsafe.Sizeof(all)
	length, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, size, uintptr(unsafe.Pointer(&all)))
	if failed != 0 {
		return
	}
	var cpus []uint64
	for cpu := uint64(0); cpu < uint64(length)*8; cpu++ {
		if all[cpu/64]>>(cpu%64)&1 == 1 {
			cpus = append(cpus, cpu)
		}
	}
	cpu := cpus[place%uint64(len(cpus))]
	one[cpu/64] = 1 << (cpu % 64)
	_, _, failed = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&one)))
	if failed == 0 {
		syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&all)))
	}
}

// ---- Calibrating and timing ----

// Runs and checks n repeats, and gives one value.
type measure func(repeats int) []reading

// Does everything that is not to be timed.
type benchmarks map[string]func(request) measure

// The measure of most benchmarks: once is timed, verify fails when it did anything other than asked.
func rounds(operations, edges int, once, verify func()) measure {
	return func(repeats int) []reading {
		var elapsed elapsed
		for repeat := 0; repeat < repeats; repeat++ {
			start := readCounters()
			once()
			elapsed.add(start)
			verify()
		}
		return elapsed.readings(operations*repeats, edges*repeats)
	}
}

// How long the timed work of some repeats takes, in nanoseconds.
func timed(measure measure, repeats int) int64 {
	start := now()
	readings := measure(repeats)
	for _, metric := range []string{"ns_per_op", "makespan_ns"} {
		for _, r := range readings {
			if r.metric == metric {
				return max(int64(r.value*float64(r.count)), 1)
			}
		}
	}
	return max(now()-start, 1)
}

// As MeasuringProcess.swift and Calibration.swift do: after the lead-in, at most ten times as many repeats at a time,
// and no more than a slower subject needed; the median of three attempts.
func calibrate(measure measure, target uint64, limit int, leadIn uint64) int {
	var led int64
	for born := now(); ; {
		led = timed(measure, 1)
		if hasPassed(leadIn, born) {
			break
		}
	}
	repeats := 1
	answers := []int{}
	for len(answers) < 3 {
		took := min(timed(measure, repeats), led)
		led = math.MaxInt64
		needed := max(1, int(math.Ceil(float64(target)/(float64(took)/float64(repeats)))))
		if uint64(took) >= target {
			if repeats == 1 && uint64(took) >= 2*target {
				return 1
			}
			answers = append(answers, min(needed, limit))
			repeats = max(answers[len(answers)-1], (repeats+1)/2)
		} else if repeats >= limit {
			return limit
		} else {
			repeats = min(min(max(needed, repeats+1), repeats*10), limit)
		}
	}
	sort.Ints(answers)
	return answers[1]
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

// Stops all threads before it returns: the signal is one to this thread.
func stop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGSTOP)
}

// Runs until the lead-in has passed, at least once if there is one; then takes values until the budget has passed, at
// least one. Prints nothing before the last value: threads would fall asleep meanwhile, and the first repeat of a value
// be dearer. In turns, stops before each value until opbench lets the process go on, and runs once uncounted.
func time(measure measure, repeats, more, values int, leadIn, budget uint64, inTurns bool) {
	for born := now(); leadIn > 0; {
		measure(repeats)
		if hasPassed(leadIn, born) {
			break
		}
	}
	taken := [][]reading{}
	for spent := uint64(0); len(taken) < values; {
		if inTurns {
			fmt.Println("turn")
			stop()
			measure(repeats)
		}
		repeatsOfValue := repeats
		if len(taken)%2 == 1 {
			repeatsOfValue += more
		}
		start := now()
		taken = append(taken, measure(repeatsOfValue))
		if spent += uint64(now() - start); spent >= budget {
			break
		}
	}
	for index, readings := range taken {
		for _, r := range readings {
			text := strconv.FormatFloat(r.value, 'g', -1, 64)
			fmt.Printf("reading\t%d\t%s\t%s\t%s\t%d\t%s\n", index+1, r.metric, r.unit, text, r.count, r.detail)
		}
	}
}

func run(request request, prepare func(request) measure) {
	switch mode := request.text("mode"); mode {
	case "calibrate":
		target, limit, leadIn := request.count("target"), request.positive("limit"), request.count("lead_in")
		fmt.Printf("repeats\t%d\n", calibrate(prepare(request), target, limit, leadIn))
	case "time":
		repeats, values := request.positive("repeats"), request.positive("values")
		leadIn, budget := request.count("lead_in"), request.count("budget")
		_, inTurns := request["turns"]
		time(prepare(request), repeats, int(request.count("more")), values, leadIn, budget, inTurns)
	default:
		check(false, "there is no mode %s", mode)
	}
	fmt.Println("end")
}

// The version of the protocol, which is PeerProtocol.version of opbench.
const protocolVersion = 1

// The main function. GOMAXPROCS is the number of workers.
func serve(families ...benchmarks) {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Printf("opbench-peer\t%d\nversion\t%s\n", protocolVersion, runtime.Version())
		for _, family := range families {
			for name := range family {
				fmt.Printf("benchmark\t%s\n", name)
			}
		}
		fmt.Println("end")
		return
	}
	defer func() {
		if failure := recover(); failure != nil {
			fmt.Printf("failure\t%s\n", strings.NewReplacer("\n", " ", "\t", " ").Replace(fmt.Sprint(failure)))
		}
	}()
	request := newRequest(os.Args[1:])
	if _, isPlaced := request["place"]; isPlaced {
		begin(request.count("place"))
	}
	name := request.text("benchmark")
	for _, family := range families {
		if prepare, found := family[name]; found {
			_, isGiven := request["strategy"]
			check(!isGiven, "'go' has no strategy to choose")
			runtime.GOMAXPROCS(request.positive("workers"))
			run(request, prepare)
			return
		}
	}
	check(false, "there is no %s on go", name)
}
