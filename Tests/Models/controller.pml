/* The controller with its tickets: Sources/OperationCore/Queue, Controller.swift, Admission.swift, QueueTicket.swift
 * and Registry.swift. README.md here says what is left out.
 *
 * quick  suspending                 -DOPERATIONS=2 -DSUSPENDING
 * run    suspending                 -DOPERATIONS=2 -DSUSPENDING -DAGAIN
 * run    suspending_three           -DOPERATIONS=3 -DSUSPENDING
 * run    limiting                   -DOPERATIONS=3 -DLIMITING
 * run    limiting_again             -DOPERATIONS=2 -DLIMITING -DAGAIN
 * run    barrier                    -DOPERATIONS=3 -DBARRIER
 * deep   limiting_three_again       -DOPERATIONS=3 -DLIMITING -DAGAIN bitstate
 * deep   suspending_three_again     -DOPERATIONS=3 -DSUSPENDING -DAGAIN
 * deep   barrier_and_suspending     -DOPERATIONS=2 -DBARRIER -DSUSPENDING
 * mutant MODE_READ_BEFORE_NUMBER    -DOPERATIONS=2 -DSUSPENDING
 * mutant STORES_NOT_WAITED_FOR      -DOPERATIONS=2 -DSUSPENDING
 * mutant BIT_SET_AFTER_THE_VISIT    -DOPERATIONS=2 -DSUSPENDING
 * mutant MARK_READ_BEFORE_FINISH    -DOPERATIONS=3 -DLIMITING
 * mutant TICKET_NOT_TAKEN_BACK      -DOPERATIONS=3 -DLIMITING
 * mutant FINISH_HANDS_OUT_NOTHING   -DOPERATIONS=3 -DLIMITING
 * mutant RUNNING_NOT_COUNTED        -DOPERATIONS=3 -DLIMITING
 * mutant REPORTED_NOT_REMEMBERED    -DOPERATIONS=3 -DLIMITING -DAGAIN
 * mutant HELD_PLACE_IS_FREE         -DOPERATIONS=3 -DLIMITING
 * mutant HELD_PLACE_NOT_FREED       -DOPERATIONS=3 -DLIMITING
 * mutant HELD_PLACES_NOT_FORGOTTEN  -DOPERATIONS=3 -DLIMITING -DAGAIN
 * mutant RESUMING_HANDS_OUT_NOTHING -DOPERATIONS=2 -DSUSPENDING
 * mutant NOT_LOOKED_FOR_AGAIN       -DOPERATIONS=3 -DLIMITING
 * mutant QUIET_READ_BEFORE_PUSH     -DOPERATIONS=3 -DLIMITING
 * mutant QUIET_WITH_FREE_PLACES     -DOPERATIONS=3 -DLIMITING
 */
c_decl {
\#include "state_word.h"
}

#ifdef BARRIER
#define NUMBERS (OPERATIONS + 1)
#else
#define NUMBERS OPERATIONS
#endif
#define NEW_WORD 15               /* StateWord.initialScheduled: enqueued, listed, scheduled, linked */
#define STARTED 32
#define FINISHED 128
#define TRACKED 1024
#define NO_WORD 16777215
#define NO_LIMIT 15
#define bit(i) (1 << (i))
#define MOST_TICKETS 2
#define NONE 15
#define ALL (bit(NUMBERS) - 1)

/* An operation is its sequence number. */
int word[NUMBERS];
byte stored, removed;             /* sets: the registry's slots that are filled; that are done */
byte taken;                       /* numbers taken, and whether the controller is engaged: one word */
bool controlled;
byte entries;                     /* set: entries by link in the backend */
byte tickets;                     /* tickets in the backend */
byte arrivals;                    /* set: the stack of Arrivals */
bool quiet;                       /* Arrivals.quietLevel: one level */

/* Under the controller's lock. */
bool locked, engaged, suspended;
byte limit = NO_LIMIT;
byte running, ticketsCounted;
byte held;                        /* of `running`: places of operations that have finished, whose dependents are not in the lists */
byte ready, laterReady;           /* sets: of the first phase; of the phase behind the barrier */
byte start, finishedInPhase, finishedLater;
byte barrier = NONE;              /* sequence number of the barrier at the end of the first phase */
bool barrierReady;
byte admitted, accounted;         /* sets: bits of Operation.admission */

