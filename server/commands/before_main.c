/* Refuses to start where OpenBLAS would hang.
 *
 * OpenBLAS maps a buffer when it is loaded, and one more in each thread that it starts then. If the system
 * refuses one, as under `ulimit -v`, OpenBLAS tries again for ever: Debian 12's 0.3.21 and all up to 0.3.29
 * (later ones end the process: its change 5303). All this happens before main, but an executable's
 * .preinit_array runs before the constructors of its libraries; only the dynamic linker of musl ignores it.
 */
#include "core/math/matrix.h"
#include "server/system/sanitizer.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sanitizers need far more address space, and cannot run before their own constructors. */
#if !IS_SANITIZED

enum { BUFFERS_MAXIMUM = 128 };

/* A thread's stack, and what the program itself will need to say anything. */
static const size_t thread_bytes = (size_t)8 << 20, program_bytes = (size_t)16 << 20;

/* OpenBLAS starts as many threads as there are processors, or as these variables say. The C library's own
 * environment is not there yet. */
static size_t count_threads(char **environment) {
    static const char *const names[] = {"OPENBLAS_NUM_THREADS=", "GOTO_NUM_THREADS=", "OMP_NUM_THREADS="};
    cpu_set_t processors;
    size_t count = sched_getaffinity(0, sizeof processors, &processors) == 0 ? (size_t)CPU_COUNT(&processors)
                                                                             : BUFFERS_MAXIMUM;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (char **variable = environment; *variable != NULL; variable++) {
            size_t length = strlen(names[i]);
            unsigned long wanted =
                strncmp(*variable, names[i], length) == 0 ? strtoul(*variable + length, NULL, 10) : 0;
            if (wanted > 0)
                return wanted < count ? wanted : count;
        }
    return count < BUFFERS_MAXIMUM ? count : BUFFERS_MAXIMUM;
}

/* Maps what the library will map, then unmaps it. */
static void check_address_space(int argument_count, char **arguments, char **environment) {
    static const char message[] =
        "attnlab: there is too little address space for the library OpenBLAS, which maps 128 MiB for each "
        "processor; allow more (ulimit -v), or start attnlab with OPENBLAS_NUM_THREADS=1 in its "
        "environment\n";
    void *buffers[BUFFERS_MAXIMUM];
    size_t count = count_threads(environment), mapped = 0;
    size_t size = MATRIX_LIBRARY_BUFFER + thread_bytes;
    (void)argument_count, (void)arguments;
    for (; mapped < count; mapped++) {
        buffers[mapped] = mmap(NULL, mapped == 0 ? size + program_bytes : size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffers[mapped] == MAP_FAILED)
            break;
    }
    bool is_enough = mapped == count;
    while (mapped-- > 0)
        munmap(buffers[mapped], mapped == 0 ? size + program_bytes : size);
    if (is_enough)
        return;
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(EXIT_FAILURE);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(int, char **, char **) = check_address_space;

#endif
