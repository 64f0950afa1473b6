/* Whether this is built with a sanitizer that reserves terabytes of address space, which must then not be
 * limited. */
#ifndef ATTNLAB_SERVER_SYSTEM_SANITIZER_H
#define ATTNLAB_SERVER_SYSTEM_SANITIZER_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#endif