/* What the properties need to remember. */
byte done, executing;             /* set; count */
bool frozen, limited;             /* the setter has returned */
byte theBarrier = NONE;
/* Only within one d_step. */
hidden int before, after;
hidden byte action, wanted, places, scan;

#define population(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1) + (((set) >> 3) & 1))
#define is_needed (limit != NO_LIMIT || suspended || barrier != NONE)
#define is_complete (barrier != NONE && finishedInPhase == barrier - start)

#ifdef QUIET_WITH_FREE_PLACES
#define quiet_now is_needed
#else
#define quiet_now (is_needed && (suspended || running >= limit || ticketsCounted >= limit - running))
#endif

/* Controller.unlockAndSubmit, up to where an arrival may have counted on somebody who does not come: then `again` is
 * set, and the lock is kept. */
inline hand_out() {
  insert_arrivals();
  if
  :: is_needed -> take_tickets()
  :: else -> disengage()
  fi;
  if
  :: quiet && !quiet_now -> again = true; locked = true
  :: else -> quiet = quiet_now; locked = false
  fi;
  skip
}

/* Arrivals.publish, which makes the controller less quiet, and then looks */
inline look_again() {
  if
  :: again ->
     quiet = false;
     again = false;
     atomic {
#ifndef NOT_LOOKED_FOR_AGAIN
       if
       :: arrivals -> d_step { hand_out() }
       :: else -> locked = false
       fi
#else
       locked = false
#endif
     }
  :: else
  fi
}

/* Controller.insertArrivals; a barrier never arrives this way */
inline insert_arrivals() {
  scan = (barrier == NONE -> ALL : bit(barrier) - 1);
  ready = ready | (arrivals & scan);
  laterReady = laterReady | (arrivals & ~scan);
  arrivals = 0
}

/* Controller.disengage: what is ready goes to the backend without its mark */
#define unmark(operation) word[operation] = ((ready & bit(operation)) -> word[operation] & ~TRACKED : word[operation])
inline disengage() {
  engaged = false;
  controlled = false;
  unmark(0);
  unmark(1);
#if NUMBERS > 2
  unmark(2);
#endif
#if NUMBERS > 3
  unmark(3);
#endif
  entries = entries | ready;
  ready = 0
}

/* Admission.takeTickets, and the submission */
inline take_tickets() {
  wanted = (suspended -> 0 : (ready -> population(ready) : (is_complete && barrierReady -> 1 : 0)));
  places = (limit == NO_LIMIT -> NO_LIMIT : (limit > running -> limit - running : 0));
  wanted = (places < wanted -> places : wanted);
  wanted = (MOST_TICKETS < wanted -> MOST_TICKETS : wanted);
  wanted = (wanted > ticketsCounted -> wanted - ticketsCounted : 0);
  ticketsCounted = ticketsCounted + wanted;
  tickets = tickets + wanted
}

/* Admission.insert */
inline insert(operation) {
  if
  :: operation == barrier -> barrierReady = true
  :: barrier != NONE && operation > barrier && barrier != operation -> laterReady = laterReady | bit(operation)
  :: else -> ready = ready | bit(operation)
  fi
}

/* Controller.admitLater, by link */
inline admit_later(operation) {
#ifdef QUIET_READ_BEFORE_PUSH
  again = !quiet;
  arrivals = arrivals | bit(operation);
#else
  arrivals = arrivals | bit(operation);
  again = !quiet;
#endif
  if
  :: again ->
     d_step { !locked -> again = false; hand_out() };
     look_again()
  :: else
  fi
}

/* main() begins. */
inline begin(operation) {
  assert(!frozen);
  assert(!limited || executing + held < limit);
  assert(operation != theBarrier || (executing == 0 && (done & (bit(operation) - 1)) == bit(operation) - 1));
  assert(theBarrier == NONE || operation <= theBarrier || (done & bit(theBarrier)));
  executing++
}

