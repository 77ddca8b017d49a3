/* Forks: Sources/OperationForks (ForkList.swift, Join.swift). README.md here says what is left out.
 *
 * quick  showing                   -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2 -DQUIET
 * run    showing                   -DOWNERS=1 -DTHIEVES=1 -DROUNDS=2 -DDEPTH=2 -DQUIET
 * run    two_thieves               -DOWNERS=1 -DTHIEVES=2 -DROUNDS=2 -DDEPTH=2
 * run    blocking                  -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=3 -DBLOCKS
 * run    leapfrogging              -DOWNERS=1 -DTHIEVES=2 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK
 * run    waiters_fork              -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK -DWAITERS_FORK
 * run    refusing                  -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK -DWAITERS_FORK -DREFUSES
 * run    replacing                 -DOWNERS=1 -DTHIEVES=1 -DROUNDS=2 -DDEPTH=2 -DREPLACES
 * run    two_scopes                -DOWNERS=2 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK
 * deep   leapfrogging_deep         -DOWNERS=1 -DTHIEVES=2 -DROUNDS=1 -DDEPTH=2 -DTHIEVES_FORK bitstate
 * mutant LOOKS_BEFORE_EXCHANGE     -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=3 -DBLOCKS
 * mutant MORE_BEFORE_TAKING        -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2
 * mutant TICKET_ASKS_FOR_NOTHING   -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2
 * mutant TAKES_BACK_SILENTLY       -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2
 * mutant SHOWS_TOO_FEW_SILENTLY    -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2 -DREFUSES
 * mutant LATER_IS_STORED           -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2 -DQUIET
 * mutant ENOUGH_IS_STORED          -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2 -DQUIET
 * mutant LEAPFROG_ASKS_FOR_NOTHING -DOWNERS=1 -DTHIEVES=2 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK -DTHIEF_DEPTH=2
 * mutant TAKES_BACK_BY_STORE       -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1
 * mutant TICKET_TAKES_BY_STORE     -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1
 * mutant LEAPFROG_TAKES_BY_STORE   -DOWNERS=1 -DTHIEVES=2 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK
 * mutant REFUSAL_IS_STORED         -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK -DWAITERS_FORK -DREFUSES
 * mutant REFUSAL_KEEPS_QUEUED      -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DREFUSES
 * mutant SUBMITS_AGAIN             -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2
 * mutant TICKET_STAYS_QUEUED       -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2
 * mutant OLD_TICKET_TAKES          -DOWNERS=1 -DTHIEVES=1 -DROUNDS=2 -DDEPTH=2 -DREPLACES
 * mutant STATE_BEHIND_EXCHANGE     -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=2
 * mutant DONE_IS_STORED            -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1
 * mutant AWAITED_IS_STORED         -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1
 * mutant RESULT_BEHIND_DONE        -DOWNERS=1 -DTHIEVES=1 -DROUNDS=2 -DDEPTH=1
 * mutant TAKER_BEHIND_DONE         -DOWNERS=1 -DTHIEVES=1 -DROUNDS=2 -DDEPTH=1
 * mutant DROPS_WHAT_WAS_TAKEN      -DOWNERS=1 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1
 * mutant SCOPE_IGNORED             -DOWNERS=2 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK
 * mutant SCOPE_BEHIND_EXCHANGE     -DOWNERS=2 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK
 * mutant SCOPE_READ_FIRST          -DOWNERS=2 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK
 * mutant NUMBERS_COME_AGAIN        -DOWNERS=2 -DTHIEVES=1 -DROUNDS=1 -DDEPTH=1 -DTHIEVES_FORK
 */

/* A thread has a list; its number is the thread's. A list has one slot. A scope is a number above 0: each owner begins
 * scopes of its own, and a thief's forks are of the scope whose fork the thief runs. */
#define LISTS (OWNERS + THIEVES)
#define PLACES (DEPTH + 2)         /* place 0 is the list's own words */
#define F(list, place) ((list) * PLACES + (place))

#define shown 1
#define done 2
#define awaited 3

#define enough 0
#define more 1
#define later 2

typedef List {
  byte next, firstPrivate;         /* the owner's */
  byte wanted;
  byte place; bool queued; byte number; bit epoch;  /* the slot's word */
  byte slotScope;
  bool ticket;                     /* a backend has the ticket */
  bool oldTicket;                  /* a backend has a ticket of epoch 0, and the slot another one */
  byte owing;                      /* who took a fork, and has not yet asked for more */
}
List list[LISTS];

