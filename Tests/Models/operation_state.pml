/* One operation's state word, its dependents, waiters and leaving: Sources/OperationCore/Lifecycle, with
 * Operation+Dependencies.swift. README.md here says what is left out.
 *
 * quick  waiting_and_cancelling    -DWAITERS -DCANCELLING
 * run    waiting_and_cancelling    -DWAITERS -DCANCELLING
 * run    two_dependents            -DSECOND_DEPENDENT -DWAITERS
 * run    removing                  -DREMOVING -DCANCELLING
 * run    adding_late               -DADDING_LATE -DCANCELLING
 * run    adding_late_to_another    -DADDING_LATE -DKEEPING_ONE
 * run    moving                    -DMOVING -DWAITERS
 * deep   all_of_one                -DWAITERS -DCANCELLING -DREMOVING -DADDING_LATE -DKEEPING_ONE bitstate
 * deep   moving_and_removing       -DMOVING -DREMOVING -DCANCELLING -DWAITERS bitstate
 * mutant FLAG_OF_DEPENDENTS_READ_BEFORE_FINISH -DWAITERS
 * mutant FLAGGED_AFTER_PUSH        -DWAITERS
 * mutant EDGE_NOT_ASKED_FOR        -DREMOVING
 * mutant REMOVAL_LOOKS_BEFORE_FLAG -DREMOVING
 * mutant LISTED_BEFORE_EPILOGUE_FLAG -DADDING_LATE
 * mutant PUSHED_BEFORE_COUNTED     -DADDING_LATE
 * mutant SLEEPS_WITHOUT_COMPARING  -DWAITERS
 * mutant SLEEPS_WITHOUT_FLAG       -DWAITERS
 * mutant WAITERS_READ_BEFORE_FINISH -DWAITERS
 * mutant DEPARTED_BEFORE_FINISHED  -DWAITERS
 * mutant CLAIMS_WITHOUT_COMPARING  -DWAITERS
 * mutant QUEUE_NOT_WANTED          -DWAITERS
 * mutant QUEUE_READ_WITHOUT_LOCK   -DWAITERS
 * mutant LINK_GIVEN_BACK_BLINDLY   -DCANCELLING
 * mutant HOLD_OF_LINK_FORGOTTEN    -DCANCELLING
 */
c_decl {
\#include "state_word.h"
}

/* A flag in the number that it has in StateWord. */
#define ENQUEUED 1
#define LISTED 2
#define SCHEDULED 4
#define LINKED 8
#define CANCELLED 16
#define STARTED 32
#define SKIPPED 64
#define FINISHED 128
#define HAS_WAITERS 256
#define HAS_DEPENDENTS 512
#define MOVED 4096
#define EDGES_REMOVED 8192
#define HAS_EPILOGUE 131072
#define QUEUE_WANTED 524288
#define ONE_DEPENDENCY 1048576
#define NO_WORD 16777215

/* The operations: P finishes some time; D depends on it from the start; Q is added to D's dependencies late; E depends
 * on P, too. */
#define P 0
#define D 1
#define Q 2
#define E 3
#define OPERATIONS 4
#define bit(i) (1 << (i))
#define SEALED 128

int word[OPERATIONS];
byte stack[OPERATIONS];            /* Operation.dependents: set of operations whose edges are in it, or SEALED */
bool departed[OPERATIONS];
byte linkEntry, movedEntry;        /* sets: entries in a backend; of the moved ones, the newest */
byte oldEntry;                     /* set: a moved entry that a newer one made void */
bool asleep[OPERATIONS];           /* a waiter sleeps on the word */

/* D's dependencies (the only ones that change), under its lock. */
bool locked;
byte listedDependencies, linkedDependencies;   /* sets */
byte removed;                      /* set: dependencies whose edge is void */

/* What the properties need to remember. */
byte launched, left, ran;          /* sets */

/* Only within one d_step: a search that goes back does not restore them. */
hidden int before, after;
hidden byte action;

#define has(operation, flag) ((word[operation] & (flag)) != 0)

