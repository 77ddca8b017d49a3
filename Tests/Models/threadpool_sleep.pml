/* Who sleeps, who is woken, and when the monitor looks: Sources/ThreadPoolBackend/ThreadPool.swift with
 * BlockingMonitor.swift and WatchedThread.swift in Sources/Primitives/Blocking. README.md here says what is left out.
 *
 * quick  one_worker                    -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DANY_MARKS -DBONUS
 * run    one_worker                    -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DANY_MARKS -DBONUS
 * run    a_thread_is_refused           -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DREFUSALS=1
 * run    three_jobs                    -DWORKERS=1 -DJOBS=3 -DTHREADS=4
 * run    two_workers                   -DWORKERS=2 -DJOBS=3 -DTHREADS=4
 * deep   three_jobs_any_marks          -DWORKERS=1 -DJOBS=3 -DTHREADS=4 -DANY_MARKS
 * deep   three_jobs_bonus              -DWORKERS=1 -DJOBS=3 -DTHREADS=4 -DBONUS
 * deep   two_workers_all               -DWORKERS=2 -DJOBS=3 -DTHREADS=4 -DANY_MARKS -DBONUS bitstate
 * mutant SURPLUS_SLEEPS_WITHOUT_ARMING -DWORKERS=1 -DJOBS=3 -DTHREADS=4
 * mutant WAKER_DOES_NOT_COUNT          -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant FULL_DOES_NOT_ARM             -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant REFUSAL_DOES_NOT_ARM          -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DREFUSALS=1
 * mutant DISARMS_WITHOUT_LOOKING_AGAIN -DWORKERS=1 -DJOBS=3 -DTHREADS=4
 * mutant MARK_NEVER_TAKEN_BACK         -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant MARK_DOES_NOT_ACTIVATE        -DWORKERS=1 -DJOBS=2 -DTHREADS=3
 * mutant BLOCKED_KEEPS_MARK            -DWORKERS=1 -DJOBS=2 -DTHREADS=3 -DANY_MARKS
 */
#ifndef REFUSALS
#define REFUSALS 0
#endif

/* The lock: what stands in one atomic step is done under it. Threads are alike, so the lowest number is woken or
 * started. Any queued job may be the most urgent one. */
#define bit(i) (1 << (i))
#define NONE 15

byte queued;              /* set of jobs in the queues */
byte submitted;           /* jobs 0 ..< submitted have been submitted */
byte finished;            /* set of jobs */
byte activeCount, live, blocked;
byte alive;               /* set of threads that exist */
byte sleeping;            /* set: State.sleeping */
byte token;               /* set: the parkers' tokens */
byte silent;              /* set: asleep in the kernel inside a job, without having said so */
byte declared;            /* set: inside whileBlocked */
byte busy;                /* set: PoolThread.busy, inside a job */
byte marked;              /* set: WatchedThread.marked, counted as blocked by the monitor */
byte owing;               /* set: has taken its mark back, and the count not yet */
byte streak, bonus;       /* BlockingMonitor.Bonus */
byte refusals;
byte awake;               /* set: a thread's own view, for the check of `active` */
bool armed, monitorToken;
/* Only within one d_step: a search that goes back does not restore them. */
hidden byte wanted, pick, more;

#define allowed (WORKERS + blocked + bonus)
#define all_finished (finished == (1 << submitted) - 1)

inline lowest(set, pick) {
  pick = 0;
  do
  :: (set & bit(pick)) -> break
  :: else -> pick++
  od
}