typedef Fork {
  byte state, scope, taker;
  byte runs;                       /* since the place was pushed */
  bool alive;                      /* the closure and the result's place are on the owner's stack */
  bool sleeping;                   /* the owner sleeps in the kernel */
}
Fork fork[LISTS * PLACES];

bool stopping;                     /* the backend takes nothing from outside: from owners */
byte owners = OWNERS;              /* owners that have not ended */

#define isOutside(me) ((me) < OWNERS)

/* -- What thieves and waiters do ----------------------------------------------------------------------------------- */

/* The body of a fork: once, while its closure lives. */
inline runBody(f) {
  d_step {
    assert(fork[f].alive);
    fork[f].runs++;
    assert(fork[f].runs == 1)
  }
}

/* The last step of `run`: an exchange, and a wake. */
inline finish(f, seenState) {
#ifdef RESULT_BEHIND_DONE
  atomic { seenState = fork[f].state; fork[f].state = done };
  d_step { assert(fork[f].alive) };
#else
  d_step { assert(fork[f].alive) };
#ifdef TAKER_BEHIND_DONE
  atomic { seenState = fork[f].state; fork[f].state = done };
  d_step { assert(fork[f].alive); fork[f].taker = 0 };
#else
#ifdef DONE_IS_STORED
  seenState = fork[f].state;
  fork[f].state = done;
#else
  atomic { seenState = fork[f].state; fork[f].state = done };
#endif
#endif
#endif
  if
  :: seenState == awaited -> fork[f].sleeping = false     /* futex wake: also of what has come to this place since */
  :: else
  fi
}

/* `ForkSlot.take(of:)`: `f` is the fork, or 0. */
inline takeOfScope(l, myScope, f, place, isQueued, number, seenScope) {
  f = 0;
#ifdef SCOPE_READ_FIRST
  seenScope = list[l].slotScope;
  atomic { place = list[l].place; isQueued = list[l].queued; number = list[l].number };
#else
  atomic { place = list[l].place; isQueued = list[l].queued; number = list[l].number };
  if
  :: place != 0 -> seenScope = list[l].slotScope
  :: else
  fi;
#endif
  if
#ifdef SCOPE_IGNORED
  :: place != 0 ->
#else
  :: place != 0 && seenScope == myScope ->
#endif
#ifdef LEAPFROG_TAKES_BY_STORE
     atomic { f = F(l, place); list[l].place = 0; list[l].owing++ }
#else
     atomic {
       if
       :: list[l].place == place && list[l].queued == isQueued && list[l].number == number ->
          f = F(l, place); list[l].place = 0; list[l].owing++
       :: else
       fi
     }
#endif
  :: else
  fi;
  if
  :: f != 0 ->
     /* "Takes nothing of other scopes." */
     d_step { assert(fork[f].scope == myScope) }
  :: else
  fi;
  place = 0; isQueued = 0; number = 0; seenScope = 0
}

inline askForMore(l) {
  atomic { list[l].wanted = more; list[l].owing-- }
}

/* -- What an owner does -------------------------------------------------------------------------------------------- */

/* A private fork that nobody else sees, and nobody will. */
inline checkWanted(me) {
  d_step {
    assert(list[me].owing > 0 || list[me].place != 0 || list[me].firstPrivate == list[me].next
      || list[me].wanted != enough)
  }
}

/* `lookLater` */
inline lookLater(me) {
#ifdef LATER_IS_STORED
  list[me].wanted = later
#else
  atomic {
    if
    :: list[me].wanted == enough -> list[me].wanted = later
    :: else
    fi
  }
#endif
}

/* `wakeLater`, when the scope has become old. The clock is a choice. */
inline wakeLater(me, isQuiet) {
  if
  :: lookLater(me)
  :: isQuiet = false;
#ifdef ENOUGH_IS_STORED
     list[me].wanted = enough
#else
     atomic {
       if
       :: list[me].wanted == later -> list[me].wanted = enough
       :: else
       fi
     }
#endif
  fi
}

/* `replaceTicket`, once: another backend has the ticket. */
inline replaceTicket(me) {
  atomic {
    if
    :: list[me].queued ->
       list[me].queued = false;
       list[me].epoch = 1;
       /* The thread that has taken the ticket out of the backend has the old epoch in hand. */
       list[me].oldTicket = list[me].ticket;
       list[me].ticket = false
    :: else
    fi
  }
}

