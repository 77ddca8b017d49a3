/* The completion block that stands alone (Sources/OperationCore/Operation/Operation+Completion.swift,
 * OperationExtras.swift): threads that set blocks, one that starts and finishes the operation, one that looks at the
 * block. README.md here says what is left out.
 *
 * quick  one_block               -DSETTERS=1
 * run    one_block               -DSETTERS=1
 * run    two_blocks              -DSETTERS=2
 * run    two_blocks_handed_off   -DSETTERS=2 -DHANDS_OFF
 * mutant FLAG_BEFORE_BLOCK       -DSETTERS=1
 * mutant NOT_TAKEN_BACK          -DSETTERS=1
 * mutant TAKES_BY_STORE          -DSETTERS=1
 * mutant OBJECT_BY_STORE         -DSETTERS=1
 * mutant NEW_OBJECT_BY_STORE     -DSETTERS=1
 * mutant LOOKS_WITHOUT_OBJECT    -DSETTERS=1
 * mutant TAKES_OBJECT_UNLOCKED   -DSETTERS=2
 * mutant TAKES_ANY_BACK          -DSETTERS=2
 */

/* `extrasWord`: 0, a block alone, or a side object, each with its place in memory. */
#define ALONE(place) (8 + (place))
#define OBJECT(place) (16 + (place))
#define IS_ALONE(word) ((word) / 8 == 1)
#define PLACE(word) ((word) % 8)

byte word;
byte fresh = 1;          /* the next place */
byte block[8];           /* the block in a place, or 0 */
bool object[8];          /* the place holds a side object */
bool freed[8];
bool locked;

bool started, finished, hasEpilogue;

byte ran[3], dropped[3];
bool isSet[3];           /* the setter has returned */
bool owed;               /* some setter had returned before the start */
byte gone;

inline acquire() { atomic { !locked -> locked = true } }
inline release() { locked = false }

inline compareExchange(old, new, done) {
  atomic {
    if
    :: word == (old) -> word = (new); done = true
    :: else -> done = false
    fi
  }
}

/* extrasIfAny, extrasAroundCompletion */
inline findObject() {
  do
  :: seen = word;
     if
     :: IS_ALONE(seen) ->
#ifdef OBJECT_BY_STORE
        word = OBJECT(PLACE(seen)); done = true;
#else
        compareExchange(seen, OBJECT(PLACE(seen)), done);
#endif
        if
        :: done ->
           place = PLACE(seen);
           assert(!freed[place]);
           object[place] = true;
           break
        :: else
        fi
     :: else ->
        place = PLACE(seen);
        assert(place == 0 || object[place] && !freed[place]);
        break
     fi
  od
}

/* extrasPlace */
inline makeObject() {
  findObject();
  if
  :: place == 0 ->
     atomic { made = fresh; fresh++; object[made] = true };
     do
     ::
#ifdef NEW_OBJECT_BY_STORE
        word = OBJECT(made); done = true;
#else
        compareExchange(0, OBJECT(made), done);
#endif
        if
        :: done -> place = made; break
        :: else ->
           findObject();
           if
           :: place != 0 -> freed[made] = true; break
           :: else
           fi
        fi
     od;
     made = 0
  :: else
  fi
}

/* takeStoredCompletionBlock */
inline take() {
  taken = 0;
  seen = word;
  if
  :: seen == 0
  :: else ->
     done = false;
     if
     :: IS_ALONE(seen) ->
#ifdef TAKES_BY_STORE
        word = 0; done = true
#else
        compareExchange(seen, 0, done)
#endif
     :: else
     fi;
     if
     :: done ->
        assert(!freed[PLACE(seen)] && !object[PLACE(seen)]);
        taken = block[PLACE(seen)];
        block[PLACE(seen)] = 0;
        freed[PLACE(seen)] = true
     :: else ->
#ifndef TAKES_OBJECT_UNLOCKED
        acquire();
#endif
        findObject();
        if
        :: place != 0 -> taken = block[place]; block[place] = 0
        :: else
        fi;
#ifndef TAKES_OBJECT_UNLOCKED
        release()
#endif
     fi
  fi
}

/* setCompletion, replaceCompletion */
proctype Setter(byte own) {
  byte seen, place, made, taken, old;
  bool done, late;
  seen = word;
  late = started;
  if
  :: seen == 0 && !late ->
     atomic { made = fresh; fresh++; block[made] = own };
#ifdef FLAG_BEFORE_BLOCK
     atomic { hasEpilogue = true; late = finished };
#endif
     compareExchange(0, ALONE(made), done);
     if
     :: done ->
#ifndef FLAG_BEFORE_BLOCK
        atomic { hasEpilogue = true; late = finished };
#endif
        if
        :: late ->
#ifdef NOT_TAKEN_BACK
           skip
#else
#ifdef TAKES_ANY_BACK
           take();
           if
           :: taken != 0 -> dropped[taken]++
           :: else
           fi
#else
           compareExchange(ALONE(made), 0, done);
           if
           :: done -> atomic { dropped[block[made]]++; block[made] = 0; freed[made] = true }
           :: else
           fi
#endif
#endif
        :: else
        fi;
        goto returned
     :: else ->
        atomic { block[made] = 0; freed[made] = true; made = 0 }
     fi
  :: else
  fi;
  acquire();
  makeObject();
  old = block[place];
  block[place] = own;
  atomic { hasEpilogue = true; late = finished };
  if
  :: late ->
     /* Nobody but the lock's holder touches the block. */
     block[place] = old;
     old = own
  :: else
  fi;
  release();
  if
  :: old != 0 -> dropped[old]++
  :: else
  fi;
returned:
  atomic { isSet[own] = true; gone++ }
}

/* The launch, and the epilogue. */
proctype Runner() {
  byte seen, place, taken;
  bool done, flagged;
  atomic { started = true; owed = isSet[1] || isSet[2] };
  atomic { finished = true; flagged = hasEpilogue };
#ifndef HANDS_OFF
  flagged = hasEpilogue;
#endif
  if
  :: flagged ->
     take();
     if
     :: taken != 0 -> ran[taken]++
     :: else
     fi
  :: else
  fi;
  gone++
}

/* `completion`, and any other property of the side object. */
proctype Reader() {
  byte seen, place, made;
  bool done;
  acquire();
#ifdef LOOKS_WITHOUT_OBJECT
  seen = word;
  place = PLACE(seen);
  if
  :: place != 0 -> assert(!freed[place])
  :: else
  fi;
#else
  if
  :: findObject()
  :: makeObject()
  fi;
#endif
  release();
  gone++
}

init {
  byte index = 1;
  atomic {
    run Runner();
    run Reader();
    do
    :: index <= SETTERS -> run Setter(index); index++
    :: else -> break
    od
  };
  gone == SETTERS + 2;
  d_step {
    /* Nothing stands alone in an operation that has finished. What is left in its side object goes with the
     * operation. */
    assert(!IS_ALONE(word));
    assert(ran[1] + ran[2] <= 1);
    assert(!owed || ran[1] + ran[2] == 1);
    index = 1;
    do
    :: index <= SETTERS -> assert(ran[index] + dropped[index] + (block[PLACE(word)] == index) == 1); index++
    :: else -> break
    od;
    /* No memory is lost. */
    index = 1;
    do
    :: index < fresh -> assert(freed[index] != (index == PLACE(word))); index++
    :: else -> break
    od
  }
}
