// Sorts the same numbers again and again. `mix 3` does 3 % more work than `mix 0`: a planted slow-down.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int count, char **arguments) {
  const long rounds = 6000, more = count > 1 ? std::atol(arguments[1]) : 0;
  std::vector<std::uint64_t> numbers(1000);
  std::uint64_t sum = 0;
  for (long round = 0; round < rounds + rounds * more / 100; round++) {
    std::uint64_t state = 1;
    for (auto &number : numbers) number = state = state * 6364136223846793005u + 1442695040888963407u;
    std::sort(numbers.begin(), numbers.end());
    sum ^= numbers[static_cast<std::size_t>(round) % numbers.size()];
  }
  std::printf("%d\n", sum != 0);
}
