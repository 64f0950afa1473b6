/* attnlab-hdf5: reads a Keras weight file from standard input and writes its arrays to standard output.
 *
 * attnlab starts it for each weight file (server/formats/keras_weights.h). It is a separate program because
 * HDF5 and the libraries it loads (it can read files by HTTP) would double attnlab's start-up time and cost 7
 * MB of memory at rest. As a mode of attnlab it would first have to start OpenBLAS and its threads.
 * This folder calls core/pretrained, formats/weight_exchange.h and system/sandbox.h; nothing includes it. */
#include "server/formats/weight_exchange.h"
#include "server/hdf5/keras_file.h"
#include "server/system/helper_program.h"
#include "server/system/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sandbox_limits choose_limits(void) {
    const char *parent = getenv(HELPER_PROGRAM_PARENT);
    return (struct sandbox_limits){.seconds = WEIGHT_EXCHANGE_SECONDS,
                                   .memory = 512ULL << 20,
                                   .parent = parent != NULL ? strtol(parent, NULL, 10) : 0};
}

/* The file on standard input; NULL if it is empty or cannot be mapped. */
static const void *map_input(size_t *size) {
    struct stat status;
    if (fstat(STDIN_FILENO, &status) != 0 || status.st_size <= 0)
        return NULL;
    *size = (size_t)status.st_size;
    void *bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    return bytes != MAP_FAILED ? bytes : NULL;
}

/* Ends with _exit, so that no exit handler runs on a heap that a hostile file may have corrupted. */
int main(void) {
    struct weight_arrays arrays = {0};
    struct error failure = {0};
    size_t size = 0;
    const struct sandbox_limits limits = choose_limits();
    const void *bytes = map_input(&size);
    if (bytes == NULL || !sandbox_enter(&limits)) {
        fprintf(stderr, "%s: attnlab starts this program; it reads a file from standard input\n",
                WEIGHT_EXCHANGE_PROGRAM);
        return EXIT_FAILURE;
    }
    keras_file_read(bytes, size, &arrays, &failure);
    _exit(weight_exchange_write(STDOUT_FILENO, &arrays, &failure) ? EXIT_SUCCESS : EXIT_FAILURE);
}
