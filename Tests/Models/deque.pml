/* The work-stealing deque: Sources/Primitives/Queues/WorkStealingDeque.swift, under total store order. README.md here
 * says what is left out.
 *
 * quick  fixed                      -DELEMENTS=2 -DTHIEVES=2
 * run    fixed                      -DELEMENTS=2 -DTHIEVES=2
 * run    growing                    -DELEMENTS=4 -DTHIEVES=2
 * deep   growing_three_thieves      -DELEMENTS=4 -DTHIEVES=3
 * mutant POP_WITHOUT_FENCE          -DELEMENTS=3 -DTHIEVES=2
 * mutant STEAL_WITHOUT_FENCE        -DELEMENTS=2 -DTHIEVES=2
 * mutant PUSH_PUBLISHES_FIRST       -DELEMENTS=2 -DTHIEVES=1
 * mutant BUFFER_PUBLISHED_LAST      -DELEMENTS=4 -DTHIEVES=1
 * mutant BUFFER_READ_FIRST          -DELEMENTS=4 -DTHIEVES=2
 * mutant LAST_POPPED_WITHOUT_EXCHANGE -DELEMENTS=1 -DTHIEVES=1
 * mutant ROOM_BY_OLD_TOP_ONLY       -DELEMENTS=4 -DTHIEVES=2
 */

/* Memory: what all see. `top` is changed by compare-exchange alone, which empties the buffer of stores, so it needs no
 * place in it. The owner's plain stores wait in its buffer, first in first out; thieves make none. */
#define CAPACITY 2        /* of the first buffer; the second is twice as large */
#define BOTTOM 0
#define CURRENT 1
#define FIRST_SLOT 2      /* slots of the first buffer, then those of the second */
#define slot(buffer, index) (FIRST_SLOT + (buffer -> CAPACITY + ((index) & (2 * CAPACITY - 1)) : ((index) & (CAPACITY - 1))))
#define mask(buffer) (buffer -> 2 * CAPACITY - 1 : CAPACITY - 1)

byte top;
byte memory[FIRST_SLOT + 3 * CAPACITY];
#define ROOM 6           /* a full buffer makes its owner wait */
#define room(stores) (pending + (stores) <= ROOM)
byte address[ROOM], value[ROOM], pending;    /* the owner's store buffer */
byte taken;                                  /* set of elements */
byte thievesGone;
hidden byte scan;

inline store(where, what) {
  assert(pending < ROOM);
  address[pending] = where;
  value[pending] = what;
  pending++
}

/* The owner's load: its own newest store, else memory. */
inline load(where, into) {
  into = memory[where];
  scan = 0;
  do
  :: scan < pending ->
     if
     :: address[scan] == (where) -> into = value[scan]
     :: else
     fi;
     scan++
  :: else -> break
  od
}

inline take(element) {
  assert(element != 0 && !(taken & (1 << (element - 1))));
  taken = taken | (1 << (element - 1))
}

/* The processor: stores become visible in their order, some time. */
active proctype StoreBuffer() {
end_drained:
  do
  :: d_step {
       pending > 0 ->
       memory[address[0]] = value[0];
       scan = 1;
       do
       :: scan < pending -> address[scan - 1] = address[scan]; value[scan - 1] = value[scan]; scan++
       :: else -> break
       od;
       pending--;
       address[pending] = 0;
       value[pending] = 0
     }
  od
}

active proctype Owner() {
  byte end, buffer, pushed, knownTop, first, element, copied;
  bool draining;

  do
  :: !draining && pushed < ELEMENTS ->
     /* push */
     if
     :: end - knownTop > mask(buffer) ->
        /* makeRoom */
        first = top;
        knownTop = first;
#ifdef ROOM_BY_OLD_TOP_ONLY
        first = end - 1;
#endif
        if
        :: end - first > mask(buffer) ->
           d_step {
             room(CAPACITY + 1);
             assert(buffer == 0);
             copied = first;
             do
             :: copied < end ->
                load(slot(0, copied), element);
                store(slot(1, copied), element);
                copied++
             :: else -> break
             od;
             element = 0;
             copied = 0;
             buffer = 1
#ifndef BUFFER_PUBLISHED_LAST
             ; store(CURRENT, 1)
#endif
           }
        :: else
        fi;
        first = 0
     :: else
     fi;
     d_step {
       room(3);
       pushed++;
#ifdef PUSH_PUBLISHES_FIRST
       store(BOTTOM, end + 1);
       store(slot(buffer, end), pushed);
#else
       store(slot(buffer, end), pushed);
       store(BOTTOM, end + 1);
#endif
#ifdef BUFFER_PUBLISHED_LAST
       store(CURRENT, buffer);
#endif
       end++
     }
  :: end > 0 || draining ->
     /* pop */
     if
     :: end == 0 -> goto next
     :: else
     fi;
     end--;
     d_step { room(1); store(BOTTOM, end) };
#ifndef POP_WITHOUT_FENCE
     pending == 0;
#endif
     first = top;
     if
     :: first > end ->
        d_step { room(1); end++; store(BOTTOM, end); first = 0; }
        if
        :: draining -> break
        :: else
        fi
     :: else ->
        d_step { load(slot(buffer, end), element) };
        if
        :: first == end ->
#ifdef LAST_POPPED_WITHOUT_EXCHANGE
           top = first + 1;
#else
           atomic {
             pending == 0 ->
             if
             :: top == first -> top = first + 1
             :: else -> element = 0
             fi
           };
#endif
           d_step { room(1); end++; store(BOTTOM, end) }
        :: else
        fi;
        d_step {
          if
          :: element -> take(element)
          :: else
          fi;
          element = 0;
          first = 0
        }
     fi
  :: !draining && end > 0 ->
     /* takeFirst */
     first = top;
     do
     :: first < end ->
        d_step { load(slot(buffer, first), element) };
        atomic {
          pending == 0 ->
          if
          :: top == first -> top = first + 1; take(element); first = end
          :: else -> first = top
          fi;
          element = 0
        }
     :: else -> break
     od;
     first = 0
  :: !draining && pushed == ELEMENTS -> draining = true
next: skip
  od;
  thievesGone == THIEVES;
  assert(taken == (1 << ELEMENTS) - 1)
}

proctype Thief() {
  byte first, bottom, buffer, element;
  do
  :: /* steal */
#ifdef STEAL_WITHOUT_FENCE
     /* Without it a processor may load bottom before top. */
     bottom = memory[BOTTOM];
     first = top;
#else
#ifdef BUFFER_READ_FIRST
     buffer = memory[CURRENT];
#endif
     first = top;
     bottom = memory[BOTTOM];
#endif
     if
     :: first < bottom ->
#ifndef BUFFER_READ_FIRST
        buffer = memory[CURRENT];
#endif
        element = memory[slot(buffer, first)];
        d_step {
          if
          :: top == first -> top = first + 1; take(element)
          :: else
          fi
        }
     :: else
     fi;
     d_step { first = 0; bottom = 0; buffer = 0; element = 0 }
  :: break
  od;
  thievesGone++
}

init {
  atomic {
    byte thief = 0;
    do
    :: thief < THIEVES -> run Thief(); thief++
    :: else -> break
    od
  }
}
