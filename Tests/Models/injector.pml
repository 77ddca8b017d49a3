/* The injector: Sources/Primitives/Queues/Injector.swift. README.md here says what is left out.
 *
 * quick  two_producers             -DPRODUCERS=2 -DCONSUMERS=2
 * run    two_producers             -DPRODUCERS=2 -DCONSUMERS=2
 * run    three_producers           -DPRODUCERS=3 -DCONSUMERS=2
 * deep   four_producers            -DPRODUCERS=4 -DCONSUMERS=2
 * mutant LINK_NOT_SET_AGAIN        -DPRODUCERS=2 -DCONSUMERS=1
 * mutant TAKES_WITHOUT_LOCK        -DPRODUCERS=2 -DCONSUMERS=2
 * mutant NOT_REVERSED              -DPRODUCERS=2 -DCONSUMERS=1
 * mutant COUNTED_AFTER_EXCHANGE    -DPRODUCERS=2 -DCONSUMERS=1
 * mutant LOOKS_AT_COUNT_FIRST      -DPRODUCERS=2 -DCONSUMERS=1
 * mutant STACK_LOADED_NOT_EXCHANGED -DPRODUCERS=2 -DCONSUMERS=1
 */

/* Producer p pushes node p alone; producer 1 pushes a chain of two, the second being node PRODUCERS + 1. */
#define NODES (PRODUCERS + 1)
byte link[NODES + 1];
byte incoming;                     /* head of the producers' stack */
byte available;
byte readyHead, readyTail, readyCount;
bool locked;

/* What the properties need to remember. */
byte order[NODES + 1];             /* when a node was pushed */
byte pushes, takes;

/* push of a node, and of a chain: oldest and newest are the same node, or linked newest to oldest. */
proctype Producer(byte oldest; byte newest) {
  byte head = incoming;
#ifdef LINK_NOT_SET_AGAIN
  link[oldest] = head;
#endif
  do
  :: true ->
#ifndef LINK_NOT_SET_AGAIN
     link[oldest] = head;
#endif
     d_step {
       if
       :: incoming == head ->
          incoming = newest;
          order[oldest] = pushes;
          pushes++;
          if
          :: newest != oldest -> order[newest] = pushes; pushes++
          :: else
          fi;
          head = 255
       :: else -> head = incoming
       fi
     };
     if
     :: head == 255 -> break
     :: else
     fi
  od
}

/* take */
proctype Consumer() {
  byte stack, older, newest, node;
  do
  ::
#ifndef TAKES_WITHOUT_LOCK
     atomic { !locked -> locked = true };
#endif
     if
     :: incoming != 0 ->
#ifndef COUNTED_AFTER_EXCHANGE
        if
        :: readyCount > 0 -> available = readyCount
        :: else -> available = 1
        fi;
#endif
#ifdef STACK_LOADED_NOT_EXCHANGED
        stack = incoming;
        incoming = 0;
#else
        atomic { stack = incoming; incoming = 0 };
#endif
#ifdef COUNTED_AFTER_EXCHANGE
        if
        :: readyCount > 0 -> available = readyCount
        :: else -> available = 1
        fi;
#endif
        /* IntrusiveFIFO.appendReversed: the top of the stack is the newest */
        d_step {
          newest = stack;
          do
          :: stack != 0 ->
             node = link[stack];
             readyCount++;
#ifdef NOT_REVERSED
             newest = (node -> newest : stack);
             older = (older -> older : stack);
#else
             link[stack] = older;
             older = stack;
#endif
             stack = node
          :: else -> break
          od;
#ifdef NOT_REVERSED
          node = older;
          older = newest;
          newest = older;
          older = node;
#endif
          if
          :: readyTail != 0 -> link[readyTail] = older
          :: else -> readyHead = older
          fi;
          readyTail = newest;
          newest = 0;
          older = 0;
          node = 0
        }
     :: incoming == 0
     fi;
     /* at least one of what is there, at most all of it */
     do
     :: readyCount > 0 ->
        d_step {
          node = readyHead;
          assert(node != 0);
          readyHead = link[node];
          if
          :: readyHead == 0 -> readyTail = 0
          :: else
          fi;
          readyCount--;
          assert(order[node] == takes);
          takes++;
          node = 0
        }
     :: readyCount == 0 || takes > 0 -> break
     od;
     available = readyCount;
#ifndef TAKES_WITHOUT_LOCK
     locked = false;
#endif
     if
     :: takes == NODES -> break
     :: else
     fi
  od
}

/* isEmpty: true only when everything pushed before the call has been taken. (Not: that there was nothing at some
 * instant of it. A node may come while another goes.) */
active proctype Observer() {
  bool isEmpty;
  byte before;
  do
  :: takes < NODES ->
     before = pushes;
#ifdef LOOKS_AT_COUNT_FIRST
     isEmpty = (available == 0);
     isEmpty = isEmpty && (incoming == 0);
#else
     isEmpty = (incoming == 0);
     isEmpty = isEmpty && (available == 0);
#endif
     d_step { assert(!isEmpty || takes >= before); isEmpty = false; before = 0 }
  :: takes == NODES -> break
  od
}

init {
  atomic {
    byte number = 2;
    link[NODES] = 1;
    run Producer(1, NODES);
    do
    :: number <= PRODUCERS -> run Producer(number, number); number++
    :: else -> break
    od;
    number = 0;
    do
    :: number < CONSUMERS -> run Consumer(); number++
    :: else -> break
    od
  }
}