/* Operation.finishNow, settle: the word, the controller's books, the registry's slot */
inline finish(operation) {
#ifdef MARK_READ_BEFORE_FINISH
  old = word[operation];
#endif
  d_step {
    before = word[operation];
    c_code { after = state_word_next(before, FINISH); };
    assert(after != NO_WORD);
#ifndef MARK_READ_BEFORE_FINISH
    old = word[operation];
#endif
    word[operation] = after;
    done = done | bit(operation);
    executing--
  };
  if
  :: (old & TRACKED) ->
     /* With dependents, or without. */
     if
     :: holds = true
     :: holds = false
     fi;
     /* Controller.didFinish */
     d_step {
       !locked ->
       accounted = accounted | bit(operation);
       holds = holds && (admitted & bit(operation)) != 0;
#ifdef HELD_PLACE_IS_FREE
       running = running - ((admitted & bit(operation)) != 0);
#else
       running = running - ((admitted & bit(operation)) != 0 && !holds);
#endif
       held = held + holds;
       if
       :: operation == barrier ->
          /* removeFirstPhase */
          start = barrier + 1;
          barrier = NONE;
          barrierReady = false;
          ready = laterReady;
          laterReady = 0;
          finishedInPhase = finishedLater;
          finishedLater = 0
       :: operation != barrier && barrier != NONE && operation > barrier -> finishedLater++
       :: else -> finishedInPhase++
       fi;
       skip
     };
     /* handOut: in the same step, which a step more includes; or when the dependents have been released */
     d_step {
       !locked ->
#ifndef HELD_PLACE_NOT_FREED
       if
       :: holds && held > 0 ->
          held--;
#ifndef HELD_PLACE_IS_FREE
          running--
#endif
       :: else
       fi;
#endif
       holds = false;
#ifndef FINISH_HANDS_OUT_NOTHING
       hand_out()
#endif
     };
     look_again()
  :: else
  fi;
  removed = removed | bit(operation);
  old = 0
}

proctype Worker() {
  byte operation; int old; bool holds, again;
end_idle:
  do
  :: /* Operation.runEntry, by link */
     atomic {
       entries ->
       operation = 0;
       do
       :: (entries & bit(operation)) -> entries = entries & ~bit(operation); break
       :: entries >> (operation + 1) -> operation++
       od
     };
     d_step {
       before = word[operation];
       c_code { after = state_word_next(before, CLAIM + 8); action = state_word_action(before, CLAIM + 8); };
       assert(action == 0 || action == 4);
       word[operation] = after;
       old = action;
       if
       :: action == 0 -> begin(operation)
       :: else
       fi
     };
     if
     :: old == 0 -> finish(operation)
     :: else -> old = 0; admit_later(operation)
     fi;
     operation = 0
  :: /* QueueTicket.runJob: Controller.takeNext */
     atomic {
       tickets && !locked ->
       tickets--;
#ifndef TICKET_NOT_TAKEN_BACK
       ticketsCounted--;
#endif
       d_step { insert_arrivals() };
       /* Admission.next */
       operation = NONE;
       if
       :: !suspended && running < limit && ready ->
          operation = 0;
          do
          :: (ready & bit(operation)) -> ready = ready & ~bit(operation); break
          :: ready >> (operation + 1) -> operation++
          od
       :: !suspended && running < limit && !ready && is_complete && barrierReady ->
          operation = barrier;
          barrierReady = false
       :: else
       fi;
       d_step {
         if
         :: operation != NONE ->
            before = word[operation];
            c_code { after = state_word_next(before, CLAIM + 12); action = state_word_action(before, CLAIM + 12); };
            assert(action == 0);
            word[operation] = after;
            running++;
            admitted = admitted | bit(operation);
            begin(operation)
         :: else
         fi;
         hand_out()
       }
     };
     look_again();
     if
     :: operation != NONE -> finish(operation)
     :: else
     fi;
     operation = 0
  od
}

/* OperationQueue.add(_ block:), one operation after the other */
proctype Adder(byte count) {
  byte operation; bool isControlled, again;
  do
  :: count > 0 ->
     count--;
     /* Registry.takeNumbers */
#ifdef MODE_READ_BEFORE_NUMBER
     isControlled = controlled;
     d_step { operation = taken; taken++ };
#else
     d_step { operation = taken; taken++; isControlled = controlled };
#endif
     word[operation] = NEW_WORD;
     stored = stored | bit(operation);
     if
     :: isControlled ->
        word[operation] = word[operation] | TRACKED;
        admit_later(operation)
     :: else -> entries = entries | bit(operation)
     fi;
     d_step { operation = 0; isControlled = false }
  :: else -> break
  od
}

