/* Functions of its own that happen to have names of allocators', and are none: what they are given is no size, and what
 * they return no block. */
#include "hostile.h"

struct node {
  struct node* next;
  char name[40];
};

__attribute__((noipa)) struct node* mi_new(struct node* next) {
  struct node* node = malloc(sizeof(*node));
  if (node) node->next = next;
  return node;
}
__attribute__((noipa)) uintptr_t mi_expand(struct node* node, int by) { return node ? (uintptr_t)by + 1 : 0; }
__attribute__((noipa)) void mi_free(struct node** node) {
  free(*node);
  *node = NULL;
}
__attribute__((noipa)) struct node* tc_new(const char* name) {
  struct node* node = malloc(sizeof(*node));
  if (node) strncpy(node->name, name, sizeof(node->name) - 1);
  return node;
}
__attribute__((noipa)) uintptr_t mallocx(uintptr_t x) { return x * 3 + 16; }
__attribute__((noipa)) static uintptr_t pvalloc(uintptr_t x) { return x * 5 + 16; }

SITE_FUNCTION struct block by_mi_new(void) { return ALLOCATED(mi_new(NULL), sizeof(struct node)); }
SITE_FUNCTION struct block by_tc_new(void) { return ALLOCATED(tc_new("a name"), sizeof(struct node)); }

int main(void) {
  ledger_begin();
  uint64_t sum = 0;
  for (uintptr_t i = 0; i < 100; i++) {
    struct block a = by_mi_new(), b = by_tc_new();
    sum += mi_expand(a.address, (int)i) + mallocx(i * 16) + pvalloc(i);
    if (i % 2) {
      struct node* node = a.address;
      mi_free(&node);
      ledger_freed(a);
    }
    if (i % 3) release(b);
  }
  say("sum", sum);
  ledger_end();
  return 0;
}
