"""A ratio of times in round words, for readers who see no interval: "20 times as fast", "level", "4 to 5 times as
slow".

The rules, which `results/SUMMARY.md` shows beside the exact numbers:

* A round number has one significant digit. It has two, or three, where it would otherwise differ from the exact number
  by more than a tenth, or lie outside of the 95 % interval.
* What differs by at most 15 % is level: the whole interval lies between 1/1.15 and 1.15.
* Where the interval holds 1 and is not that narrow, no difference is shown.
* Beside several others, the words go from the least end of their intervals to the greatest.
"""

# What differs by at most this factor is level.
LEVEL_TEXT = "1.15"
_WORDS = {"faster": "as fast", "slower": "as slow", "level": "level", "none": "no difference shown"}


def in_round_words(means):
    """`means` are ratios with intervals: the time of one subject over that of each of the others."""
    directions = {mean.round.direction for mean in means}
    if len(directions) > 1:
        return "; ".join(dict.fromkeys(in_round_words([mean]) for mean in means))
    words = _WORDS[means[0].round.direction]
    if directions <= {"level", "none"}:
        return words
    if len(means) == 1:
        return f"{means[0].round.times} times {words}"
    ends = sorted(end for mean in means for end in zip(mean.round.ends, mean.round.end_texts))
    least, greatest = ends[0][1], ends[-1][1]
    return f"{least} times {words}" if least == greatest else f"{least} to {greatest} times {words}"