/* ThreadPool.unlockAndActivate; `isFull` says that the caller must arm the monitor. */
inline activate(count) {
  wanted = count;
  isFull = (count > 0 && count + activeCount > allowed);
  do
  :: wanted > 0 && activeCount < allowed && sleeping ->
     lowest(sleeping, pick);
     sleeping = sleeping & ~bit(pick);
     token = token | bit(pick);
     awake = awake | bit(pick);
     wanted--;
#ifndef WAKER_DOES_NOT_COUNT
     activeCount++
#endif
  :: wanted > 0 && activeCount < allowed && !sleeping && live < THREADS ->
     lowest(~alive, pick);
     alive = alive | bit(pick);
     awake = awake | bit(pick);
     live++;
     wanted--;
     activeCount++
  :: else -> break
  od;
  wanted = 0
}

/* BlockingMonitor.isArmed, then arm(): an exchange, and the monitor's parker. */
inline arm_if(condition) {
  if
  :: condition ->
     if
     :: armed
     :: !armed -> atomic {
          if
          :: !armed -> armed = true; monitorToken = true
          :: else
          fi
        }
     fi
  :: else
  fi
}

inline count_queued(into) {
  into = 0;
  pick = 0;
  do
  :: pick < JOBS -> into = into + ((queued >> pick) & 1); pick++
  :: else -> break
  od
}

/* ThreadPool.submit: one job more, numbered in the order of submission. */
inline submit_next() {
  d_step {
    submitted < JOBS;
    queued = queued | bit(submitted);
    submitted++;
#ifdef FULL_DOES_NOT_ARM
    activate(1); isFull = false
#else
    activate(1)
#endif
  }
  arm_if(isFull)
}

/* A user's thread: submits when it likes, and waits for everything. */
active proctype Client() {
  bool isFull;
  submit_next();
  do
  :: submit_next()
  :: break
  od;
  all_finished
}

#define me bit(self)

/* ThreadPool.takeMark, under the lock */
inline take_mark() {
  if
#ifndef MARK_NEVER_TAKEN_BACK
  :: (marked & me) -> marked = marked & ~me; blocked--
#endif
  :: else
  fi
}

proctype Thread(byte self) {
  byte job, other;
  bool isFull;

end_absent:
  (alive & me);
  if
  :: true
  /* startThread: the system has none */
  :: d_step {
       refusals < REFUSALS ->
       refusals++;
       activeCount--;
       live--;
       alive = alive & ~me;
       awake = awake & ~me
     };
#ifndef REFUSAL_DOES_NOT_ARM
     arm_if(true);
#endif
     goto end_absent
  fi;

next_job:
  job = NONE;
  /* nextJob: a look without the lock, then under it */
  if
  :: queued != 0 ->
     atomic {
       take_mark();
       if
       :: activeCount <= allowed && queued != 0 ->
          other = 0;
          do
          :: (queued & bit(other)) -> break
          :: other + 1 < JOBS -> other++
          :: else -> break
          od;
          if
          :: (queued & bit(other)) -> job = other; queued = queued & ~bit(other)
          :: else -> d_step { lowest(queued, job); queued = queued & ~bit(job) }
          fi
       :: else
       fi;
       other = 0;
       if
       :: job != NONE -> busy = busy | me
       :: else
       fi
     }
  :: queued == 0
  fi;
  if
  :: job != NONE -> goto run_job
  :: else
  fi;

  /* sleep: under the lock, with the last look at the queue */
  atomic {
    take_mark();
    if
    :: queued != 0 && activeCount <= allowed -> goto next_job
    :: else ->
       activeCount--;
       awake = awake & ~me;
       sleeping = sleeping | me;
       isFull = queued != 0
    fi
  };
#ifndef SURPLUS_SLEEPS_WITHOUT_ARMING
  arm_if(isFull);
#endif
end_parked:
  if
  :: atomic { (token & me) -> token = token & ~me; goto next_job }
  /* the time of a surplus thread is over */
  :: atomic {
       (sleeping & me) && live > WORKERS ->
       sleeping = sleeping & ~me;
       live--;
       alive = alive & ~me;
       goto end_absent
     }
  fi;

  /* run: the job does what it likes, and waits only for jobs submitted after it */
run_job:
  do
  :: submit_next()
  :: atomic {
       /* blocks without a word until another job has finished */
       job + 1 < submitted && (finished | ((1 << (job + 1)) - 1)) != ((1 << JOBS) - 1) ->
       other = job + 1;
       do
       :: other + 1 < submitted -> other++
       :: break
       od;
       if
       :: !(finished & bit(other)) -> silent = silent | me
       :: else -> other = 0; goto run_job
       fi
     };
     atomic { (finished & bit(other)) -> silent = silent & ~me; other = 0 }
  :: atomic {
       /* whileBlocked */
       job + 1 < submitted && (finished | ((1 << (job + 1)) - 1)) != ((1 << JOBS) - 1) ->
       other = job + 1;
       do
       :: other + 1 < submitted -> other++
       :: break
       od;
       if
       :: !(finished & bit(other)) ->
#ifndef BLOCKED_KEEPS_MARK
          take_mark();
#endif
          blocked++;
          declared = declared | me;
          d_step { count_queued(more); activate(more) }
       :: else -> other = 0; goto run_job
       fi
     };
     arm_if(isFull);
     atomic { (finished & bit(other)) -> blocked--; declared = declared & ~me; other = 0 }
  :: break
  od;
  /* run: the job's end, which takes the monitor's mark back, first the mark and then the count */
  atomic {
    finished = finished | bit(job);
#ifndef MARK_NEVER_TAKEN_BACK
    if
    :: (marked & me) -> marked = marked & ~me; owing = owing | me
    /* the look counts, and publishes the mark behind this thread's own look */
    :: (marked & me)
    :: else
    fi
#endif
  };
  if
  :: (owing & me) -> d_step { owing = owing & ~me; blocked-- }
  :: else
  fi;
  busy = busy & ~me;
  goto next_job
}

