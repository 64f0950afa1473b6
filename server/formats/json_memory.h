/* Memory for jansson.
 *
 * If jansson's lexer cannot allocate memory for a long number, it fails an assertion, which ends the whole
 * process. Therefore its allocations wait for memory, up to a second; meanwhile other requests and runs may
 * end and free some. */
#ifndef ATTNLAB_SERVER_FORMATS_JSON_MEMORY_H
#define ATTNLAB_SERVER_FORMATS_JSON_MEMORY_H

/* Call this before any other function of jansson. */
void json_memory_install(void);

#endif
