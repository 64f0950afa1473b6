/* Memory for jansson.
 *
 * Its lexer asserts, and so ends the whole process, where it finds none for a long number. So its allocations
 * wait for memory, for at most a second: other requests and runs end meanwhile and give some back. */
#ifndef ATTNLAB_SERVER_FORMATS_JSON_MEMORY_H
#define ATTNLAB_SERVER_FORMATS_JSON_MEMORY_H

/* Before anything else of jansson is used. */
void json_memory_install(void);

#endif
