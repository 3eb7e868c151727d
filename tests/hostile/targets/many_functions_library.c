/* Says that it is mimalloc, and has very many functions of which nothing is known. */
#include <stddef.h>
#include <stdlib.h>

void* mi_malloc(size_t n) {
  void* volatile block = malloc(n);
  return block;
}
void mi_free(void* block) {
  free(block);
  __asm__ volatile("");
}
int mi_state;
#define F(n)                           \
  void mi_function_##n(void) {         \
    __asm__ volatile("" ::: "memory"); \
    mi_state += n;                     \
  }
#define F1(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define F2(n) F1(n##0) F1(n##1) F1(n##2) F1(n##3) F1(n##4) F1(n##5) F1(n##6) F1(n##7) F1(n##8) F1(n##9)
#define F3(n) F2(n##0) F2(n##1) F2(n##2) F2(n##3) F2(n##4) F2(n##5) F2(n##6) F2(n##7) F2(n##8) F2(n##9)
#define F4(n) F3(n##0) F3(n##1) F3(n##2) F3(n##3) F3(n##4) F3(n##5) F3(n##6) F3(n##7) F3(n##8) F3(n##9)
F4(1) F4(2)
