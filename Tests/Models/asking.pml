/* Asking for forks: a thread that has given its place up, and is about to sleep, sees to it that an owner either shows
 * it a fork or has none (Sources/OperationForks/ForkList+Showing.swift, `show` and `ask`). The owner makes forks
 * without a fence, under total store order, and looks for free places only while `wanted` says so.
 *
 * quick  one_fork                  -DFORKS=1 -DWANTED=later
 * run    after_a_look_in_vain      -DFORKS=3 -DWANTED=later
 * run    from_the_beginning        -DFORKS=3 -DWANTED=more
 * deep   more_forks                -DFORKS=6 -DWANTED=more
 * mutant ASKS_NOBODY               -DFORKS=2 -DWANTED=later
 * mutant WITHOUT_BARRIER           -DFORKS=2 -DWANTED=later
 * mutant ASKS_WITH_ITS_PLACE       -DFORKS=3 -DWANTED=later
 * mutant LOOKS_BEFORE_ASKING       -DFORKS=2 -DWANTED=later
 */

mtype = { more, enough, later };

/* Forks made, as all see it; the owner's later stores to it wait in `buffer`, first in, first out. */
byte next = 0;
chan buffer = [3] of { byte };
/* What the scope has come to before. */
mtype wanted = WANTED;
byte places = 0;
/* Forks below are shown. */
byte private = 0;
bool asleep = false, woken = false, ownerIsInBody = false;

/* The processor: a store becomes visible some time. */
active proctype StoreBuffer() {
end_drained:
  do
  :: atomic { buffer ? next }
  od
}

active proctype Owner() {
  byte made = 0, forks = 0, seen;
  do
  :: made > private -> made--; buffer ! made   /* cplatform_fork_pop, of a private fork */
  :: forks < FORKS ->
     /* cplatform_fork_push */
     forks++;
     made++;
     buffer ! made;
     if
     :: wanted == more ->
        /* show: the exchange is a locked instruction, and the stores before it are visible */
        atomic { empty(buffer); wanted = enough };
        seen = places;
        if
        :: seen > 0 -> atomic { private = made; woken = true }
        :: else ->
           /* lookLater */
           atomic {
             if
             :: wanted == enough -> wanted = later
             :: else
             fi
           }
        fi
     :: wanted != more              /* the countdown is not at its end */
     fi
  :: forks == FORKS -> break
  od;
  /* A body that never comes back: it waits for its forks. */
  ownerIsInBody = true
}

/* The only other thread of the pool. */
active proctype Sleeper() {
  byte last;
#ifdef LOOKS_BEFORE_ASKING
  places++;
  last = next;
#endif
#ifdef ASKS_WITH_ITS_PLACE
  if
  :: wanted != more -> wanted = more
  :: else
  fi;
  places++;
#else
#ifndef LOOKS_BEFORE_ASKING
  places++;
#endif
#ifndef ASKS_NOBODY
  if
  :: wanted != more -> wanted = more
  :: else
  fi;
#endif
#endif
#ifndef WITHOUT_BARRIER
  empty(buffer);                    /* membarrier: the owner's stores are visible */
#endif
#ifndef LOOKS_BEFORE_ASKING
  last = next;
#endif
  if
  :: last > private -> woken = true /* uncover: the thread goes on, and shows the fork */
  :: else -> asleep = true
  fi
}

/* While the owner is in its body, the thread does not sleep beside a fork that nobody sees. */
active proctype Judge() {
  ownerIsInBody && (asleep || woken) && empty(buffer);
  assert(woken || private == next)
}
