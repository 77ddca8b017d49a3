#define _GNU_SOURCE
#include "CPlatform.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Task-local values, as Swift's runtime keeps them. Sources/OperationForks/README.md has the protocol, in
// "Values".
//
// A bound value is an item of a list, the newest first. The word that holds the newest item is a part of the current
// task. On a thread without a task the word stands where a thread-local variable of the runtime points, which is NULL
// while nothing is bound. No function of the runtime names the two places, so they are looked for once: a value is
// bound, and then one word is another.

#define SWIFTCALL __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))

// Functions that the compiler calls for TaskLocal and for withTaskCancellationHandler. Weak, so that this module links
// alone.
#define RUNTIME extern __attribute__((weak)) SWIFTCALL
RUNTIME void *swift_task_getCurrent(void);
RUNTIME void swift_task_localValuePush(const void *key, void *value, const void *type);
RUNTIME void swift_task_localValuePop(void);
RUNTIME void *swift_task_localValueGet(const void *key);
RUNTIME void *swift_task_addCancellationHandler(SWIFTCALL void (*handler)(CONTEXT void *), void *context);
RUNTIME void swift_task_removeCancellationHandler(void *record);

/// The C library's function behind each access to a thread-local variable of a shared library.
extern void *__tls_get_addr(size_t *module_and_offset);

enum {
  item_bytes = 24,   ///< of an item before its value: the next item and its kind, the key, the type
  task_bytes = 192,  ///< the runtime's own words at the beginning of a task
};

/// An item at which a search for a value ends: 6 in the lowest bits of the word is the runtime's sign for that. A list
/// that ends with this item is never empty, so the runtime does not free what points to the list.
static const uintptr_t nothing[1] = {6};
static void *const no_values = (void *)nothing;

static struct {
  size_t module, offset;  ///< of the thread-local variable
  size_t task_word;       ///< where the word stands in a task, in bytes; 0 while nobody has looked
  const void *type;       ///< of a number: what is bound for a look has a type
  bool found;
} places;

static void ***thread_variable(void) {
  size_t place[2] = {places.module, places.offset};
  return __tls_get_addr(place);
}

static char probe_key;

static void *push_probe(void) {
  uintptr_t value = 0;
  swift_task_localValuePush(&probe_key, &value, places.type);
  return (char *)swift_task_localValueGet(&probe_key) - item_bytes;
}

/// The thread-local variables of the part of the program that has the runtime, as the calling thread has them.
struct variables {
  size_t module, count;
  void **words, **before;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const uintptr_t place = (uintptr_t)swift_task_localValuePush - info->dlpi_addr;
  bool has_runtime = false;
  size_t bytes = 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    if (part->p_type == PT_LOAD && place - part->p_vaddr < part->p_memsz) has_runtime = true;
    if (part->p_type == PT_TLS) bytes = part->p_memsz;
  }
  if (!has_runtime) return 0;
  if (info->dlpi_tls_data)
    *(struct variables *)context =
        (struct variables){info->dlpi_tls_modid, bytes / sizeof(void *), info->dlpi_tls_data, malloc(bytes + 1)};
  return 1;
}

/// Whether a word may point to an item: other variables, such as counters of an allocator, change as well.
static bool is_address(void **word) {
  const uintptr_t address = (uintptr_t)word, page = (uintptr_t)sysconf(_SC_PAGESIZE);
  return address >= page && address % sizeof(void *) == 0 &&
         msync((void *)(address & ~(page - 1)), sizeof(void *), MS_ASYNC) == 0;
}

/// Runs on a thread of its own, where nothing is bound: the variable is NULL first, and points to the word afterwards.
static void *find_variable(void *unused) {
  // The variables of a library that was loaded late are there after their first use.
  swift_task_getCurrent();
  struct variables here = {0};
  dl_iterate_phdr(find_module, &here);
  if (!here.before) return unused;
  memcpy(here.before, here.words, here.count * sizeof(void *));
  void *item = push_probe();
  for (size_t index = 0; index < here.count && !places.found; index++) {
    void **word = here.words[index];
    if (here.before[index] || !is_address(word) || *word != item) continue;
    places.module = here.module;
    places.offset = index * sizeof(void *);
    places.found = true;
  }
  free(here.before);
  swift_task_localValuePop();
  return unused;
}

