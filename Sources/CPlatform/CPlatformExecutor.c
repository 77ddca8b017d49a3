// The default executor of Swift's runtime. The runtime asks a variable, a hook, each time that it hands over a job of
// no other executor.

#include "CPlatform.h"

#define RUNTIME_CALL __attribute__((swiftcall))

// What a hook replaces, and may call.
typedef RUNTIME_CALL void (*enqueue_original)(void *job);
typedef RUNTIME_CALL void (*delay_original)(unsigned long long delay, void *job);
typedef RUNTIME_CALL void (*deadline_original)(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job);

typedef RUNTIME_CALL void (*enqueue_hook)(void *job, enqueue_original original);
typedef RUNTIME_CALL void (*delay_hook)(unsigned long long delay, void *job, delay_original original);
typedef RUNTIME_CALL void (*deadline_hook)(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job, deadline_original original);

// Weak: a runtime without one of these leaves the address at NULL.
extern enqueue_hook swift_task_enqueueGlobal_hook __attribute__((weak));
extern delay_hook swift_task_enqueueGlobalWithDelay_hook __attribute__((weak));
extern deadline_hook swift_task_enqueueGlobalWithDeadline_hook __attribute__((weak));
extern RUNTIME_CALL uint64_t swift_task_getJobTaskId(void *job) __attribute__((weak));
extern RUNTIME_CALL size_t swift_task_getJobFlags(void *job) __attribute__((weak));
extern RUNTIME_CALL void swift_get_time(long long *sec, long long *nsec, int clock) __attribute__((weak));

// The number that the runtime gives to the clock that stands while the system is suspended.
enum { suspending_clock = 2 };

static cplatform_default_executor executor;
static cplatform_task_claim claim;

static bool is_claimed(void *job, int64_t delay) {
  const cplatform_task_claim now = __atomic_load_n(&claim, __ATOMIC_ACQUIRE);
  return now && now(job, delay);
}

bool cplatform_hand_over(void *job) {
  if (is_claimed(job, 0)) return true;
  if (!executor.enqueue) return false;
  executor.enqueue(executor.context, job);
  return true;
}

bool cplatform_hand_over_later(void *job, int64_t delay, bool counts_suspended) {
  if (is_claimed(job, delay)) return true;
  if (!executor.enqueue) return false;
  executor.enqueue_after(executor.context, delay, counts_suspended, job);
  return true;
}

static RUNTIME_CALL void enqueue(void *job, enqueue_original original) {
  if (!cplatform_hand_over(job)) original(job);
}

static RUNTIME_CALL void enqueue_with_delay(unsigned long long delay, void *job, delay_original original) {
  // As the runtime does: this clock stands while the system is suspended.
  if (!cplatform_hand_over_later(job, delay > INT64_MAX ? INT64_MAX : (int64_t)delay, false)) original(delay, job);
}

static RUNTIME_CALL void enqueue_with_deadline(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job, deadline_original original) {
  long long now_sec, now_nsec;
  swift_get_time(&now_sec, &now_nsec, clock);
  int64_t delay;
  if (__builtin_sub_overflow(sec, now_sec, &delay) || __builtin_mul_overflow(delay, 1000000000, &delay) ||
      __builtin_add_overflow(delay, nsec - now_nsec, &delay)) {
    delay = sec < now_sec ? 0 : INT64_MAX;
  }
  if (!cplatform_hand_over_later(job, delay, clock != suspending_clock)) {
    original(sec, nsec, tsec, tnsec, clock, job);
  }
}

/// Sets the hooks, or none of them. A second call finds them set.
static cplatform_hook_state set_hooks(void) {
  if (!swift_get_time) return cplatform_hook_missing;
  void **const variables[] = {
      (void **)&swift_task_enqueueGlobalWithDelay_hook, (void **)&swift_task_enqueueGlobalWithDeadline_hook,
      (void **)&swift_task_enqueueGlobal_hook};
  void *const hooks[] = {(void *)enqueue_with_delay, (void *)enqueue_with_deadline, (void *)enqueue};
  // A look first, since a hook that is live may be called at once.
  for (int index = 0; index < 3; index++) {
    if (!variables[index]) return cplatform_hook_missing;
    const void *now = __atomic_load_n(variables[index], __ATOMIC_SEQ_CST);
    if (now && now != hooks[index]) return cplatform_hook_taken;
  }
  bool is_new[3] = {false, false, false};
  for (int index = 0; index < 3; index++) {
    void *now = NULL;
    is_new[index] =
        __atomic_compare_exchange_n(variables[index], &now, hooks[index], false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (is_new[index] || now == hooks[index]) continue;
    while (index-- > 0) {
      if (is_new[index]) __atomic_store_n(variables[index], NULL, __ATOMIC_SEQ_CST);
    }
    return cplatform_hook_taken;
  }
  return cplatform_hook_set;
}

cplatform_hook_state cplatform_set_default_executor(cplatform_default_executor new_executor) {
  // Before the hooks are live.
  executor = new_executor;
  const cplatform_hook_state state = set_hooks();
  if (state != cplatform_hook_set) executor = (cplatform_default_executor){0};
  return state;
}

cplatform_hook_state cplatform_claim_tasks(cplatform_task_claim new_claim) {
  __atomic_store_n(&claim, new_claim, __ATOMIC_RELEASE);
  return set_hooks();
}

uint64_t cplatform_task_number(void *task) { return swift_task_getJobTaskId ? swift_task_getJobTaskId(task) : 0; }

extern RUNTIME_CALL void *swift_task_getCurrent(void) __attribute__((weak));

bool cplatform_runs_task(void) { return !swift_task_getCurrent || swift_task_getCurrent(); }

void *cplatform_current_task(void) { return swift_task_getCurrent ? swift_task_getCurrent() : NULL; }

// The lowest byte of the flags is the kind of the job: 0 for a task, and others for the turns of default actors.
bool cplatform_is_task(void *job) { return swift_task_getJobFlags && (swift_task_getJobFlags(job) & 0xFF) == 0; }
