/* Who sleeps, who is woken, and when the monitor looks, in the work-stealing pool: Sources/StealingBackend, folders
 * Sleep, Worker and Blocking, with BlockingMonitor.swift and WatchedThread.swift in Sources/Primitives/Blocking.
 * README.md here says what is left out.
 *
 * quick  one_worker                    -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * run    one_worker                    -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * deep   one_worker_bonus              -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DBONUS
 * run    any_marks                     -DWORKERS=1 -DJOBS=2 -DTHREADS=2 -DANY_MARKS
 * run    two_workers                   -DWORKERS=2 -DJOBS=2 -DTHREADS=3
 * run    one_worker_owes               -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DOWES
 * run    two_workers_owe               -DWORKERS=2 -DJOBS=2 -DTHREADS=3 -DOWES
 * run    two_workers_lend              -DWORKERS=2 -DJOBS=2 -DTHREADS=2 -DLENDS
 * deep   two_workers_owe_and_lend      -DWORKERS=2 -DJOBS=2 -DTHREADS=2 -DLENDS -DOWES bitstate
 * deep   three_jobs_lend               -DWORKERS=2 -DJOBS=3 -DTHREADS=2 -DLENDS bitstate
 * deep   three_jobs                    -DWORKERS=1 -DJOBS=3 -DTHREADS=3 bitstate
 * run    first_job_waits               -DWORKERS=1 -DJOBS=3 -DTHREADS=2 -DWAITING_JOB=0
 * run    second_job_waits              -DWORKERS=2 -DJOBS=3 -DTHREADS=2 -DWAITING_JOB=1
 * deep   any_marks                     -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DANY_MARKS -DBONUS
 * deep   two_workers_three_jobs        -DWORKERS=2 -DJOBS=3 -DTHREADS=4 bitstate
 * mutant PUSH_WITHOUT_FENCE            -DWORKERS=2 -DJOBS=2 -DTHREADS=3
 * mutant MOVE_WITHOUT_FENCE            -DWORKERS=2 -DJOBS=2 -DTHREADS=3
 * mutant MOVE_DOES_NOT_REACT           -DWORKERS=2 -DJOBS=3 -DTHREADS=2 -DWAITING_JOB=1
 * mutant SLEEPS_WITHOUT_LAST_LOOK      -DWORKERS=2 -DJOBS=2 -DTHREADS=3
 * mutant LAST_LOOK_BEFORE_COUNTING     -DWORKERS=2 -DJOBS=2 -DTHREADS=3
 * mutant ACTIVATION_GIVES_UP_SILENTLY  -DWORKERS=1 -DJOBS=3 -DTHREADS=2 -DWAITING_JOB=0
 * mutant SEARCH_NOT_PASSED_ON          -DWORKERS=2 -DJOBS=2 -DTHREADS=3
 * mutant WAKER_DOES_NOT_COUNT          -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant FULL_DOES_NOT_ARM             -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant SLEEPS_WITHOUT_ARMING         -DWORKERS=1 -DJOBS=3 -DTHREADS=2 -DWAITING_JOB=0
 * mutant DISARMS_WITHOUT_LOOKING_AGAIN -DWORKERS=1 -DJOBS=3 -DTHREADS=2 -DWAITING_JOB=0
 * mutant STEPS_BACK_SILENTLY           -DWORKERS=2 -DJOBS=2 -DTHREADS=2 -DLENDS
 * mutant MARK_DOES_NOT_ACTIVATE        -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant MARK_NEVER_TAKEN_BACK         -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant BLOCKED_KEEPS_MARK            -DWORKERS=1 -DJOBS=2 -DTHREADS=2 -DANY_MARKS
 * mutant MARKED_BEFORE_COUNTED         -DWORKERS=1 -DJOBS=2 -DTHREADS=2 -DANY_MARKS
 */
c_decl {
\#include "sleep_word.h"
}

#define bit(i) (1 << (i))
#define NONE 15
#define me bit(self)

/* Jobs. A pushed job waits in its worker's store buffer before others see it in the deque. */
byte injected;                    /* set: in the injectors */
byte deque[4];              /* sets: visible in a worker's deque */
byte buffered[4];           /* sets: pushed, and still in the processor's store buffer */
byte submitted, finished;