/* `showOldest` */
inline showOldest(me, scope, place, isQueued) {
#ifdef REPLACES
  if
  :: list[me].epoch == 0 -> replaceTicket(me)
  :: skip
  fi;
#endif
  place = list[me].firstPrivate;
  list[me].firstPrivate = place + 1;
  fork[F(me, place)].scope = scope;
  fork[F(me, place)].taker = 0;
#ifndef STATE_BEHIND_EXCHANGE
  fork[F(me, place)].state = shown;
#endif
#ifndef SCOPE_BEHIND_EXCHANGE
  list[me].slotScope = scope;
#endif
  atomic {
    isQueued = list[me].queued;
    assert(list[me].place == 0);
    list[me].place = place;
    list[me].queued = true;
#ifndef NUMBERS_COME_AGAIN
    list[me].number++
#endif
  };
#ifdef SCOPE_BEHIND_EXCHANGE
  list[me].slotScope = scope;
#endif
#ifdef STATE_BEHIND_EXCHANGE
  fork[F(me, place)].state = shown;
#endif
#ifdef SUBMITS_AGAIN
  isQueued = false;
#endif
  if
  :: isQueued
  :: !isQueued ->
     isQueued = false;
     atomic {
       if
       :: stopping && isOutside(me) -> isQueued = false
       :: else ->
          /* A ticket is in one list at a time. */
          assert(!list[me].ticket);
          list[me].ticket = true;
          isQueued = true
       fi
     };
     if
     :: isQueued
     :: else ->
        /* Refused. `takeWithTicket` by the owner. */
#ifdef REFUSAL_IS_STORED
        list[me].place = 0; list[me].queued = false;
        list[me].firstPrivate = place
#else
        atomic {
          if
          :: list[me].place != 0 -> list[me].firstPrivate = place
          :: else
          fi;
          list[me].place = 0;
#ifndef REFUSAL_KEEPS_QUEUED
          list[me].queued = false
#endif
        }
#endif
     fi
  fi;
  place = 0; isQueued = 0
}

/* `show`, when one fork is wanted. Choices: the clock. */
inline showFork(me, scope, asked, place, isQueued, isQuiet, hasShown) {
  if
  :: isQuiet && list[me].wanted == later -> wakeLater(me, isQuiet)
  :: else ->
#ifdef LOOKS_BEFORE_EXCHANGE
     place = list[me].place;
     atomic { asked = list[me].wanted; list[me].wanted = enough };
#else
     atomic { asked = list[me].wanted; list[me].wanted = enough };
     place = list[me].place;
#endif
     if
     :: asked == more && hasShown -> isQuiet = false
     :: else
     fi;
     asked = 0;
     if
     :: place != 0 ->
        place = 0;
        if
        :: isQuiet -> wakeLater(me, isQuiet)
        :: else
        fi
     :: place == 0 && hasShown -> lookLater(me)      /* all threads are busy, and a fork was shown an instant before */
     :: place == 0 ->
        showOldest(me, scope, place, isQueued);
        hasShown = true;
        if
        :: list[me].place == 0 && list[me].firstPrivate < list[me].next ->
           /* Refused; what was shown and taken has asked for more as well. */
#ifndef SHOWS_TOO_FEW_SILENTLY
           list[me].wanted = more
#else
           skip
#endif
        :: else ->
           if
           :: isQuiet -> lookLater(me)
           :: else
           fi
        fi
     fi
  fi
}

/* `cplatform_fork_push`; a countdown is a choice. */
inline push(me, scope, asked, place, isQueued, isQuiet, hasShown) {
  d_step {
    assert(!fork[F(me, list[me].next)].alive);
    fork[F(me, list[me].next)].alive = true;
    fork[F(me, list[me].next)].runs = 0;
    list[me].next++
  };
  if
  :: list[me].wanted == more -> showFork(me, scope, asked, place, isQueued, isQuiet, hasShown)
  :: list[me].wanted == later -> showFork(me, scope, asked, place, isQueued, isQuiet, hasShown)
  :: list[me].wanted != more
  fi;
  checkWanted(me)
}

/* `takeBack`: `place` is 0 when somebody else has the fork. */
inline takeBack(me, f, place, isQueued, number) {
  atomic { place = list[me].place; isQueued = list[me].queued; number = list[me].number };
  if
  :: place != 0 && F(me, place) == f ->
#ifdef TAKES_BACK_BY_STORE
     list[me].place = 0;
#else
     atomic {
       if
       :: list[me].place == place && list[me].queued == isQueued && list[me].number == number -> list[me].place = 0
       :: else -> place = 0
       fi
     }
#endif
  :: else -> place = 0
  fi;
  isQueued = 0; number = 0
}

