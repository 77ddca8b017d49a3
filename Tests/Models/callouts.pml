/* The callouts of the Dispatch backend: Sources/DispatchBackend/CalloutLists.swift with BlockingMonitor.swift and
 * WatchedThread.swift in Sources/Primitives/Blocking. README.md here says what is left out.
 *
 * quick  width_one                     -DWIDTH=1 -DJOBS=2 -DDISPATCH=1
 * run    width_one                     -DWIDTH=1 -DJOBS=2 -DDISPATCH=1 -DANY_MARKS -DBONUS
 * run    three_jobs                    -DWIDTH=1 -DJOBS=3 -DDISPATCH=1
 * run    width_two                     -DWIDTH=2 -DJOBS=2 -DDISPATCH=2 -DBONUS
 * deep   width_two_any_marks           -DWIDTH=2 -DJOBS=3 -DDISPATCH=2 -DANY_MARKS -DBONUS bitstate
 * mutant SURPLUS_ENDS_WITHOUT_ARMING   -DWIDTH=1 -DJOBS=3 -DDISPATCH=1
 * mutant CALLER_DOES_NOT_COUNT         -DWIDTH=1 -DJOBS=2 -DDISPATCH=1
 * mutant FULL_DOES_NOT_ARM             -DWIDTH=1 -DJOBS=2 -DDISPATCH=1
 * mutant DISARMS_WITHOUT_LOOKING_AGAIN -DWIDTH=1 -DJOBS=3 -DDISPATCH=1
 * mutant REPLACED_NOT_COUNTED          -DWIDTH=1 -DJOBS=2 -DDISPATCH=1
 * mutant MARK_DOES_NOT_CALL_OUT        -DWIDTH=1 -DJOBS=2 -DDISPATCH=1
 * mutant MARK_NEVER_TAKEN_BACK         -DWIDTH=1 -DJOBS=2 -DDISPATCH=1
 */

/* The lock: what stands in one atomic step is done under it. Any queued job may be the most urgent one. */
#define bit(i) (1 << (i))
#define NONE 15
#define me bit(self)
#define CARRIERS (DISPATCH + JOBS)   /* Dispatch's threads, which may be too few for ever, and threads of our own */

byte queued, submitted, finished;    /* sets of jobs; 0 ..< submitted have been submitted */
byte out, onQueue, pending, replaced, blocked;
byte handed;                         /* callouts that Dispatch has and has not begun */
byte starting;                       /* threads of our own on their way */
byte draining;                       /* set: carriers inside drain */
byte silent, declared, busy;         /* sets, as in threadpool_sleep */
byte marked, owing;
byte streak, bonus;
bool armed, monitorToken;
/* Only within one d_step: a search that goes back does not restore them. */
hidden byte wanted, fresh, pick, more;

#define allowed (WIDTH + blocked + bonus)
#define population(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1) + (((set) >> 3) & 1) + (((set) >> 4) & 1))

inline lowest(set, into) {
  into = 0;
  do
  :: (set & bit(into)) -> break
  :: else -> into++
  od
}

/* unlockAndCallOut; `isFull` says that the caller must arm the monitor. */
inline call_out(count) {
  wanted = (count < population(queued) -> count : population(queued));
  fresh = (allowed > out -> allowed - out : 0);
#ifdef FULL_DOES_NOT_ARM
  isFull = false;
#else
  isFull = wanted > fresh;
#endif
  fresh = (wanted < fresh -> wanted : fresh);
  more = (WIDTH > onQueue -> WIDTH - onQueue : 0);
  more = (fresh < more -> fresh : more);
#ifndef CALLER_DOES_NOT_COUNT
  out = out + fresh;
#endif
  onQueue = onQueue + more;
  pending = pending + more;
  handed = handed + more;
  starting = starting + fresh - more
}

inline arm_if(condition) {
  if
  :: condition ->
     if
     :: armed
     :: !armed -> d_step {
          if
          :: !armed -> armed = true; monitorToken = true
          :: else
          fi
        }
     fi
  :: else
  fi
}

/* submit */
inline submit_next() {
  d_step {
    submitted < JOBS;
    queued = queued | bit(submitted);
    submitted++;
    call_out(1)
  };
  arm_if(isFull)
}

inline take_mark() {
  if
#ifndef MARK_NEVER_TAKEN_BACK
  :: (marked & me) -> marked = marked & ~me; blocked--
#endif
  :: else
  fi
}

active proctype Client() {
  bool isFull;
  submit_next();
  do
  :: submit_next()
  :: break
  od;
  finished == bit(submitted) - 1
}