bool cplatform_values_find(const void *type) {
  if (!swift_task_getCurrent || !swift_task_localValuePush) return false;
  places.type = type;
  pthread_t thread;
  if (pthread_create(&thread, NULL, find_variable, NULL) != 0) return false;
  pthread_join(thread, NULL);
  return places.found;
}

bool cplatform_has_task(void) { return swift_task_getCurrent && swift_task_getCurrent(); }

/// Looks for the word in a task, and finds the same place in each. Two threads may look at once.
static void find_task_word(void *task) {
  void *item = push_probe();
  for (size_t word = sizeof(void *); word < task_bytes; word += sizeof(void *))
    if (*(void **)((char *)task + word) == item) {
      __atomic_store_n(&places.task_word, word, __ATOMIC_RELAXED);
      break;
    }
  swift_task_localValuePop();
}

/// The word that holds the newest item of the current task; NULL when the thread has no task, or nobody knows.
static void **word_of_task(void) {
  void *task = swift_task_getCurrent();
  if (!task) return NULL;
  if (!__atomic_load_n(&places.task_word, __ATOMIC_RELAXED)) find_task_word(task);
  size_t word = __atomic_load_n(&places.task_word, __ATOMIC_RELAXED);
  return word ? (void **)((char *)task + word) : NULL;
}

void *cplatform_values_here(void) {
  if (!places.found) return NULL;
  if (cplatform_has_task()) {
    void **word = word_of_task();
    return word ? *word : NULL;
  }
  void **word = *thread_variable();
  return word && *word != no_values ? *word : NULL;
}

/// Makes the list's own word the thread's, or that of the task the list's.
static cplatform_values take_over(cplatform_forks *list, bool keeps, void *newest) {
  cplatform_values before = {.at = list->values_at, .newest = list->values};
  if (!places.found) return before;
  list->values_at = &list->values;
  if (cplatform_has_task()) {
    void **word = word_of_task();
    if (!word) {
      list->values = no_values;
      return before;
    }
    list->values_at = word;
    if (keeps) return before;
    before.filled = word;
    before.filled_before = *word;
    *word = newest == no_values ? NULL : newest;
    return before;
  }
  void ***variable = thread_variable();
  before.word = *variable;
  if (keeps && *variable) newest = **variable;
  list->values = newest ? newest : no_values;
  *variable = &list->values;
  return before;
}

cplatform_values cplatform_values_keep(cplatform_forks *list) { return take_over(list, true, NULL); }

cplatform_values cplatform_values_replace(cplatform_forks *list, void *newest) { return take_over(list, false, newest); }

void cplatform_values_end(cplatform_forks *list, cplatform_values before) {
  if (!places.found) return;
  if (before.filled) *before.filled = before.filled_before;
  if (!cplatform_has_task()) *thread_variable() = before.word;
  list->values_at = before.at;
  list->values = before.newest;
}

bool cplatform_next_value(void **item, cplatform_value *value) {
  while (*item) {
    const uintptr_t *words = *item;
    *item = (void *)(words[0] & ~(uintptr_t)7);
    if (words[0] & 4) {
      // A sign and no value. A search goes on behind the others.
      if ((words[0] & 6) == 6) return false;
      continue;
    }
    *value = (cplatform_value){words[1], words[2], (uintptr_t)&words[3]};
    return true;
  }
  return false;
}

static SWIFTCALL void cancelled(CONTEXT void *maker) { operations_task_cancelled(maker); }

void *cplatform_on_cancel(void *maker) { return swift_task_addCancellationHandler(cancelled, maker); }

void cplatform_on_cancel_end(void *record) { swift_task_removeCancellationHandler(record); }