/* SleepWord. With LENDS two threads search at first, and the monitor looks, as behind earlier jobs. */
#ifdef LENDS
byte searching = 2, asleep, blocked, live = 2;
#else
byte searching, asleep, blocked, live;
#endif
/* Under sleepLock. */
bool locked;
byte stack;                       /* set: Sleepers.stack */
#ifdef LENDS
byte alive = 3;                   /* set: workers with a thread */
#else
byte alive;
#endif
byte token;                       /* set: the parkers' tokens */

byte silent, busy, declared;      /* sets */
byte announced;                   /* set: WatchedThread.announced */
byte marked;                      /* set: WatchedThread.marked */
byte owing;                       /* set: the mark is taken back, and its count is still there */
byte counted, uncounted;          /* sets: counted, and the mark not set yet; the other way round, in a defect */
byte late;                        /* set: marked when the thread had announced itself: counted twice, at most until its job ends */
byte streak, bonus;               /* BlockingMonitor.Bonus */
byte withheld;                    /* StealingPool.withheld */
bool isCut;                       /* a look has raised it once */
#ifdef LENDS
bool armed = true;
#else
bool armed;
#endif
bool monitorToken;
/* Only within one d_step: a search that goes back does not restore them. */
hidden byte pick, answer;

#define stealable (deque[0] | deque[1] | deque[2] | OTHERS)
#define visible (injected | stealable)
#if THREADS > 3
#define OTHERS deque[3]
#else
#define OTHERS 0
#endif

inline any_of(set, job) {
  job = 0;
  do
  :: (set & bit(job)) -> break
  :: set >> (job + 1) -> job++
  od
}

inline lowest(set, into) {
  into = 0;
  do
  :: (set & bit(into)) -> break
  :: else -> into++
  od
}

/* SleepWord.reaction, from the table of the Swift function. */
#define NONE 15
#define NOTHING 0
#define ACTIVATE 1
#define BUSY 2
inline reaction(into) {
  c_code { answer = sleep_word_look_up(REACTION, now.searching, now.asleep, (signed char) now.blocked, now.live, WORKERS + now.bonus - now.withheld); };
  assert(answer <= BUSY);
  into = answer
}

/* StealingPool.hasVisibleWork: the injectors, then one deque after the other. What is pushed meanwhile may be
 * missed. */
inline look(found) {
  seen = injected;
  found = (injected & seen) != 0;
  seen = 0;
  do
  :: found || seen == THREADS -> break
  :: else -> found = deque[seen] != 0; seen++
  od;
  seen = 0
}

inline arm() {
  if
  :: armed
  :: !armed -> d_step {
       if
       :: !armed -> armed = true; monitorToken = true
       :: else
       fi
     }
  fi
}

/* StealingPool.activate: the lock, a look at the word, then the change. */
inline activate() {
  d_step {
    !locked ->
    reaction(verdict);
    locked = (verdict == ACTIVATE)
  };
  if
  :: verdict == ACTIVATE ->
     d_step {
       if
       :: stack ->
          lowest(stack, pick);
          stack = stack & ~bit(pick);
          token = token | bit(pick);
#ifndef WAKER_DOES_NOT_COUNT
          searching++;
          asleep--
#endif
       :: !stack && alive != bit(THREADS) - 1 ->
          lowest(~alive, pick);
          assert(!deque[pick]);
          alive = alive | bit(pick);
          searching++;
          live++
       :: else
       fi;
       locked = false
     }
#ifndef ACTIVATION_GIVES_UP_SILENTLY
  :: verdict == BUSY -> arm()
#endif
  :: else
  fi;
  verdict = 0
}

/* StealingPool.react */
inline react() {
  d_step { reaction(verdict) };
  if
  :: verdict == ACTIVATE -> activate()
#ifndef FULL_DOES_NOT_ARM
  :: verdict == BUSY -> verdict = 0; arm()
#endif
  :: else
  fi;
  verdict = 0
}

/* StealingPool.stopSearching, where the thread searches */
inline stop_searching() {
  if
  :: isSearching ->
     d_step { searching--; isSearching = false; found = searching == 0 };
#ifndef SEARCH_NOT_PASSED_ON
     if
     :: found ->
        look(found);
        if
        :: found -> found = false; react()
        :: else
        fi
     :: else
     fi
#endif
  :: else
  fi;
  found = false
}

