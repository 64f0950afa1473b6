/* Loads the HDF5 library: see hdf5_library.h. */
#include "server/formats/hdf5_library.h"

#include <dlfcn.h>
#include <string.h>

/* The Makefile gives the name of the version whose header this is compiled with. */
#ifndef HDF5_LIBRARY
#define HDF5_LIBRARY "libhdf5.so"
#endif

/* Looked for in the whole program: where that is linked with HDF5 after all, as a test that writes weight
 * files is, its variables may lie elsewhere than in the library. POSIX lets the address of a function be
 * stored in a pointer to data, C does not: hence the copy. */
static bool find_symbol(const char *name, void *pointer) {
    void *address = dlsym(RTLD_DEFAULT, name);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}

static bool find_symbols(struct hdf5_library *library) {
    bool found = find_symbol("H5T_NATIVE_FLOAT_g", &library->native_float) &&
                 find_symbol("H5T_C_S1_g", &library->c_string) &&
                 find_symbol("H5P_CLS_FILE_ACCESS_ID_g", &library->file_access);
#define HDF5_FIND(name) found = found && find_symbol(#name, &library->name);
    HDF5_FUNCTIONS(HDF5_FIND)
#undef HDF5_FIND
    return found;
}

bool hdf5_library_load(struct hdf5_library *library, struct error *error) {
    if (dlopen(HDF5_LIBRARY, RTLD_LAZY | RTLD_GLOBAL) == NULL || !find_symbols(library))
        return error_set(error, ERROR_UNAVAILABLE, "weight files need the HDF5 library: %s", dlerror());
    return true;
}