#ifdef WAITERS_FORK
/* A body that runs on top of a wait, and forks once. What waits in here only looks. */
inline forkOnTop(me, scope, h, asked, place, isQueued, isQuiet, hasShown, number) {
  hasShown = false;
  push(me, scope, asked, place, isQueued, isQuiet, hasShown);
  place = list[me].next - 1;
  h = F(me, place);
  if
  :: place >= list[me].firstPrivate -> place = 0; runBody(h)
  :: else ->
     place = 0;
     takeBack(me, h, place, isQueued, number);
     if
     :: place != 0 -> place = 0; list[me].wanted = more; runBody(h)
     :: else -> fork[h].state == done; assert(fork[h].runs == 1)
     fi
  fi;
  list[me].next = h - F(me, 0);
  list[me].firstPrivate = list[me].next;
  d_step { fork[h].alive = false; fork[h].state = 0 };
  h = 0
}
#endif

/* `waitFor`: `f` is awaited, `g` a fork that the waiter takes meanwhile. */
inline waitFor(me, scope, f, g, t, place, isQueued, number, seenScope) {
  do
  :: fork[f].state == done -> break
  :: fork[f].state != done ->
     takeOfScope(me, scope, g, place, isQueued, number, seenScope);
     if
     :: g != 0 -> atomic { list[me].owing-- }
     :: else ->
        t = fork[f].taker;
        if
        :: t != 0 ->
           takeOfScope(t - 1, scope, g, place, isQueued, number, seenScope);
           if
#ifdef LEAPFROG_ASKS_FOR_NOTHING
           :: g != 0 -> atomic { list[t - 1].owing-- }
#else
           :: g != 0 -> askForMore(t - 1)
#endif
           :: else
           fi
        :: else
        fi
     fi;
     t = 0;
     if
     :: g != 0 ->
        /* `run` */
        fork[g].taker = me + 1;
        list[me].wanted = more;
#ifdef WAITERS_FORK
        forkOnTop(me, scope, h, asked, place, isQueued, isQuiet, hasShown, number);
#endif
        runBody(g);
        list[me].wanted = more;
        finish(g, place);
        place = 0;
        g = 0
     :: else ->
        /* Looks again, or sleeps. */
        if
        :: skip
        :: atomic {
             if
#ifdef AWAITED_IS_STORED
             :: true -> fork[f].state = awaited; g = 1
#else
             :: fork[f].state == shown -> fork[f].state = awaited; g = 1
             :: else
#endif
             fi
           };
           if
           :: g == 1 ->
              g = 0;
              do
              :: fork[f].state == done -> break
              :: atomic { fork[f].state == awaited -> fork[f].sleeping = true };
                 !fork[f].sleeping
              od;
              break
           :: else
           fi
        fi
     fi
  od
}

/* The join of the newest fork: `pop`, or `settle`. With DROPS the fork is dropped when `first` throws. */
inline joinNewest(me, scope, f, g, t, place, isQueued, number, seenScope) {
  place = list[me].next - 1;
  f = F(me, place);
  if
  :: place >= list[me].firstPrivate ->
     list[me].next = place;
     /* Runs in place, or is dropped. */
     if
     :: runBody(f)
     :: skip
     fi;
     place = 0
  :: else ->
     place = 0;
     takeBack(me, f, place, isQueued, number);
     if
     :: place != 0 ->
        place = 0;
#ifndef TAKES_BACK_SILENTLY
        list[me].wanted = more;
#endif
        if
        :: runBody(f)
        :: skip
        fi
     :: else ->
#ifdef DROPS_WHAT_WAS_TAKEN
        if
        :: skip
        :: waitFor(me, scope, f, g, t, place, isQueued, number, seenScope)
        fi
#else
        waitFor(me, scope, f, g, t, place, isQueued, number, seenScope);
        assert(fork[f].runs == 1)
#endif
     fi;
     list[me].next = f - F(me, 0);
     list[me].firstPrivate = list[me].next
  fi;
  d_step { fork[f].alive = false; fork[f].state = 0 };
  f = 0
}

