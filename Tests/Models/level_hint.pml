/* The hint of levels: `submit` of jobs from inside and `retract`
 * (Sources/StealingBackend/StealingPool+Submitting.swift, StealingPool+Steps.swift), under total store order. README.md
 * here says what is left out.
 *
 * quick  one_batch                 -DBATCHES=1 -DTAKERS=1
 * run    two_batches               -DBATCHES=2 -DTAKERS=2
 * mutant HINT_BEFORE_FENCE         -DBATCHES=1 -DTAKERS=1
 * mutant WITHOUT_FENCE             -DBATCHES=2 -DTAKERS=1
 * mutant LOOKS_BEFORE_TAKING_BACK  -DBATCHES=2 -DTAKERS=1
 * mutant TAKES_BACK_WITHOUT_LOOK   -DBATCHES=2 -DTAKERS=1
 */

/* One level. The owner pushes batches of one or two jobs; other workers take jobs, and take the hint back when they
 * find none. `bottom` is what all see, and `pushed` is what the owner has stored: the difference waits in its store
 * buffer. */
byte top, bottom, pushed;
bool hint = false;
byte gone;

/* The processor: a store becomes visible some time. */
active proctype StoreBuffer() {
end_drained:
  do
  :: atomic { bottom < pushed -> bottom++ }
  od
}

active proctype Owner() {
  byte batch = 0;
  bool seen;
  do
  :: batch < BATCHES ->
     if
     :: pushed++
     :: pushed = pushed + 2
     fi;
#ifdef HINT_BEFORE_FENCE
     seen = hint;
     if
     :: !seen -> hint = true       /* a locked instruction, but only where the bit was seen unset */
     :: else
     fi;
     bottom == pushed;
#else
#ifndef WITHOUT_FENCE
     bottom == pushed;             /* atomicMemoryFence */
#endif
     seen = hint;                  /* hint(levels:) */
     if
     :: !seen -> atomic { bottom == pushed -> hint = true }
     :: else
     fi;
#endif
     seen = false;
     batch++
  :: else -> break
  od;
  gone++
}

proctype Taker() {
  bool found;
  byte looks = 0;
  do
  :: looks < 3 && hint ->
     /* takeFromOthers: `top` moves by compare-exchange */
     atomic {
       found = (top < bottom);
       if
       :: found -> top++
       :: else
       fi
     };
     if
     :: found
     :: else ->
        /* retract */
#ifdef LOOKS_BEFORE_TAKING_BACK
        found = (top < bottom);
        hint = false;
#else
        hint = false;
#ifndef TAKES_BACK_WITHOUT_LOOK
        found = (top < bottom);
#endif
#endif
        if
        :: found -> hint = true
        :: else
        fi
     fi;
     found = false;
     looks++
  :: break
  od;
  gone++
}

init {
  byte taker = 0;
  atomic {
    do
    :: taker < TAKERS -> run Taker(); taker++
    :: else -> break
    od
  };
  gone == TAKERS + 1 && bottom == pushed;
  /* Every visible job has its hint. */
  assert(top == bottom || hint)
}