/* The pure functions of StateWord on a word: its next word and what they decide. */
inline releasing_one(given) { before = given; c_code { after = state_word_next(before, RELEASE); action = state_word_action(before, RELEASE); } }
inline cancelling(given) { before = given; c_code { after = state_word_next(before, CANCEL); action = state_word_action(before, CANCEL); } }
inline claiming_by_link(given) { before = given; c_code { after = state_word_next(before, CLAIM + 8); action = state_word_action(before, CLAIM + 8); } }
inline claiming_moved(given) { before = given; c_code { after = state_word_next(before, CLAIM); action = state_word_action(before, CLAIM); } }
inline finishing_and_leaving(given) { before = given; c_code { after = state_word_next(before, FINISH); } }
inline claiming_for_waiter(given) { before = given; c_code { after = state_word_next(before, WAITER_CLAIM); } }
inline may_leave(given) { before = given; c_code { action = state_word_action(before, MAY_LEAVE); }; assert(action <= 1) }
#define RELEASED_NOTHING 0
#define RELEASED_BY_LINK 1
#define RELEASED_MOVED 2
#define RELEASED_LEAVE 4
#define CANCELLED_BY_LINK 1
#define CANCELLED_MOVED 2
#define CLAIM_START 0
#define CLAIM_SKIP 1
#define CLAIM_DROP 2
#define CLAIM_DROP_AND_LEAVE 3

/* leaveQueue and the release of the queue's reference: the operation's reference to its queue goes, too. Where others
 * may look for the queue, under the operation's lock (a lock of D's; nobody looks at the others). */
inline leave(operation) {
  assert(!(left & bit(operation)));
  left = left | bit(operation)
}

inline leave_under_lock(operation) {
  d_step { operation != D || !locked -> leave(operation) }
}

/* Handover.add and the submission: by link, or as a new MovedEntry that makes older ones void */
inline submit_by_link(operation) {
  assert(!(linkEntry & bit(operation)));
  linkEntry = linkEntry | bit(operation)
}
inline submit_moved(operation) {
  if
  :: (movedEntry & bit(operation)) -> oldEntry = oldEntry | bit(operation)
  :: else
  fi;
  movedEntry = movedEntry | bit(operation)
}

#define NOBODY 9
#define LEAVING 16777214

/* Operation.release(by:): the look at edgesRemoved and the compare-exchange are on one word. */
inline release(operation, dependency) {
  do
  /* it is still there: its count holds it, or what the edge of a removed dependency holds */
  :: d_step { assert(!(left & bit(operation)) || dependency != NOBODY && (removed & bit(dependency))); old = word[operation] };
#ifndef EDGE_NOT_ASKED_FOR
     if
     :: dependency != NOBODY && (old & EDGES_REMOVED) ->
        /* forgetRemoved */
        d_step {
          !locked ->
          if
          :: (removed & bit(dependency)) -> removed = removed & ~bit(dependency); old = NO_WORD
          :: else
          fi
        }
     :: else
     fi;
#endif
     if
     :: old == NO_WORD -> break
     :: else
     fi;
     d_step {
       if
       :: word[operation] == old ->
          releasing_one(old);
          assert(after != NO_WORD);
          word[operation] = after;
          old = NO_WORD;
          if
          :: action == RELEASED_BY_LINK -> submit_by_link(operation)
          :: action == RELEASED_MOVED -> submit_moved(operation)
          :: action == RELEASED_LEAVE -> old = LEAVING
          :: else
          fi
       :: else
       fi
     };
     if
     :: old == NO_WORD -> break
     :: old == LEAVING -> leave_under_lock(operation); break
     :: else
     fi
  od;
  old = 0
}
/* Operation.releaseDependents */
inline release_dependents(operation) {
  d_step {
    edges = stack[operation];
    if
    :: edges == SEALED -> edges = 0
    :: else
    fi;
    stack[operation] = SEALED
  };
  if
  :: (edges & bit(D)) -> release(D, operation)
  :: else
  fi;
  if
  :: (edges & bit(E)) -> release(E, operation)
  :: else
  fi;
  edges = 0
}

/* Operation.claimAsDependency: before the edge may be pushed */
inline flag_as_dependency(dependency) {
#ifndef FLAGGED_AFTER_PUSH
  word[dependency] = word[dependency] | HAS_DEPENDENTS
#else
  skip
#endif
}

