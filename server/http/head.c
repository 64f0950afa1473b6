/* The grammar of request lines and headers: see head.h. */
#include "server/http/head.h"

#include <string.h>
#include <strings.h>

enum {
    PART_SIZE = 64,             /* what libmicrohttpd stores for an argument, a header or a cookie */
    ARGUMENTS_MAXIMUM = 100,    /* of a query */
    PARTS_MAXIMUM = 10 << 10,   /* bytes of all parts, with a copy of the cookies */
    METHOD_MAXIMUM = 32,        /* bytes */
    LENGTH_DIGITS_MAXIMUM = 18, /* so that a length fits into 63 bits */
    VERSION_LENGTH = sizeof "HTTP/1.1" - 1
};

static bool refuse(struct refusal *refusal, unsigned status, const char *detail) {
    *refusal = (struct refusal){status, detail};
    return false;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_alphanumeric(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}

/* A token (RFC 9110, 5.6.2): a method or the name of a header. */
static bool is_token(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!is_alphanumeric(text[i]) && !is_one_of(text[i], "!#$%&'*+-.^_`|~"))
            return false;
    return length > 0;
}

static bool equals(const char *text, size_t length, const char *word) {
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

/* The length of the brackets that begin `text`, or 0 if they do not hold what may be an IPv6 address. */
static size_t measure_brackets(const char *text, size_t length) {
    size_t i = 1;
    while (i < length && (is_alphanumeric(text[i]) || is_one_of(text[i], ":.")))
        i++;
    return i > 1 && i < length && text[i] == ']' ? i + 1 : 0;
}

/* host [":" port] by RFC 3986, 3.2; without the user's name, and without percent signs. */
static bool is_authority(const char *text, size_t length) {
    size_t i = 0;
    if (length > 0 && text[0] == '[') {
        i = measure_brackets(text, length);
        if (i == 0)
            return false;
    } else {
        while (i < length && (is_alphanumeric(text[i]) || is_one_of(text[i], "-._~!$&'()*+,;=")))
            i++;
    }
    if (i < length && text[i] == ':') {
        i++;
        while (i < length && is_digit(text[i]))
            i++;
    }
    return i == length;
}

/* "http://host/path" or "http://host": what proxies send (RFC 9112, 3.2.2). */
static bool is_absolute(const char *target, size_t length) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t scheme = strlen(schemes[i]), end = scheme;
        if (length < scheme || strncasecmp(target, schemes[i], scheme) != 0)
            continue;
        while (end < length && !is_one_of(target[end], "/?"))
            end++;
        return end > scheme && is_authority(target + scheme, end - scheme);
    }
    return false;
}

static size_t count_bytes(const char *text, size_t length, const char *set) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += is_one_of(text[i], set);
    return count;
}

static bool check_target(struct head *head, const char *method, size_t method_length, const char *target,
                         size_t length, struct refusal *refusal) {
    if (equals(method, method_length, "CONNECT"))
        return refuse(refusal, 501, "this service is not a proxy: it has no CONNECT");
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)target[i] <= ' ' || target[i] == 0x7f || target[i] == '#')
            return refuse(refusal, 400, "the address has a character that must be percent-encoded");
    bool is_asterisk = length == 1 && *target == '*' && equals(method, method_length, "OPTIONS");
    if (length == 0 || (*target != '/' && !is_asterisk && !is_absolute(target, length)))
        return refuse(refusal, 400, "the address must be a path, like /api/health, or begin with http://");
    const char *query = memchr(target, '?', length);
    size_t arguments = query ? 1 + count_bytes(query, length - (size_t)(query - target), "&") : 0;
    if (arguments > ARGUMENTS_MAXIMUM)
        return refuse(refusal, 414, "the query has too many arguments; at most 100 are read");
    head->parts_size += arguments * PART_SIZE;
    return true;
}

static bool check_version(struct head *head, const char *version, size_t length, struct refusal *refusal) {
    if (length != VERSION_LENGTH || strncmp(version, "HTTP/", 5) != 0 || !is_digit(version[5]) ||
        version[6] != '.' || !is_digit(version[7]))
        return refuse(refusal, 400, "the request line must be a method, an address and HTTP/1.1");
    if (version[5] != '1')
        return refuse(refusal, 505, "this service speaks HTTP/1.1 and HTTP/1.0");
    head->is_http_1_0 = version[7] == '0';
    return true;
}

/* "GET /path HTTP/1.1", with single spaces. */
static bool take_request_line(struct head *head, const char *line, size_t length, struct refusal *refusal) {
    const char *end = line + length;
    const char *target = memchr(line, ' ', length);
    const char *version = target ? memchr(target + 1, ' ', (size_t)(end - target - 1)) : NULL;
    size_t method_length = target ? (size_t)(target - line) : 0;
    head->has_request_line = true;
    head->is_head = method_length == 4 && memcmp(line, "HEAD", 4) == 0;
    if (!version || method_length > METHOD_MAXIMUM || !is_token(line, method_length))
        return refuse(refusal, 400, "the request line must be a method, an address and HTTP/1.1");
    return check_version(head, version + 1, (size_t)(end - version - 1), refusal) &&
           check_target(head, line, method_length, target + 1, (size_t)(version - target - 1), refusal);
}

/* --- the headers that say where a request ends, or whom it is for ------------------------------------ */

static bool take_host(struct head *head, const char *value, size_t length, struct refusal *refusal) {
    if (head->has_host)
        return refuse(refusal, 400, "the request has two Host headers");
    if (!is_authority(value, length))
        return refuse(refusal, 400, "the Host header is not a host with a port");
    head->has_host = true;
    return true;
}

