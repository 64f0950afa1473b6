/* Memory for jansson.
 *
 * jansson's lexer asserts, and so ends the whole process, if it cannot allocate memory for a long number.
 * Therefore its allocations wait for memory, up to a second: other requests and runs end meanwhile and free
 * some. */
#ifndef ATTNLAB_SERVER_FORMATS_JSON_MEMORY_H
#define ATTNLAB_SERVER_FORMATS_JSON_MEMORY_H

/* Must be called before any other function of jansson. */
void json_memory_install(void);

#endif