/* Operation.push: what has finished takes no edge; a finish may still come behind that look */
#define IS_LINKED 0
#define IS_FINISHED 1
inline push(dependency, dependent, result) {
  result = (has(dependency, FINISHED) -> IS_FINISHED : IS_LINKED);
  if
  :: result == IS_LINKED ->
     d_step {
       if
       :: stack[dependency] == SEALED -> result = IS_FINISHED
       :: else ->
          assert(!(stack[dependency] & bit(dependent)));
          stack[dependency] = stack[dependency] | bit(dependent)
       fi
     }
  :: else
  fi;
#ifdef FLAGGED_AFTER_PUSH
  word[dependency] = word[dependency] | HAS_DEPENDENTS
#endif
}

inline mark_cancelled(operation) {
  d_step {
    cancelling(word[operation]);
    if
    :: after != NO_WORD ->
       word[operation] = after;
       if
       :: action == CANCELLED_BY_LINK -> submit_by_link(operation)
       :: action == CANCELLED_MOVED -> submit_moved(operation)
       :: else
       fi
    :: else
    fi
  }
}

/* The finish acts on the flags of the word that it changed; two defects take one from an earlier look. */
#ifdef FLAG_OF_DEPENDENTS_READ_BEFORE_FINISH
#define EARLY HAS_DEPENDENTS
#endif
#ifdef WAITERS_READ_BEFORE_FINISH
#define EARLY HAS_WAITERS
#endif
#ifdef EARLY
#define look_early(operation) old = word[operation]
#define seen_early(operation) ((word[operation] & ~EARLY) | (old & EARLY))
#else
#define look_early(operation) skip
#define seen_early(operation) word[operation]
#endif

/* Operation.launch, from the claim on: main(), finishNow, and what belongs after start(). */
inline launch(operation, ownsLink) {
  gone = false;
#ifdef DEPARTED_BEFORE_FINISHED
  departed[operation] = true;
#endif
  if
  :: ownsLink ->
     /* finishNow: the one-step finish */
     look_early(operation);
     d_step {
       finishing_and_leaving(word[operation]);
       old = seen_early(operation);
       if
       :: after != NO_WORD -> word[operation] = after; gone = true
       :: else
       fi
     }
  :: else
  fi;
  if
  :: !gone ->
     /* finishTheLongWay: raise(finished and started) */
     look_early(operation);
     d_step {
       old = seen_early(operation);
       assert(!(old & FINISHED));
       word[operation] = word[operation] | FINISHED | STARTED;
       may_leave(word[operation]);
       leaves = action
     }
  :: else
  fi;
  /* serve: departed, the waiters, the dependents */
  flags = old;
  departed[operation] = true;
  if
  :: (flags & HAS_WAITERS) -> asleep[operation] = false
  :: else
  fi;
  if
  :: (flags & HAS_DEPENDENTS) -> release_dependents(operation)
  :: else
  fi;
  flags = 0;
  if
  :: leaves -> leave_under_lock(operation); leaves = false
  :: else
  fi;
  if
  /* the one-step finish leaves without the lock */
  :: gone -> d_step { leave(operation); gone = false }
  :: !gone && ownsLink ->
     /* after start(): linked is given back */
     d_step {
       word[operation] = word[operation] & ~LINKED;
#ifdef LINK_GIVEN_BACK_BLINDLY
       leaves = true
#else
       may_leave(word[operation]);
#ifndef HOLD_OF_LINK_FORGOTTEN
       leaves = action
#endif
#endif
     };
     if
     :: leaves -> leave_under_lock(operation); leaves = false
     :: else
     fi
  :: else
  fi;
  old = 0
}

/* Started once; not before what it depends on; not main() when cancelled. */
inline started(operation, skips) {
  assert(!(launched & bit(operation)));
  launched = launched | bit(operation);
  if
  :: !skips ->
     assert(!has(operation, CANCELLED));
     assert(operation != D || !(listedDependencies & bit(P)) || has(P, FINISHED));
     assert(operation != D || !(listedDependencies & bit(Q)) || has(Q, FINISHED));
     assert(operation != E || has(P, FINISHED));
     ran = ran | bit(operation)
  :: else
  fi
}