/* WatchedThread.takeMark, and then the count */
inline take_mark() {
#ifndef MARK_NEVER_TAKEN_BACK
  if
  :: d_step { (marked & me) -> marked = marked & ~me; late = late & ~me; owing = owing | me };
     d_step { owing = owing & ~me; blocked-- }
  :: !(marked & me)
  fi
#else
  skip
#endif
}
inline take_mark_under_lock() {
#ifndef MARK_NEVER_TAKEN_BACK
  d_step {
    if
    :: (marked & me) -> marked = marked & ~me; late = late & ~me; blocked--
    :: else
    fi
  }
#else
  skip
#endif
}

active proctype Client() {
  byte verdict;
  do
  :: d_step { submitted < JOBS -> injected = injected | bit(submitted); submitted++ };
     react()
  :: submitted > 0 -> break
  od;
  finished == bit(submitted) - 1
}

/* The processor: a worker's stores become visible in time. */
inline flush(worker) {
  lowest(buffered[worker], pick);
  buffered[worker] = buffered[worker] & ~bit(pick);
  deque[worker] = deque[worker] | bit(pick)
}

active proctype StoreBuffers() {
end_drained:
  do
  :: d_step { buffered[0] -> flush(0) }
  :: d_step { buffered[1] -> flush(1) }
  :: d_step { buffered[2] -> flush(2) }
#if THREADS > 3
  :: d_step { buffered[3] -> flush(3) }
#endif
  od
}

/* With WAITING_JOB that job alone submits and waits. */
#ifdef WAITING_JOB
#define waits(job) (job == WAITING_JOB)
#else
#define waits(job) true
#endif