proctype Owner(byte me) {
  byte round, depth, scope, asked, place, number, seenScope, f, g, h, t;
  bool isQueued, isQuiet, hasShown;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
     scope = me * 8 + round;
#ifdef QUIET
     if
     :: isQuiet = true
     :: isQuiet = false
     fi;
#endif
     hasShown = false;
     /* `begin` */
     list[me].firstPrivate = list[me].next;
     list[me].wanted = more;
     /* Joins inside of each other, and one after the other. */
     depth = 0;
     do
     :: depth < DEPTH -> depth++; push(me, scope, asked, place, isQueued, isQuiet, hasShown)
     :: list[me].next > 1 -> joinNewest(me, scope, f, g, t, place, isQueued, number, seenScope)
#ifdef BLOCKS
     /* `showAll`: a body blocks in a wait of the library. */
     :: list[me].place == 0 && list[me].firstPrivate < list[me].next -> showOldest(me, scope, place, isQueued)
#endif
     :: depth == DEPTH && list[me].next == 1 -> break
     od;
     list[me].wanted = more
  od;
  owners--
}

#ifndef THIEF_DEPTH
#define THIEF_DEPTH 1
#endif

proctype Thief(byte me) {
  byte depth, scope, asked, place, number, seenScope, f, g, h, t, l, taken;
  bool isQueued, isQuiet, hasShown;
  bit epoch;
end:
  do
  :: atomic { list[0].ticket -> list[0].ticket = false; l = 0; epoch = list[0].epoch }; goto runTicket
#ifdef REPLACES
  :: atomic { list[0].oldTicket -> list[0].oldTicket = false; l = 0; epoch = 0 }; goto runTicket
#endif
#if LISTS > 1
  :: atomic { list[1].ticket -> list[1].ticket = false; l = 1; epoch = list[1].epoch }; goto runTicket
#endif
#if LISTS > 2
  :: atomic { list[2].ticket -> list[2].ticket = false; l = 2; epoch = list[2].epoch }; goto runTicket
#endif
#if LISTS > 3
  :: atomic { list[3].ticket -> list[3].ticket = false; l = 3; epoch = list[3].epoch }; goto runTicket
#endif
  :: owners == 0 && !list[0].ticket && !list[0].oldTicket && !list[LISTS - 1].ticket && !list[1].ticket -> break
  od;
  goto over;
runTicket:
  /* `runJob` */
#ifdef MORE_BEFORE_TAKING
  list[l].wanted = more;
#endif
#ifdef TICKET_TAKES_BY_STORE
  place = list[l].place;
  atomic { list[l].place = 0; list[l].queued = false; if :: place != 0 -> list[l].owing++ :: else fi };
#else
  atomic {
#ifndef OLD_TICKET_TAKES
    if
    :: epoch != list[l].epoch -> epoch = 0; l = 0; goto end
    :: else
    fi;
#endif
    epoch = 0;
    place = list[l].place;
    list[l].place = 0;
#ifndef TICKET_STAYS_QUEUED
    list[l].queued = false;
#endif
    if
    :: place != 0 -> list[l].owing++
    :: else
    fi
  };
#endif
  if
  :: place == 0 -> l = 0; goto end
  :: else
  fi;
  taken = F(l, place);
  place = 0;
#if defined(TICKET_ASKS_FOR_NOTHING) || defined(MORE_BEFORE_TAKING)
  atomic { list[l].owing-- };
#else
  askForMore(l);
#endif
  l = 0;
  /* `run` */
  scope = fork[taken].scope;
  fork[taken].taker = me + 1;
#ifdef THIEVES_FORK
  list[me].firstPrivate = list[me].next;
  list[me].wanted = more;
  hasShown = false;
  depth = 0;
  do
  :: depth < THIEF_DEPTH -> depth++; push(me, scope, asked, place, isQueued, isQuiet, hasShown)
  :: list[me].next > 1 -> joinNewest(me, scope, f, g, t, place, isQueued, number, seenScope)
  :: list[me].next == 1 -> break
  od;
  list[me].wanted = more;
#endif
  runBody(taken);
  finish(taken, place);
  place = 0; taken = 0; scope = 0;
  goto end;
over:
  skip
}

#ifdef REFUSES
proctype Shutdown() { stopping = true }
#endif

init {
  byte l;
  atomic {
    do
    :: l < LISTS -> list[l].next = 1; list[l].firstPrivate = 1; l++
    :: else -> break
    od;
    l = 0;
    do
    :: l < OWNERS -> run Owner(l); l++
    :: l >= OWNERS && l < LISTS -> run Thief(l); l++
    :: l == LISTS -> break
    od;
    l = 0
#ifdef REFUSES
    ; run Shutdown()
#endif
  };
  /* Behind everything: no ticket, no fork, and no slot that waits for a ticket. */
  owners == 0 && _nr_pr == 1;
  do
  :: l < LISTS ->
     d_step { assert(!list[l].ticket && list[l].place == 0 && !list[l].queued && list[l].owing == 0 && list[l].next == 1) };
     l++
  :: else -> break
  od
}