#define IN_QUEUE (bit(P) | bit(D) | OTHER_Q | OTHER_E)
#ifdef ADDING_LATE
#define OTHER_Q bit(Q)
#else
#define OTHER_Q 0
#endif
#ifdef SECOND_DEPENDENT
#define OTHER_E bit(E)
#else
#define OTHER_E 0
#endif

/* To see whether a late dependency is linked, D has no other one. */
#if defined(ADDING_LATE) && !defined(KEEPING_ONE)
#define HAS_EPILOGUE_OF_D 0
#define DEPENDENCIES_OF_D 0
#else
#define HAS_EPILOGUE_OF_D HAS_EPILOGUE
#define DEPENDENCIES_OF_D bit(P)
#endif

#define pick_entry(set, operation) atomic { (set & bit(operation)) -> set = set & ~bit(operation); chosen = operation }

/* A worker: takes entries from the backend. Operation.runEntry, MovedEntry.runJob. */
proctype Worker() {
  byte chosen, edges; int old, flags; bool gone, leaves, byLink;
  do
  :: true ->
end_idle:
     if
     :: pick_entry(linkEntry, P) -> byLink = true
     :: pick_entry(linkEntry, D) -> byLink = true
     :: pick_entry(linkEntry, Q) -> byLink = true
     :: pick_entry(linkEntry, E) -> byLink = true
     :: pick_entry(movedEntry, D) -> byLink = false
     /* isCurrent is false: discarded */
     :: d_step { (oldEntry & bit(D)) -> oldEntry = oldEntry & ~bit(D); chosen = NOBODY }
     fi;
     if
     :: chosen == NOBODY
     :: else ->
        d_step {
          if
          :: byLink -> claiming_by_link(word[chosen])
          :: else -> claiming_moved(word[chosen])
          fi;
          assert(action <= CLAIM_DROP_AND_LEAVE);
          word[chosen] = after;
          gone = true;
          if
          :: action == CLAIM_START -> started(chosen, false)
          :: action == CLAIM_SKIP -> started(chosen, true)
          :: action == CLAIM_DROP_AND_LEAVE -> leaves = true; gone = false
          :: else -> gone = false
          fi
        };
        if
        :: gone -> launch(chosen, byLink)
        :: leaves -> leave_under_lock(chosen); leaves = false
        :: else
        fi
     fi
  od
}

/* OperationQueue.add: becomeStartable with linkDependencies. Operation D. */
proctype EnqueuerOfD() {
  byte edges, result, satisfied; int old; bool ownCountUsed;
  if
  :: DEPENDENCIES_OF_D & bit(P) -> flag_as_dependency(P)
  :: else
  fi;
  d_step {
    if
    :: word[D] == (ONE_DEPENDENCY | ENQUEUED) ->
       /* listingAndScheduling */
       word[D] = ENQUEUED | LISTED | SCHEDULED | LINKED;
       submit_by_link(D);
       ownCountUsed = true
    :: else ->
       old = word[D];
       word[D] = word[D] | LISTED
    fi
  };
  if
  :: ownCountUsed -> goto done
  :: else
  fi;
  if
  :: (old & CANCELLED) ->
     old = 0;
     mark_cancelled(D);
     release(D, NOBODY);
     goto done
  :: else -> old = 0
  fi;
  if
  :: has(D, HAS_EPILOGUE) ->
     d_step { !locked -> locked = true };
     if
     :: listedDependencies == bit(P) || listedDependencies == bit(Q) ->
        /* an only dependency: the queue's own count becomes its edge's */
        if
        :: linkedDependencies == 0 ->
           if
           :: listedDependencies == bit(P) -> push(P, D, result); satisfied = P
           :: else -> push(Q, D, result); satisfied = Q
           fi;
           if
           :: result != IS_FINISHED -> linkedDependencies = linkedDependencies | bit(satisfied); ownCountUsed = true
           :: else
           fi;
           satisfied = 0
        :: else
        fi
     :: listedDependencies == (bit(P) | bit(Q)) && linkedDependencies != listedDependencies ->
        /* link: the queue's own count becomes an edge's */
        ownCountUsed = true;
        d_step {
          word[D] = word[D] + (linkedDependencies == 0 -> 1 : 0) * ONE_DEPENDENCY
        };
        if
        :: !(linkedDependencies & bit(P)) ->
           push(P, D, result);
           if
           :: result == IS_FINISHED -> satisfied++
           :: else -> linkedDependencies = linkedDependencies | bit(P)
           fi
        :: else
        fi;
        if
        :: !(linkedDependencies & bit(Q)) ->
           push(Q, D, result);
           if
           :: result == IS_FINISHED -> satisfied++
           :: else -> linkedDependencies = linkedDependencies | bit(Q)
           fi
        :: else
        fi;
        if
        :: satisfied > 0 -> ownCountUsed = false
        :: else
        fi;
        if
        :: satisfied > 1 -> word[D] = word[D] - ONE_DEPENDENCY
        :: else
        fi;
        satisfied = 0
     :: else
     fi;
     locked = false
  :: else
  fi;
  if
  :: !ownCountUsed -> release(D, NOBODY)
  :: else
  fi;
done:
  skip
}