proctype Worker(byte self) {
  byte job, other, seen, verdict, hand;
  bool isSearching, found, surplus;
#ifdef OWES
  bool owes;
#endif

end_absent:
  (alive & me);
  isSearching = true;

  /* nextJob: the own deque; what hints call for is left to chance */
next_job:
  job = NONE;
#ifdef LENDS
  /* stepBack, if the thread sees in time that it is one too many. What it has queued stays in its deque. */
  if
  :: withheld ->
#ifdef OWES
     if
     :: owes -> owes = false; stop_searching()
     :: else
     fi;
#endif
     atomic {
       !locked ->
       take_mark_under_lock();
       if
       :: live - asleep > blocked + WORKERS + bonus - withheld ->
          asleep++;
          searching = searching - isSearching;
          isSearching = false;
          stack = stack | me;
          verdict = 1;
          found = searching == 0;
          d_step {
            c_code { answer = sleep_word_look_up(HAS_SURPLUS, now.searching, now.asleep, (signed char) now.blocked, now.live, WORKERS); };
            surplus = answer
          }
       :: else
       fi
     };
     if
     :: verdict ->
        verdict = 0;
#ifndef STEPS_BACK_SILENTLY
        if
        :: found ->
           look(found);
           if
           :: found -> found = false; react()
           :: else
           fi
        :: else
        fi;
#endif
        found = false;
        goto end_parked
     :: else
     fi
  :: true
  fi;
#endif
  if
  :: deque[self] || buffered[self] ->
     atomic {
       buffered[self] == 0 ->
       if
       :: deque[self] -> any_of(deque[self], job); deque[self] = deque[self] & ~bit(job)
       :: else -> goto next_job
       fi
     };
     goto found_job
  :: else
  fi;
  if
  :: isSearching
  :: !isSearching ->
     /* tryStartSearching */
     d_step {
       c_code { answer = sleep_word_look_up(MAY_SEARCH, now.searching, now.asleep, (signed char) now.blocked, now.live, WORKERS); };
       if
       :: answer -> searching++; isSearching = true
       :: else
       fi
     }
  fi;

  /* search, and what nextJob takes from others without searching: may find what is visible, may miss it */
  if
  :: atomic {
       injected ->
       any_of(injected, job);
       injected = injected & ~bit(job);
       if
       :: hand = injected; injected = 0
       :: true
       fi
     };
     if
     :: hand ->
        /* takeInjected moves a share to the own deque */
        d_step { buffered[self] = buffered[self] | hand; hand = 0 };
#ifndef MOVE_WITHOUT_FENCE
        buffered[self] == 0;
#endif
#ifndef MOVE_DOES_NOT_REACT
        react()
#endif
     :: else
     fi;
     goto found_job
  :: atomic {
       /* steal */
       stealable ->
       any_of(stealable, job);
       other = 0;
       do
       :: other < THREADS -> deque[other] = deque[other] & ~bit(job); other++
       :: else -> break
       od;
       other = 0
     };
     goto found_job
  :: goto go_to_sleep
  fi;

found_job:
  busy = busy | me;
  stop_searching();
  goto run_job;

go_to_sleep:
#ifdef OWES
  /* A thread gives back the references that it owes for its jobs, and leaves the search before. */
  if
  :: owes -> owes = false; stop_searching()
  :: else
  fi;
#endif
#ifdef LAST_LOOK_BEFORE_COUNTING
  look(found);
#endif
  /* sleep: counted, on the stack, and only then the last look */
  atomic {
    !locked ->
    take_mark_under_lock();
    asleep++;
    searching = searching - isSearching;
    isSearching = false;
    stack = stack | me;
#ifndef LAST_LOOK_BEFORE_COUNTING
    found = searching == 0;
#endif
    d_step {
      c_code { answer = sleep_word_look_up(HAS_SURPLUS, now.searching, now.asleep, (signed char) now.blocked, now.live, WORKERS); };
      surplus = answer;
      reaction(verdict)
    }
  };
#ifndef SLEEPS_WITHOUT_LAST_LOOK
  if
  :: found ->
#ifndef LAST_LOOK_BEFORE_COUNTING
     look(found);
#endif
     if
     :: found && verdict == ACTIVATE ->
        /* wakeSelf */
        d_step {
          !locked ->
          if
          :: (stack & me) ->
             stack = stack & ~me;
             searching++;
             asleep--;
             isSearching = true
          :: else
          fi
        }
#ifndef SLEEPS_WITHOUT_ARMING
     :: found && verdict == BUSY -> arm()
#endif
     :: else
     fi
  :: else
  fi;
#endif
  found = false;
  verdict = 0;
  if
  :: isSearching -> surplus = false; goto next_job
  :: else
  fi;
end_parked:
  if
  :: d_step {
       (token & me) ->
       token = token & ~me;
#ifdef WAKER_DOES_NOT_COUNT
       searching++;
       asleep--;
#endif
       isSearching = true;
       surplus = false
     };
     goto next_job
  /* the time of a surplus thread is over: retire */
  :: d_step {
       surplus && (stack & me) && !locked && live > WORKERS + blocked && !deque[self] && !buffered[self] ->
       stack = stack & ~me;
       asleep--;
       live--;
       alive = alive & ~me;
       surplus = false
     };
     goto end_absent
  fi;

  /* the job does what it likes, and waits only for jobs submitted after it */
run_job:
  do
  :: /* submit, on a worker */
     d_step { submitted < JOBS && waits(job) -> buffered[self] = buffered[self] | bit(submitted); submitted++ };
#ifndef PUSH_WITHOUT_FENCE
     buffered[self] == 0;
#endif
     react()
  :: atomic {
       /* blocks without a word until another job has finished */
       job + 1 < submitted && waits(job) -> other = submitted - 1;
       do
       :: other > job + 1 -> other--
       :: break
       od;
       if
       :: !(finished & bit(other)) -> silent = silent | me
       :: else -> other = 0; goto run_job
       fi
     };
     d_step { (finished & bit(other)) -> silent = silent & ~me; other = 0 }
  :: atomic {
       /* whileBlocked */
       job + 1 < submitted && waits(job) && buffered[self] == 0 -> other = submitted - 1;
       do
       :: other > job + 1 -> other--
       :: break
       od;
       if
       :: !(finished & bit(other)) -> announced = announced | me
       :: else -> other = 0; goto run_job
       fi
     };
#ifndef BLOCKED_KEEPS_MARK
     take_mark();
#endif
     d_step { blocked++; declared = declared | me; found = searching == 0 };
     if
     :: found ->
        look(found);
        if
        :: found -> found = false; activate()
        :: else
        fi
     :: else
     fi;
     found = false;
     d_step { (finished & bit(other)) -> blocked--; declared = declared & ~me; other = 0 };
     announced = announced & ~me
  :: break
  od;
  /* the job's end, which takes the monitor's mark back */
  finished = finished | bit(job);
  take_mark();
  busy = busy & ~me;
#ifdef OWES
  owes = true;
#endif
  goto next_job
}

