/* Distinct strings, numbered from 0 in order of first appearance.
 *
 * An open-addressing hash table (FNV-1a, linear probing, at most half full) of strings that it owns. The
 * strings never move, so a pointer from word_table_word is valid as long as the table. */
#ifndef ATTNLAB_CORE_TASKS_WORD_TABLE_H
#define ATTNLAB_CORE_TASKS_WORD_TABLE_H

#include <stddef.h>

struct word_table;

#define WORD_TABLE_NONE ((size_t)-1)

/* NULL when out of memory. */
struct word_table *word_table_new(void);
void word_table_free(struct word_table *table);

/* The number of the word, which is added if it is new; WORD_TABLE_NONE when out of memory. `word` contains no
 * null byte and need not be null-terminated. */
size_t word_table_add(struct word_table *table, const char *word, size_t length);
/* The number of the word, or WORD_TABLE_NONE if the table does not have it. */
size_t word_table_find(const struct word_table *table, const char *word, size_t length);

size_t word_table_count(const struct word_table *table);
/* Null-terminated, owned by the table. */
char *word_table_word(const struct word_table *table, size_t index);

#endif