#ifdef SECOND_DEPENDENT
proctype EnqueuerOfE() {
  byte edges, result; int old;
  flag_as_dependency(P);
  word[E] = word[E] | LISTED;
  push(P, E, result);
  if
  :: result == IS_FINISHED -> release(E, NOBODY)
  :: else
  fi
}
#endif

#ifdef CANCELLING
proctype Canceller() {
  mark_cancelled(D)
}
#endif

#ifdef REMOVING
/* Operation.deleteDependency */
proctype Remover() {
  int old; bool counted;
  d_step { !locked -> locked = true };
  d_step {
    counted = (linkedDependencies & bit(P)) != 0;
    listedDependencies = listedDependencies & ~bit(P);
    linkedDependencies = linkedDependencies & ~bit(P)
  };
  if
  :: counted && has(D, STARTED) -> counted = false
  :: else
  fi;
  if
  :: counted ->
#ifdef REMOVAL_LOOKS_BEFORE_FLAG
     counted = !has(P, FINISHED);
     word[D] = word[D] | EDGES_REMOVED;
#else
     word[D] = word[D] | EDGES_REMOVED;
     counted = !has(P, FINISHED);
#endif
     if
     :: counted -> removed = removed | bit(P)
     :: else
     fi
  :: else
  fi;
  locked = false;
  if
  :: counted -> release(D, NOBODY)
  :: else
  fi
}
#endif

#ifdef ADDING_LATE
/* Operation.insertDependency of Q */
proctype Adder() {
  byte edges, result; int old; bool counted;
  result = 9;
  d_step { !locked -> locked = true };
#ifndef LISTED_BEFORE_EPILOGUE_FLAG
  d_step { old = word[D]; word[D] = word[D] | HAS_EPILOGUE };
#endif
  if
  /* what has finished takes no further dependency */
  :: (old & FINISHED)
  :: else -> old = 0;
  flag_as_dependency(Q);
  if
  :: has(D, LISTED) ->
#ifdef PUSHED_BEFORE_COUNTED
     push(Q, D, result);
#endif
     /* countOneMore */
     d_step {
       if
       :: !has(D, STARTED) && !has(D, FINISHED) -> word[D] = word[D] + ONE_DEPENDENCY; counted = true
       :: else
       fi
     };
#ifndef PUSHED_BEFORE_COUNTED
     if
     :: counted -> push(Q, D, result)
     :: else
     fi;
#endif
     d_step {
       listedDependencies = listedDependencies | bit(Q);
       linkedDependencies = (counted && result != IS_FINISHED -> linkedDependencies | bit(Q) : linkedDependencies)
     }
  :: !has(D, LISTED) ->
#ifdef LISTED_BEFORE_EPILOGUE_FLAG
     word[D] = word[D] | HAS_EPILOGUE;
#endif
     listedDependencies = listedDependencies | bit(Q)
  fi
  fi;
  old = 0;
  locked = false;
  if
  :: result == IS_FINISHED -> release(D, NOBODY)
  :: else
  fi
}
#endif

#ifdef MOVING
/* Operation.move, after a change of the priority */
proctype Mover() {
  bool moves;
  d_step {
    if
    :: has(D, SCHEDULED) && !has(D, STARTED) ->
       word[D] = word[D] | MOVED;
       moves = true
    :: else
    fi
  };
  if
  :: moves && !(left & bit(D)) -> d_step { submit_moved(D) }
  :: else
  fi
}
#endif