/* RFC 9112, 6.3, would let "5, 5" and two equal headers pass; no client sends them. */
static bool take_length(struct head *head, const char *value, size_t length, struct refusal *refusal) {
    if (head->has_length)
        return refuse(refusal, 400, "the request has two Content-Length headers");
    head->has_length = true;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(value[i]))
            return refuse(refusal, 400, "Content-Length must be one number, in decimal digits");
        if (i < LENGTH_DIGITS_MAXIMUM)
            head->length = 10 * head->length + (uint64_t)(value[i] - '0');
    }
    if (length == 0 || length > LENGTH_DIGITS_MAXIMUM)
        return refuse(refusal, 400, "Content-Length must be a number of at most 18 digits");
    return true;
}

static bool take_coding(struct head *head, const char *value, size_t length, struct refusal *refusal) {
    if (head->is_chunked)
        return refuse(refusal, 400, "the request has two Transfer-Encoding headers");
    if (head->is_http_1_0)
        return refuse(refusal, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (length > 7 && strncasecmp(value, "chunked", 7) == 0)
        return refuse(refusal, 400, "chunked must be the last Transfer-Encoding, and there once");
    if (!equals(value, length, "chunked"))
        return refuse(refusal, 501, "Transfer-Encoding may only be chunked");
    head->is_chunked = true;
    return true;
}

static bool take_expectation(struct head *head, const char *value, size_t length, struct refusal *refusal) {
    (void)head;
    return equals(value, length, "100-continue") ||
           refuse(refusal, 417, "the only expectation that can be met is 100-continue");
}

static bool take_connection(struct head *head, const char *value, size_t length, struct refusal *refusal) {
    (void)refusal;
    for (size_t i = 0; i < length;) {
        size_t start = i;
        while (i < length && value[i] != ',')
            i++;
        size_t end = i++;
        while (start < end && is_one_of(value[start], " \t"))
            start++;
        while (end > start && is_one_of(value[end - 1], " \t"))
            end--;
        head->closes |= equals(value + start, end - start, "close");
        head->stays |= equals(value + start, end - start, "keep-alive");
    }
    return true;
}

static bool take_cookies(struct head *head, const char *value, size_t length, struct refusal *refusal) {
    (void)refusal;
    head->parts_size += length + PART_SIZE * (1 + count_bytes(value, length, ";,"));
    return true;
}

static const struct {
    const char *name;
    bool (*take)(struct head *head, const char *value, size_t length, struct refusal *refusal);
    bool is_exact; /* libmicrohttpd 0.9.75 would misread blanks after the value */
} header_readers[] = {
    {"Host", take_host, true},
    {"Content-Length", take_length, true},
    {"Transfer-Encoding", take_coding, true},
    {"Expect", take_expectation, true},
    {"Connection", take_connection, false},
    {"Cookie", take_cookies, false},
};

bool head_check_line(const char *line, size_t length, struct refusal *refusal) {
    const char *colon = memchr(line, ':', length);
    if (length > 0 && is_one_of(*line, " \t"))
        return refuse(refusal, 400, "a header goes on in a second line, or blanks come before the first");
    if (!colon || !is_token(line, (size_t)(colon - line)))
        return refuse(refusal, 400, "a header must be a name, a colon at once, and a value");
    for (const char *at = colon + 1; at < line + length; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
            return refuse(refusal, 400, "a header has a control character in its value");
    return true;
}

static bool take_header(struct head *head, const char *line, size_t length, struct refusal *refusal) {
    if (!head_check_line(line, length, refusal))
        return false;
    const char *colon = memchr(line, ':', length);
    size_t name_length = (size_t)(colon - line);
    const char *value = colon + 1, *end = line + length;
    while (value < end && is_one_of(*value, " \t"))
        value++;
    head->parts_size += PART_SIZE;
    for (size_t i = 0; i < sizeof header_readers / sizeof *header_readers; i++) {
        if (!equals(line, name_length, header_readers[i].name))
            continue;
        if (header_readers[i].is_exact && value < end && is_one_of(end[-1], " \t"))
            return refuse(refusal, 400, "there are blanks after the value of a header that may have none");
        if (!header_readers[i].take(head, value, (size_t)(end - value), refusal))
            return false;
    }
    return head->parts_size <= PARTS_MAXIMUM ||
           refuse(refusal, 431, "the headers are too many, or their cookies too long");
}

bool head_take_line(struct head *head, const char *line, size_t length, struct refusal *refusal) {
    head->size += length + 2;
    if (length > HEAD_LINE_MAXIMUM || head->size > HEAD_MAXIMUM) {
        head_refuse_length(head, refusal);
        return false;
    }
    if (head->has_request_line)
        return take_header(head, line, length, refusal);
    return length == 0 || take_request_line(head, line, length, refusal); /* RFC 9112, 2.2 */
}

bool head_end(const struct head *head, struct refusal *refusal) {
    if (!head->has_host && !head->is_http_1_0)
        return refuse(refusal, 400, "the request has no Host header");
    if (head->has_length && head->is_chunked)
        return refuse(refusal, 400, "the request has both Content-Length and Transfer-Encoding");
    return true;
}

bool head_is_last(const struct head *head) {
    return head->closes || (head->is_http_1_0 && !head->stays);
}

void head_refuse_length(const struct head *head, struct refusal *refusal) {
    if (head->has_request_line)
        refuse(refusal, 431, "the headers are too long: together at most 16 KiB, and 8 KiB each");
    else
        refuse(refusal, 414, "the address is too long: at most 8 KiB");
}