proctype Carrier(byte self) {
  byte job, other;
  bool isFull;

end_idle:
  atomic {
    if
    :: self < DISPATCH && handed > 0 ->
       /* drainOnQueue */
       handed--;
       if
       :: replaced > 0 -> replaced--; goto end_idle
       :: else -> pending--
       fi
    :: self >= DISPATCH && starting > 0 -> starting--
    fi;
    draining = draining | me
  };

  /* next: a look without the lock, then under it */
next_job:
  atomic {
    job = NONE;
    take_mark();
    if
    :: out <= allowed && queued != 0 ->
       other = 0;
       do
       :: (queued & bit(other)) -> job = other; break
       :: queued >> (other + 1) -> other++
       od;
       queued = queued & ~bit(job);
       busy = busy | me;
       other = 0;
       goto run_job
    :: else ->
       out--;
       onQueue = onQueue - (self < DISPATCH);
       draining = draining & ~me;
#ifdef SURPLUS_ENDS_WITHOUT_ARMING
       isFull = false
#else
       isFull = queued != 0
#endif
    fi
  };
  arm_if(isFull);
  goto end_idle;

  /* the job does what it likes, and waits only for jobs submitted after it */
run_job:
  do
  :: submit_next()
  :: atomic {
       /* blocks without a word until another job has finished */
       job + 1 < submitted -> other = submitted - 1;
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
       job + 1 < submitted -> other = submitted - 1;
       do
       :: other > job + 1 -> other--
       :: break
       od;
       if
       :: !(finished & bit(other)) ->
          take_mark();
          blocked++;
          declared = declared | me;
          d_step { call_out(population(queued)) }
       :: else -> other = 0; goto run_job
       fi
     };
     arm_if(isFull);
     d_step { (finished & bit(other)) -> blocked--; declared = declared & ~me; other = 0 }
  :: break
  od;
  /* run: first the mark, then the count */
  atomic {
    finished = finished | bit(job);
    if
#ifndef MARK_NEVER_TAKEN_BACK
    :: (marked & me) -> marked = marked & ~me; owing = owing | me
    /* the look counts, and publishes the mark behind this thread's own look */
    :: (marked & me)
#endif
    :: else
    fi
  };
  if
  :: (owing & me) -> d_step { owing = owing & ~me; blocked-- }
  :: else
  fi;
  busy = busy & ~me;
  goto next_job
}

#ifdef ANY_MARKS
#define stuck (busy & ~declared & ~marked)
#else
#define stuck (silent & ~marked)
#endif
#define resumed (marked & ~silent)
#define computes (out > blocked)
#define allBlocked (!computes && blocked > 0)
#ifdef BONUS
#define bonus_changes ((!allBlocked && streak > 0) || (allBlocked && streak < 2))
#else
#define bonus_changes false
#endif
#ifdef MARK_DOES_NOT_CALL_OUT
#define callable false
#else
#define callable (out < allowed)
#endif

active proctype Monitor() {
  bool isFull;

watch:
  if
  :: armed -> goto looking
  :: !armed
  fi;
end_unarmed:
  d_step { monitorToken -> monitorToken = false };
  goto watch;

looking:
  /* look. One that would change nothing is no step: so a state in which nothing but such looks is left counts as a
   * standstill. */
  do
  :: d_step {
       queued != 0 && (stuck || callable || bonus_changes) ->
       if
       :: stuck -> lowest(stuck, pick); marked = marked | bit(pick); blocked++
       :: else
       fi;
#ifdef BONUS
       streak = (allBlocked -> (streak < 2 -> streak + 1 : streak) : 0);
       bonus = (streak == 2 -> WIDTH : 0);
#endif
#ifndef MARK_DOES_NOT_CALL_OUT
       call_out(population(queued));
#endif
       isFull = false
     }
  :: d_step {
       /* lateCallouts: none has begun since the last look */
       queued != 0 && pending > 0 && replaced < 2 ->
       more = (pending < population(queued) -> pending : population(queued));
       pending = pending - more;
       onQueue = onQueue - more;
#ifndef REPLACED_NOT_COUNTED
       replaced = replaced + more;
#endif
       starting = starting + more
     }
  :: d_step { queued != 0 && resumed -> lowest(resumed, pick); marked = marked & ~bit(pick); blocked-- }
  :: d_step { queued == 0 -> streak = 0; bonus = 0 }; break
  od;
  armed = false;
#ifndef DISARMS_WITHOUT_LOOKING_AGAIN
  if
  :: queued != 0 ->
     atomic {
       if
       :: !armed -> armed = true; goto looking
       :: else
       fi
     }
  :: queued == 0
  fi;
#endif
  goto watch
}

/* What the counts say is what is on its way. */
active proctype Check() {
end_check:
  d_step {
    !(out == pending + starting + population(draining) && handed == pending + replaced
      && blocked == population(declared) + population(marked) + population(owing) && !(marked & ~draining)) ->
    assert(false)
  }
}

init {
  atomic {
    byte carrier = 0;
    do
    :: carrier < CARRIERS -> run Carrier(carrier); carrier++
    :: else -> break
    od
  }
}
