/* Every allocation of the compiled learner goes through here, so that a test can let each of them fail in turn: with
 * `fail_in` at k, the k-th one from now on returns NULL, and those after it are as usual. At 0, as always but in tests, none
 * fails; that costs a comparison with a number that is in the cache. */
#ifndef ESPALIER_MEMORY_H
#define ESPALIER_MEMORY_H

#include <stdint.h>
#include <stdlib.h>

extern int64_t fail_in;

static inline int fails_now(void) { return __builtin_expect(fail_in != 0, 0) && --fail_in == 0; }
static inline void *try_malloc(size_t size) { return fails_now() ? NULL : malloc(size); }
static inline void *try_calloc(size_t count, size_t size) { return fails_now() ? NULL : calloc(count, size); }
static inline void *try_realloc(void *block, size_t size) { return fails_now() ? NULL : realloc(block, size); }

/* What is generated from Cython has memory of its own, and what checks a tree is no part of it. */
#if !defined(Py_PYTHON_H) && !defined(ESPALIER_CHECK_H)
#define malloc(size) try_malloc(size)
#define calloc(count, size) try_calloc(count, size)
#define realloc(block, size) try_realloc(block, size)
#endif

#endif
