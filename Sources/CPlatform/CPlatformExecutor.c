// The default executor of Swift's runtime. The runtime asks a variable, a hook, each time that it hands over a job of
// no other executor.

#include "CPlatform.h"

#define RUNTIME_CALL __attribute__((swiftcall))

typedef RUNTIME_CALL void (*enqueue_hook)(void *job, void *original);
typedef RUNTIME_CALL void (*delay_hook)(unsigned long long delay, void *job, void *original);
typedef RUNTIME_CALL void (*deadline_hook)(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job, void *original);

// Weak: a runtime without one of these leaves the address at NULL.
extern enqueue_hook swift_task_enqueueGlobal_hook __attribute__((weak));
extern delay_hook swift_task_enqueueGlobalWithDelay_hook __attribute__((weak));
extern deadline_hook swift_task_enqueueGlobalWithDeadline_hook __attribute__((weak));
extern RUNTIME_CALL uint64_t swift_task_getJobTaskId(void *job) __attribute__((weak));
extern RUNTIME_CALL size_t swift_task_getJobFlags(void *job) __attribute__((weak));
extern RUNTIME_CALL void swift_get_time(long long *sec, long long *nsec, int clock) __attribute__((weak));

// The numbers that the runtime gives to its clocks.
enum { continuous_clock = 1, suspending_clock = 2 };

static cplatform_default_executor executor;

static RUNTIME_CALL void enqueue(void *job, void *original) {
  (void)original;
  executor.enqueue(executor.context, job);
}

static void enqueue_after(int64_t delay, int clock, void *job) {
  executor.enqueue_after(executor.context, delay, clock != suspending_clock, job);
}

static RUNTIME_CALL void enqueue_with_delay(unsigned long long delay, void *job, void *original) {
  (void)original;
  // As the runtime does: this clock stands while the system is suspended.
  enqueue_after(delay > INT64_MAX ? INT64_MAX : (int64_t)delay, suspending_clock, job);
}

static RUNTIME_CALL void enqueue_with_deadline(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job, void *original) {
  (void)tsec, (void)tnsec, (void)original;
  long long now_sec, now_nsec;
  swift_get_time(&now_sec, &now_nsec, clock);
  int64_t delay;
  if (__builtin_sub_overflow(sec, now_sec, &delay) || __builtin_mul_overflow(delay, 1000000000, &delay) ||
      __builtin_add_overflow(delay, nsec - now_nsec, &delay)) {
    delay = sec < now_sec ? 0 : INT64_MAX;
  }
  enqueue_after(delay, clock, job);
}

static cplatform_hook_state take(void *variable, void *hook) {
  if (!variable) return cplatform_hook_missing;
  void *none = NULL;
  return __atomic_compare_exchange_n((void **)variable, &none, hook, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
             ? cplatform_hook_set
             : cplatform_hook_taken;
}

cplatform_hook_state cplatform_set_default_executor(cplatform_default_executor new_executor) {
  if (!swift_get_time) return cplatform_hook_missing;
  void **const variables[] = {
      (void **)&swift_task_enqueueGlobalWithDelay_hook, (void **)&swift_task_enqueueGlobalWithDeadline_hook,
      (void **)&swift_task_enqueueGlobal_hook};
  void *const hooks[] = {(void *)enqueue_with_delay, (void *)enqueue_with_deadline, (void *)enqueue};
  // Nothing half installed: a look first, since a hook that is live may be called at once.
  for (int index = 0; index < 3; index++) {
    if (!variables[index]) return cplatform_hook_missing;
    if (__atomic_load_n(variables[index], __ATOMIC_SEQ_CST)) return cplatform_hook_taken;
  }
  executor = new_executor;
  for (int index = 0; index < 3; index++) {
    cplatform_hook_state state = take(variables[index], hooks[index]);
    if (state == cplatform_hook_set) continue;
    while (index-- > 0) __atomic_store_n(variables[index], NULL, __ATOMIC_SEQ_CST);
    return state;
  }
  return cplatform_hook_set;
}

uint64_t cplatform_task_number(void *task) { return swift_task_getJobTaskId ? swift_task_getJobTaskId(task) : 0; }

// The lowest byte of the flags is the kind of the job: 0 for a task, and others for the turns of default actors.
bool cplatform_is_task(void *job) { return swift_task_getJobFlags && (swift_task_getJobFlags(job) & 0xFF) == 0; }