/* What a look may mark: also a thread that sleeps in the kernel for an instant only. What a second look takes back. */
#ifdef ANY_MARKS
#define stuck (busy & ~declared & ~marked)
#else
#define stuck (silent & ~marked)
#endif
#define resumed (marked & ~silent)
#define computes (activeCount > blocked)
#define allBlocked (!computes && blocked > 0)
#ifdef BONUS
#define bonus_changes ((!allBlocked && streak > 0) || (allBlocked && streak < 2))
#else
#define bonus_changes false
#endif
#ifdef MARK_DOES_NOT_ACTIVATE
#define startable false
#else
#define startable (activeCount < allowed && (sleeping || live < THREADS))
#endif

active proctype Monitor() {
  bool isFull;


watch:
  if
  :: armed -> goto looking
  :: !armed
  fi;
end_unarmed:
  atomic { monitorToken -> monitorToken = false; goto watch };

looking:
  /* ThreadPool.look. One that would change nothing is no step: so a state in which nothing but such looks is left
   * counts as a standstill. */
  do
  :: d_step {
       queued != 0 && (stuck || startable || bonus_changes) ->
       if
       :: stuck -> lowest(stuck, pick); marked = marked | bit(pick); blocked++
       :: else
       fi;
       /* Bonus.look */
#ifdef BONUS
       streak = (allBlocked -> (streak < 2 -> streak + 1 : streak) : 0);
       bonus = (streak == 2 -> WORKERS : 0);
#endif
#ifndef MARK_DOES_NOT_ACTIVATE
       count_queued(more);
       activate(more);
#endif
       isFull = false
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

/* What the counts say is what the threads do. */
#define population(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1) + (((set) >> 3) & 1) + (((set) >> 4) & 1))

active proctype Check() {
end_check:
  atomic {
    !(activeCount == population(awake) && live == population(alive)
      && blocked == population(declared) + population(marked) + population(owing) && !(marked & (sleeping | declared))) ->
    assert(false)
  }
}

init {
  atomic {
    byte thread = 0;
    do
    :: thread < THREADS -> run Thread(thread); thread++
    :: else -> break
    od
  }
}
