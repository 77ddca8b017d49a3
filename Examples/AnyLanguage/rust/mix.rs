// Sorts the same numbers again and again. `mix 3` does 3 % more work than `mix 0`: a planted slow-down.
fn main() {
    let rounds = 6000;
    let more: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut numbers = vec![0u64; 1000];
    let mut sum = 0;
    for round in 0..rounds + rounds * more / 100 {
        let mut state = 1u64;
        for number in numbers.iter_mut() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *number = state;
        }
        numbers.sort_unstable();
        sum ^= numbers[round % numbers.len()];
    }
    println!("{}", sum != 0);
}
