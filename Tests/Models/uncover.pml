/* Uncovering: a thread without work shows the forks that an owner keeps private
 * (Sources/OperationForks/ForkList.swift, `uncover`), while the owner makes forks and takes them back without a
 * fence, under total store order.
 *
 * quick  one_join                  -DFORKS=2 -DDEPTH=2 -DLOOKS=1
 * run    two_looks                 -DFORKS=4 -DDEPTH=2 -DLOOKS=2
 * run    three_deep                -DFORKS=4 -DDEPTH=3 -DLOOKS=2
 * deep   more_forks                -DFORKS=6 -DDEPTH=3 -DLOOKS=3
 * mutant WITHOUT_BARRIER           -DFORKS=2 -DDEPTH=2 -DLOOKS=1
 * mutant LOADS_BEFORE_STORE        -DFORKS=2 -DDEPTH=2 -DLOOKS=1
 * mutant HIDES_NOTHING             -DFORKS=2 -DDEPTH=2 -DLOOKS=1
 * mutant LOOKS_BEFORE_BARRIER      -DFORKS=2 -DDEPTH=2 -DLOOKS=1
 * mutant SETTLES_WITHOUT_LOCK      -DFORKS=2 -DDEPTH=2 -DLOOKS=1
 * mutant OWNER_KEEPS_PLACE         -DFORKS=4 -DDEPTH=2 -DLOOKS=2
 */

#define END 7

/* The list: a stack of forks. `next` is what all see; the owner's later stores to it wait in `buffer`, first in, first
 * out. */
byte next = 0;
byte private = 0;
bool locked = false;
chan buffer = [3] of { byte };

/* Of the fork that is at a place now. */
bool shown[DEPTH], taken[DEPTH], done[DEPTH];
byte ran[DEPTH];
bool over = false;

/* The processor: a store becomes visible some time. */
active proctype StoreBuffer() {
end_drained:
  do
  :: atomic { buffer ? next }
  od
}

/* A locked instruction of the owner: its stores are visible before. */
inline lock_by_owner() { atomic { empty(buffer) && !locked -> locked = true } }
inline unlock() { locked = false }

inline run_here(place) {
  ran[place]++;
  assert(ran[place] == 1)
}

active proctype Owner() {
  byte made = 0, depth = 0, place, seen;
  bool isPrivate;
  do
  :: made < FORKS && depth < DEPTH ->
     /* cplatform_fork_push */
     atomic {
       shown[depth] = false; taken[depth] = false; done[depth] = false; ran[depth] = 0
     };
     buffer ! depth + 1;
     depth++;
     made++
  :: depth > 0 ->
     /* cplatform_fork_pop */
     place = depth - 1;
#ifdef LOADS_BEFORE_STORE
     seen = private;
     buffer ! place;
#else
     buffer ! place;
     seen = private;
#endif
     if
     :: place >= seen -> run_here(place)
     :: else ->
        /* settle */
#ifndef SETTLES_WITHOUT_LOCK
        lock_by_owner();
#endif
        isPrivate = (place >= private);
        if
        :: isPrivate
        :: else ->
           /* takeBack: by the compare-exchange of the slot */
           atomic {
             if
             :: shown[place] && !taken[place] ->
                taken[place] = true; isPrivate = true;
#ifndef OWNER_KEEPS_PLACE
                private = place
#endif
             :: else -> buffer ! place + 1
             fi
           }
        fi;
#ifndef SETTLES_WITHOUT_LOCK
        empty(buffer);
        unlock();
#endif
        if
        :: isPrivate -> run_here(place)
        :: else ->
           /* waitFor */
           done[place];
           lock_by_owner();
           buffer ! place;
#ifndef OWNER_KEEPS_PLACE
           private = place;
#endif
           empty(buffer);
           unlock()
        fi
     fi;
     assert(ran[place] == 1);
     depth--
  :: made == FORKS && depth == 0 -> break
  od;
  over = true
}

/* A thread that has found nothing. */
active proctype Idle() {
  byte looks = 0, first, last;
  do
  :: looks < LOOKS ->
     if
     :: atomic { !locked -> locked = true };
        first = private;
#ifdef LOOKS_BEFORE_BARRIER
        last = next;
#endif
#ifndef HIDES_NOTHING
        private = END;
#endif
#ifndef WITHOUT_BARRIER
        empty(buffer);              /* membarrier: the owner's stores are visible */
#endif
#ifndef LOOKS_BEFORE_BARRIER
        last = next;
#endif
        /* show(_:before:): as many as there are, or one */
        if
        :: last > first + 1 -> last = first + 1
        :: skip
        fi;
        do
        :: first < last -> shown[first] = true; first++
        :: else -> break
        od;
        private = first;
        unlock()
     :: locked                      /* tryLock */
     fi;
     looks++
  :: looks == LOOKS -> break
  od
}

active proctype Thief() {
  byte place = DEPTH;
  do
  :: atomic { place == DEPTH && shown[0] && !taken[0] -> taken[0] = true; place = 0 }
  :: atomic { place == DEPTH && shown[1] && !taken[1] -> taken[1] = true; place = 1 }
#if DEPTH > 2
  :: atomic { place == DEPTH && shown[2] && !taken[2] -> taken[2] = true; place = 2 }
#endif
  :: place < DEPTH -> run_here(place); done[place] = true; place = DEPTH
  :: over -> break
  od
}
