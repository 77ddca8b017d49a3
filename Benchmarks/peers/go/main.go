// The benchmarks of opbench on goroutines. Started by opbench for one cell at a time; scripts/peers builds it.
//
// Form: a goroutine per operation and a sync.WaitGroup to wait for them, which is what everybody writes. GOMAXPROCS is
// the number of workers; the garbage collector runs as it comes. Each family is a file; a new benchmark is a function
// and its line in the table of one of them.
package main

func main() { serve(overhead, dependencies, forkJoin, asynchronous, latency) }
