/* cancelAllOperations at one instant: Sources/OperationCore/Queue/OperationQueue+Whole.swift and Registry.swift, with
 * the claim of Lifecycle/Operation+Launch.swift and Operation+Wait.swift, and the flags of Operation+Cancel.swift.
 * README.md here says what is left out.
 *
 * quick  chain                      -DOPERATIONS=2
 * run    chain                      -DOPERATIONS=3
 * run    chain_with_waiter          -DOPERATIONS=2 -DWAITER
 * deep   chain_with_waiter          -DOPERATIONS=3 -DWAITER
 * mutant INSTANT_WITHOUT_BOUND      -DOPERATIONS=2
 * mutant FLAGS_NOT_SET_BEFORE_RETURN -DOPERATIONS=2
 * mutant LISTED_AFTER_THE_INSTANT   -DOPERATIONS=2
 * mutant WAITER_DOES_NOT_ASK_THE_QUEUE -DOPERATIONS=2 -DWAITER
 * mutant WAITER_ASKS_THE_QUEUE_BEFORE_THE_WORD -DOPERATIONS=2 -DWAITER
 * mutant WAITER_STARTS_WITHOUT_LOOKING_AT_THE_FLAG -DOPERATIONS=2 -DWAITER
 * mutant WAITER_CLAIMS_IN_TWO_STEPS -DOPERATIONS=2 -DWAITER
 * mutant SKIPS_WITHOUT_RELEASING    -DOPERATIONS=2
 */
c_decl {
\#include "state_word.h"
}

/* Flags as in StateWord. */
#define ENQUEUED 1
#define LISTED 2
#define SCHEDULED 4
#define LINKED 8
#define CANCELLED 16
#define STARTED 32
#define SKIPPED 64
#define FINISHED 128
#define ONE_DEPENDENCY 1048576
#define NO_WORD 16777215
#define bit(i) (1 << (i))

/* A chain: operation i + 1 depends on operation i. All are listed; the sequence number is the index. */
int word[OPERATIONS];
byte slot;                    /* Registry: set of operations that it lists */
byte entries;                 /* set: entries in the backend, by link */
bool bound;                   /* Registry.cancelledBefore: all of these operations, or none */
bool returned;                /* cancelAllOperations has returned */
byte ran;                     /* set: main() began */
byte asked;                   /* set: the overridable cancel() was called */
byte done;                    /* set: has finished and released its dependent */
byte mustBeAsked;             /* set: unfinished at the instant */
/* Only within one d_step. */
hidden int before, after;
hidden byte action;

#define has(operation, flag) ((word[operation] & (flag)) != 0)

/* main() begins: not because the operation before it was moved out of the way. */
inline begin_main(operation) {
  assert(!(ran & bit(operation)));
  assert(operation == 0 || !has(operation - 1, SKIPPED));
  ran = ran | bit(operation)
}

/* The claim of an entry: the word, then the bound, then the compare-exchange. */
inline claim(operation, claimed, skips) {
  do
  :: 
     old = word[operation];
     cancelledAll = bound;
     d_step {
       if
       :: word[operation] == old ->
          before = old;
          if
          :: cancelledAll -> c_code { after = state_word_next(before, CLAIM + 10); action = state_word_action(before, CLAIM + 10); }
          :: else -> c_code { after = state_word_next(before, CLAIM + 8); action = state_word_action(before, CLAIM + 8); }
          fi;
          assert(action <= 3);
          word[operation] = after;
          claimed = (action <= 1);
          skips = (action == 1);
          /* the compare-exchange decides: after the return none of them may become one that runs */
          assert(!(returned && action == 0));
          if
          :: action == 0 -> begin_main(operation)
          :: else
          fi;
          old = NO_WORD
       :: else
       fi
     };
     if
     :: old == NO_WORD -> break
     :: else
     fi
  od;
  old = 0;
  cancelledAll = false
}

/* Finished: out of the registry, then the dependent is released. */
inline finish(operation) {
  word[operation] = word[operation] | FINISHED | STARTED;
  slot = slot & ~bit(operation);
#ifdef SKIPS_WITHOUT_RELEASING
  if
  :: has(operation, SKIPPED) -> goto no_release
  :: else
  fi;
#endif
  if
  :: operation + 1 < OPERATIONS ->
     d_step {
       before = word[operation + 1];
       c_code { after = state_word_next(before, RELEASE); action = state_word_action(before, RELEASE); };
       assert(after != NO_WORD);
       word[operation + 1] = after;
       assert(action != 2);
       if
       :: action == 1 -> assert(!(entries & bit(operation + 1))); entries = entries | bit(operation + 1)
       :: else
       fi
     }
  :: else
  fi;
  done = done | bit(operation)
}

proctype Worker() {
  byte operation; int old; bool cancelledAll, claimed, skips;
end_idle:
  do
  :: atomic {
       entries ->
       operation = 0;
       do
       :: (entries & bit(operation)) -> entries = entries & ~bit(operation); break
       :: entries >> (operation + 1) -> operation++
       od
     };
     claim(operation, claimed, skips);
     if
     :: claimed -> finish(operation)
     :: else
     fi;
#ifdef SKIPS_WITHOUT_RELEASING
no_release:
     skip;
#endif
     d_step { operation = 0; claimed = false; skips = false }
  od
}