#ifdef WAITERS
/* Operation.waitHere in an operation: helps once, then sleeps on the word's low half. */
proctype Waiter() {
  byte edges; int old, flags, low; bool gone, leaves, claimed, hasQueue;
  do
  :: d_step {
       /* claimForWaiter: only a claim that looks possible asks for the queue */
       claiming_for_waiter(word[D]);
       claimed = (after != NO_WORD)
     };
     if
     :: !claimed -> break
     :: else -> claimed = false
     fi;
     /* owner */
     d_step {
       flags = word[D];
#ifndef QUEUE_NOT_WANTED
       word[D] = word[D] | QUEUE_WANTED
#endif
     };
     if
     :: (flags & FINISHED) -> break
     :: else -> flags = 0
     fi;
#ifndef QUEUE_READ_WITHOUT_LOCK
     d_step { !locked -> locked = true };
#endif
     hasQueue = !(left & bit(D));
     /* retainedQueue: a reference to what the operation's own one still keeps */
     d_step {
       assert(!hasQueue || !(left & bit(D)));
#ifndef QUEUE_READ_WITHOUT_LOCK
       locked = false
#endif
     };
     if
     :: !hasQueue -> break
     :: else -> hasQueue = false
     fi;
     /* helpOnce: the word as it is now, and the compare-exchange */
     old = word[D];
     d_step {
       claiming_for_waiter(old);
       if
       :: after == NO_WORD -> old = NO_WORD
#ifndef CLAIMS_WITHOUT_COMPARING
       :: after != NO_WORD && word[D] != old
       :: after != NO_WORD && word[D] == old ->
#else
       :: after != NO_WORD ->
#endif
          word[D] = after;
          claimed = true;
          started(D, (after & SKIPPED) != 0)
       fi
     };
     if
     :: old == NO_WORD || claimed -> break
     :: else
     fi
  od;
  old = 0;
  flags = 0;
  if
  :: claimed -> launch(D, false)
  :: else
  fi;
  do
  :: departed[D] -> break
  :: else ->
#ifndef SLEEPS_WITHOUT_FLAG
     /* sleepThroughChanges */
     d_step { flags = word[D]; word[D] = word[D] | HAS_WAITERS };
     if
     :: (flags & FINISHED) -> departed[D] -> break
     :: else
     fi;
#endif
     low = word[D] % ONE_DEPENDENCY;
     if
     :: !(low & FINISHED) ->
        atomic {
#ifdef SLEEPS_WITHOUT_COMPARING
          asleep[D] = true
#else
          asleep[D] = (word[D] % ONE_DEPENDENCY == low)
#endif
        };
        !asleep[D]
     :: else
     fi;
     flags = 0;
     low = 0
  od;
  assert(has(D, FINISHED))
}
#endif

/* In the end each operation has left its queue once, and has been launched once. */
proctype Judge() {
  (left == IN_QUEUE && launched == IN_QUEUE && !linkEntry && !movedEntry && !oldEntry)
}


init {
  d_step {
    /* P and Q are in the queue and ready; D and E are about to be listed, with P in their lists of dependencies. */
    word[P] = ENQUEUED | LISTED | SCHEDULED | LINKED;
    word[D] = ENQUEUED | HAS_EPILOGUE_OF_D | ONE_DEPENDENCY;
    word[Q] = ENQUEUED | LISTED | SCHEDULED | LINKED;
    word[E] = ENQUEUED | HAS_EPILOGUE | ONE_DEPENDENCY;
    listedDependencies = DEPENDENCIES_OF_D;
    linkEntry = bit(P) | OTHER_Q;
    skip
  };
  atomic {
    run Worker();
    run Worker();
    run EnqueuerOfD();
#ifdef SECOND_DEPENDENT
    run EnqueuerOfE();
#endif
#ifdef CANCELLING
    run Canceller();
#endif
#ifdef REMOVING
    run Remover();
#endif
#ifdef ADDING_LATE
    run Adder();
#endif
#ifdef MOVING
    run Mover();
#endif
#ifdef WAITERS
    run Waiter();
#endif
    run Judge()
  }
}