/* What a look may mark: with ANY_MARKS also a thread that sleeps in the kernel for an instant only. */
#ifdef ANY_MARKS
#define stuck (busy & ~announced & ~marked)
#else
#define stuck (silent & ~marked)
#endif
#define resumed (marked & ~silent & ~announced & ~uncounted)
#define computes (live - asleep > blocked)
#define allBlocked (!computes && blocked > 0)
#ifdef BONUS
#define bonus_changes ((!allBlocked && streak > 0) || (allBlocked && streak < 2))
#else
#define bonus_changes false
#endif
#ifdef MARK_DOES_NOT_ACTIVATE
#define startable false
#else
#define startable (searching == 0 && live - asleep < blocked + WORKERS + bonus - withheld && (stack || alive != bit(THREADS) - 1))
#endif

active proctype Monitor() {
  byte seen, verdict; bool found;

watch:
  if
  :: armed -> goto looking
  :: !armed
  fi;
end_unarmed:
  d_step { monitorToken -> monitorToken = false };
  goto watch;

looking:
  /* StealingPool.look. One that would change nothing is no step: so a state in which nothing but such looks is left
   * counts as a standstill. */
  do
  :: d_step {
       visible && !locked && (stuck || startable || bonus_changes) ->
       if
#ifdef MARKED_BEFORE_COUNTED
       :: stuck -> lowest(stuck, pick); marked = marked | bit(pick); uncounted = bit(pick)
#else
       :: stuck -> lowest(stuck, pick); blocked++; counted = bit(pick)
#endif
       :: else
       fi;
       locked = true
     };
     /* WatchedThread.mark: the lock is kept, but a thread goes on and takes its mark back without it */
     d_step {
       marked = marked | counted;
       late = late | (counted & announced);
       counted = 0;
       blocked = blocked + (uncounted != 0);
       uncounted = 0;
#ifdef BONUS
       streak = (allBlocked -> (streak < 2 -> streak + 1 : streak) : 0);
       bonus = (streak == 2 -> WORKERS : 0);
#endif
       locked = false
     };
#ifndef MARK_DOES_NOT_ACTIVATE
     activate()
#endif
  :: d_step {
       visible && !locked && resumed ->
       lowest(resumed, pick);
       marked = marked & ~bit(pick);
       late = late & ~bit(pick);
       blocked--
     }
#ifdef LENDS
  /* A look that lends a CPU to another pool, or finds one taken. What is lent comes back when nothing is queued. What
   * is taken may stay taken, and the last look may find it. */
  :: d_step { visible && !locked && !isCut -> withheld = 1; isCut = true }
  :: d_step { !visible && !locked && !isCut -> streak = 0; bonus = 0; withheld = 1; isCut = true }; break
  :: d_step { !visible && !locked && withheld -> streak = 0; bonus = 0; withheld = 0 }; break
#endif
  :: d_step { !visible && !locked -> streak = 0; bonus = 0 }; break
  od;
  armed = false;
#ifndef DISARMS_WITHOUT_LOOKING_AGAIN
  look(found);
  if
  :: found ->
     found = false;
     atomic {
       if
       :: !armed -> armed = true; goto looking
       :: else
       fi
     }
  :: else
  fi;
#endif
  goto watch
}

/* What the counts say is what the threads do. */
#define population(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1) + (((set) >> 3) & 1) + (((set) >> 4) & 1))

active proctype Check() {
end_check:
  d_step {
    !(asleep == population(stack) && live == population(alive) && searching <= live
      && (blocked + population(uncounted)) % 256
        == population(declared) + population(marked) + population(owing) + population(counted)
      && blocked < 128 && !(marked & (stack | declared & ~late))) ->
    assert(false)
  }
}

init {
  atomic {
    byte worker = 0;
    do
    :: worker < THREADS -> run Worker(worker); worker++
    :: else -> break
    od
  }
}
