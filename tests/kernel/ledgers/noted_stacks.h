/* Stacks as libgcc's unwinder sees them, which the report must have frame by frame. It follows the same tables by
 * another road: DWARF's machine is run at every frame, in the process itself. Include it once in a program. */
#ifndef HAWKTRACE_NOTED_STACKS_H
#define HAWKTRACE_NOTED_STACKS_H

#include <unwind.h>

#include "ledger.h"

/* In a site function: notes the return addresses from there outwards. The same stack is written once. */
#define NOTE_STACK() note_stack(__func__)

enum { kNotedWords = 1 << 18, kNotedStacks = 1 << 14, kNotedDepth = 1024, kNoteOwnFrames = 2 };

struct noted_stack {
  const char* function;
  size_t first; /* of its words */
  size_t count;
};

static uintptr_t noted_words[kNotedWords];
static struct noted_stack noted_stacks[kNotedStacks];
static size_t noted_word_count, noted_stack_count;
static char noting;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context* context, void* stack_pointer) {
  struct noted_stack* stack = (struct noted_stack*)stack_pointer;
  uintptr_t address = _Unwind_GetIP(context);
  if (!address) return _URC_NORMAL_STOP;
  ledger_require(stack->count < kNotedDepth && stack->first + stack->count < kNotedWords, "room for a stack");
  noted_words[stack->first + stack->count++] = address;
  return _URC_NO_REASON;
}

static inline int is_noted(const struct noted_stack* stack) {
  for (size_t i = 0; i < noted_stack_count; i++)
    if (noted_stacks[i].function == stack->function && noted_stacks[i].count == stack->count &&
        memcmp(noted_words + noted_stacks[i].first, noted_words + stack->first, stack->count * sizeof(uintptr_t)) == 0)
      return 1;
  return 0;
}

__attribute__((noinline)) static void note_stack(const char* function) {
  while (__atomic_test_and_set(&noting, __ATOMIC_ACQUIRE)) continue;
  struct noted_stack stack = {function, noted_word_count, 0};
  ledger_require(noted_stack_count < kNotedStacks, "room for a stack");
  _Unwind_Backtrace(note_frame, &stack);
  ledger_require(stack.count > kNoteOwnFrames, "the unwinder finds the caller");
  /* Not this function, and not the site, which calls the allocator from another address. */
  stack.first += kNoteOwnFrames;
  stack.count -= kNoteOwnFrames;
  if (!is_noted(&stack)) {
    noted_stacks[noted_stack_count++] = stack;
    noted_word_count = stack.first + stack.count;
  }
  __atomic_clear(&noting, __ATOMIC_RELEASE);
}

static inline void forget_stacks(void) { noted_word_count = noted_stack_count = 0; }

/* Where programs are linked statically, libgcc sorts the tables on first use, in memory that it allocates. */
__attribute__((constructor)) static void prepare_to_note(void) {
  note_stack(__func__);
  forget_stacks();
}

#ifdef __cplusplus
extern "C"
#endif
    void
    ledger_write_stacks(void) {
  for (size_t i = 0; i < noted_stack_count; i++) {
    char number[24] = " ";
    ledger_write("stack ", 6);
    ledger_write(noted_stacks[i].function, strlen(noted_stacks[i].function));
    for (size_t word = 0; word < noted_stacks[i].count; word++)
      ledger_write(number, 1 + ledger_format(number + 1, noted_words[noted_stacks[i].first + word]));
    ledger_write("\n", 1);
  }
}

#endif