/* Controller.engage, under the lock; `bound` and `count` are the caller's. */
inline engage() {
#ifdef BIT_SET_AFTER_THE_VISIT
  d_step { engaged = true; bound = taken; operation = 0 };
#else
  d_step { engaged = true; controlled = true; bound = taken; operation = 0 };
#endif
  do
  :: operation < bound ->
#ifndef STORES_NOT_WAITED_FOR
     (stored & bit(operation));
#endif
     d_step {
       if
       :: (stored & bit(operation)) && !(removed & bit(operation)) ->
          before = word[operation];
          word[operation] = word[operation] | TRACKED;
          if
#ifdef REPORTED_NOT_REMEMBERED
          :: (before & FINISHED) && !(before & TRACKED) ->
#else
          :: (before & FINISHED) && !((before & TRACKED) && !(accounted & bit(operation))) ->
#endif
             accounted = accounted | bit(operation)
          :: else ->
             unfinished++;
             if
             :: (before & STARTED) ->
#ifndef RUNNING_NOT_COUNTED
                started++;
#endif
                admitted = admitted | bit(operation)
             :: else
             fi
          fi
       :: else
       fi;
       operation++
     }
  :: else -> break
  od;
  operation = 0;
  d_step {
#ifdef BIT_SET_AFTER_THE_VISIT
    controlled = true;
#endif
    start = bound - unfinished;
    finishedInPhase = 0;
    running = started;
#ifndef HELD_PLACES_NOT_FORGOTTEN
    held = 0;
#endif
    bound = 0;
    unfinished = 0;
    started = 0
  }
}

inline engage_if_needed() {
  if
  :: is_needed && !engaged -> engage()
  :: else
  fi
}

#ifdef SUSPENDING
/* isSuspended = true, later false; with AGAIN twice */
proctype Suspender() {
  byte bound, operation, unfinished, started, rounds; bool again;
  do
  :: d_step { !locked -> locked = true };
     suspended = true;
     engage_if_needed();
     d_step { hand_out() };
     look_again();
     frozen = true;
     frozen = false;
     d_step { !locked -> locked = true };
     suspended = false;
     engage_if_needed();
#ifdef RESUMING_HANDS_OUT_NOTHING
     locked = false;
#else
     d_step { hand_out() };
     look_again();
#endif
#ifdef AGAIN
     rounds++;
     if
     :: rounds == 2 -> break
     :: else
     fi
#else
     break
#endif
  od
}
#endif

#ifdef LIMITING
/* maxConcurrentOperationCount = 1, later no limit; with AGAIN twice */
proctype Limiter() {
  byte bound, operation, unfinished, started, rounds; bool stays, again;
  do
  :: d_step { !locked -> locked = true };
     limit = 1;
     engage_if_needed();
     d_step { hand_out() };
     look_again();
     limited = true;
     /* while it holds, everything can end */
     if
     :: stays = true
     :: stays = false
     fi;
     if
     :: stays -> done == ALL
     :: else
     fi;
     limited = false;
     d_step { !locked -> locked = true };
     limit = NO_LIMIT;
     engage_if_needed();
     d_step { hand_out() };
     look_again();
#ifdef AGAIN
     rounds++;
     if
     :: rounds == 2 -> break
     :: else
     fi
#else
     break
#endif
  od
}
#endif

#ifdef BARRIER
/* Controller.addBarrier */
proctype BarrierAdder() {
  byte bound, operation, unfinished, started; bool again;
  d_step { !locked -> locked = true };
  if
  :: !engaged -> engage()
  :: else
  fi;
  d_step {
    bound = taken;
    taken++;
    barrier = bound;
    theBarrier = bound;
    locked = false
  };
  word[bound] = NEW_WORD | TRACKED;
  stored = stored | bit(bound);
  /* Controller.admit */
  d_step { !locked -> insert_arrivals(); insert(bound); hand_out() };
  look_again()
}
#endif

/* In the end everything has run, and the books are even. */
proctype Judge() {
  (done == ALL && removed == ALL && executing == 0);
  (!suspended && limit == NO_LIMIT && !locked && !tickets);
  assert(!engaged || running == 0)
}

init {
  atomic {
    run Worker();
    run Worker();
    run Adder(OPERATIONS - 1);
    run Adder(1);
#ifdef SUSPENDING
    run Suspender();
#endif
#ifdef LIMITING
    run Limiter();
#endif
#ifdef BARRIER
    run BarrierAdder();
#endif
    run Judge()
  }
}