#ifdef WAITER
/* Operation.helpOnce: as any claim, the word, then the bound, then the compare-exchange. With the bound the operation
 * is skipped. */
proctype Waiter() {
  byte operation; int old, new; bool cancelledAll, claimed;
  operation = OPERATIONS - 1;
  do
  :: 
#ifdef WAITER_ASKS_THE_QUEUE_BEFORE_THE_WORD
     cancelledAll = bound;
#endif
     old = word[operation];
     d_step {
       before = old;
       c_code { after = state_word_next(before, WAITER_CLAIM + 1); };
       if
       :: after == NO_WORD -> old = NO_WORD
       :: else
       fi
     };
     if
     :: old == NO_WORD -> break
     :: else
     fi;
#ifdef WAITER_CLAIMS_IN_TWO_STEPS
     atomic {
       if
       :: word[operation] == old -> word[operation] = old | STARTED | SKIPPED; old = NO_WORD
       :: else
       fi
     };
     if
     :: old == NO_WORD ->
        if
        :: bound -> word[operation] = word[operation] | CANCELLED
        :: else ->
           d_step { assert(!returned); word[operation] = word[operation] & ~SKIPPED; begin_main(operation) }
        fi;
        claimed = true;
        break
     :: else
     fi;
#else
#if !defined(WAITER_DOES_NOT_ASK_THE_QUEUE) && !defined(WAITER_ASKS_THE_QUEUE_BEFORE_THE_WORD)
     cancelledAll = bound;
#endif
     d_step {
       before = old;
       if
       :: cancelledAll -> c_code { after = state_word_next(before, WAITER_CLAIM + 1); }
       :: else -> c_code { after = state_word_next(before, WAITER_CLAIM); }
       fi;
       new = after
     };
     if
     :: new == NO_WORD -> break
     :: else
     fi;
     d_step {
       if
#ifdef WAITER_STARTS_WITHOUT_LOOKING_AT_THE_FLAG
       :: !has(operation, STARTED) ->
#else
       :: word[operation] == old ->
#endif
          word[operation] = word[operation] | new;
          claimed = true;
          if
          :: new & SKIPPED
          :: else ->
             assert(!returned);
             begin_main(operation)
          fi
       :: else
       fi
     };
     if
     :: claimed -> break
     :: else
     fi
#endif
  od;
  old = 0;
  new = 0;
  cancelledAll = false;
  if
  :: claimed -> finish(operation)
  :: else
  fi
#ifdef SKIPS_WITHOUT_RELEASING
  ;
no_release:
  skip
#endif
}
#endif

/* OperationQueue.cancelAll */
proctype Canceller() {
  byte concerned, operation;
#ifndef LISTED_AFTER_THE_INSTANT
  do
  :: operation < OPERATIONS ->
     d_step {
       concerned = concerned | (slot & bit(operation));
       operation++
     }
  :: else -> break
  od;
#endif
  operation = 0;
  d_step {
    mustBeAsked = slot;
#ifndef INSTANT_WITHOUT_BOUND
    bound = true
#endif
  };
#ifdef LISTED_AFTER_THE_INSTANT
  do
  :: operation < OPERATIONS ->
     d_step {
       concerned = concerned | (slot & bit(operation));
       operation++
     }
  :: else -> break
  od;
#endif
  /* flagCancelled */
  operation = 0;
  do
  :: operation < OPERATIONS ->
#ifndef FLAGS_NOT_SET_BEFORE_RETURN
     d_step {
       if
       :: (concerned & bit(operation)) && !has(operation, FINISHED) -> word[operation] = word[operation] | CANCELLED
       :: else
       fi;
       operation++
     }
#else
     operation++
#endif
  :: else -> break
  od;
  /* cancel() */
  operation = 0;
  do
  :: operation < OPERATIONS ->
     d_step {
       if
       :: (concerned & bit(operation)) ->
          asked = asked | bit(operation);
#ifndef FLAGS_NOT_SET_BEFORE_RETURN
          before = word[operation];
          c_code { after = state_word_next(before, CANCEL); action = state_word_action(before, CANCEL); };
          if
          :: after != NO_WORD ->
             word[operation] = after;
             assert(action != 2);
             if
             :: action == 1 -> entries = entries | bit(operation)
             :: else
             fi
          :: else
          fi
#endif
       :: else
       fi;
       operation++
     }
  :: else -> break
  od;
  returned = true;
  assert(!(mustBeAsked & ~asked))
}

/* In the end everything has finished. */
proctype Judge() {
  done == bit(OPERATIONS) - 1 && returned
}

init {
  byte operation;
  d_step {
    word[0] = ENQUEUED | LISTED | SCHEDULED | LINKED;
    operation = 1;
    do
    :: operation < OPERATIONS -> word[operation] = ENQUEUED | LISTED | ONE_DEPENDENCY; operation++
    :: else -> break
    od;
    slot = bit(OPERATIONS) - 1;
    entries = 1
  };
  atomic {
    run Worker();
    run Worker();
    run Canceller();
#ifdef WAITER
    run Waiter();
#endif
    run Judge()
  }
}
