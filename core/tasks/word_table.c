/* Distinct strings in order of first appearance: see word_table.h. */
#include "core/tasks/word_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *word;
    size_t length;
    uint64_t hash;
};

struct word_table {
    struct entry *entries;  /* [capacity], in order of first appearance */
    size_t *slots;          /* [2 * capacity] index into entries + 1; 0: free */
    size_t count, capacity; /* capacity is a power of two */
};

static uint64_t hash_of(const char *word, size_t length) {
    uint64_t hash = 0xCBF29CE484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * 0x100000001B3U;
    return hash ^ hash >> 32;
}

/* The slot that holds the word, or the free slot for it. */
static size_t *slot_of(const struct word_table *table, const char *word, size_t length, uint64_t hash) {
    size_t mask = 2 * table->capacity - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        if (table->slots[i] == 0)
            return &table->slots[i];
        const struct entry *entry = &table->entries[table->slots[i] - 1];
        if (entry->hash == hash && entry->length == length && memcmp(entry->word, word, length) == 0)
            return &table->slots[i];
    }
}

struct word_table *word_table_new(void) {
    struct word_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->capacity = 64;
    table->entries = calloc(table->capacity, sizeof *table->entries);
    table->slots = calloc(2 * table->capacity, sizeof *table->slots);
    if (table->entries == NULL || table->slots == NULL) {
        word_table_free(table);
        return NULL;
    }
    return table;
}

void word_table_free(struct word_table *table) {
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->count; i++)
        free(table->entries[i].word);
    free(table->entries);
    free(table->slots);
    free(table);
}

static int grow(struct word_table *table) {
    size_t capacity = 2 * table->capacity;
    struct entry *entries = realloc(table->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return 0;
    table->entries = entries;
    size_t *slots = calloc(2 * capacity, sizeof *slots);
    if (slots == NULL)
        return 0;
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    for (size_t i = 0; i < table->count; i++)
        *slot_of(table, entries[i].word, entries[i].length, entries[i].hash) = i + 1;
    return 1;
}

size_t word_table_add(struct word_table *table, const char *word, size_t length) {
    uint64_t hash = hash_of(word, length);
    size_t *slot = slot_of(table, word, length, hash);
    if (*slot != 0)
        return *slot - 1;
    if (table->count == table->capacity) {
        if (!grow(table))
            return WORD_TABLE_NONE;
        slot = slot_of(table, word, length, hash);
    }
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return WORD_TABLE_NONE;
    memcpy(copy, word, length);
    copy[length] = '\0';
    table->entries[table->count] = (struct entry){copy, length, hash};
    *slot = ++table->count;
    return table->count - 1;
}

size_t word_table_find(const struct word_table *table, const char *word, size_t length) {
    size_t slot = *slot_of(table, word, length, hash_of(word, length));
    return slot == 0 ? WORD_TABLE_NONE : slot - 1;
}

size_t word_table_count(const struct word_table *table) {
    return table->count;
}

char *word_table_word(const struct word_table *table, size_t index) {
    return table->entries[index].word;
}
