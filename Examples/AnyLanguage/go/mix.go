// Sorts the same numbers again and again. `mix 3` does 3 % more work than `mix 0`: a planted slow-down.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
)

func main() {
	const rounds = 6000
	more := 0
	if len(os.Args) > 1 {
		more, _ = strconv.Atoi(os.Args[1])
	}
	numbers := make([]uint64, 1000)
	sum := uint64(0)
	for round := 0; round < rounds+rounds*more/100; round++ {
		state := uint64(1)
		for place := range numbers {
			state = state*6364136223846793005 + 1442695040888963407
			numbers[place] = state
		}
		slices.Sort(numbers)
		sum ^= numbers[round%len(numbers)]
	}
	fmt.Println(sum != 0)
}
