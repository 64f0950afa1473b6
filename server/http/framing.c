/* A state machine over lines and counted bytes: see framing.h. */
#include "server/http/framing.h"

#include <string.h>

enum {
    CHUNK_LINE_MAXIMUM = 256, /* bytes of a chunk's size with its extensions, which nobody uses */
    CHUNK_DIGITS_MAXIMUM = 15,
    TRAILER_MAXIMUM = 2 << 10 /* bytes of all trailer lines */
};

static bool refuse(struct framing *framing, unsigned status, const char *detail) {
    framing->refusal = (struct refusal){status, detail};
    return false;
}

static void end_request(struct framing *framing) {
    framing->state = head_is_last(&framing->head) ? FRAMING_CLOSED : FRAMING_HEAD;
    framing->head = (struct head){0};
    framing->trailer_size = 0;
}

static bool take_head_line(struct framing *framing, const char *line, size_t length) {
    struct head *head = &framing->head;
    if (length > 0 || !head->has_request_line)
        return head_take_line(head, line, length, &framing->refusal);
    if (!head_end(head, &framing->refusal))
        return false;
    framing->head_count++;
    framing->left = head->length;
    if (head->is_chunked)
        framing->state = FRAMING_CHUNK_SIZE;
    else if (head->length > 0)
        framing->state = FRAMING_BODY;
    else
        end_request(framing);
    return true;
}

static int find_digit(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

static size_t count_digits(const char *line, size_t length) {
    size_t digits = 0;
    while (digits < length && find_digit(line[digits]) >= 0)
        digits++;
    return digits;
}

/* A carriage return, and if there is more, the line feed. */
static bool is_line_end(const char *text, size_t length) {
    return text[0] == '\r' && (length == 1 || text[1] == '\n');
}

/* Hexadecimal digits, then nothing or extensions, which are ignored. */
static bool may_begin_chunk_size(const char *line, size_t length) {
    size_t digits = count_digits(line, length);
    return digits > 0 && digits <= CHUNK_DIGITS_MAXIMUM &&
           (digits == length || line[digits] == ';' || is_line_end(line + digits, length - digits));
}

static bool may_begin_chunk_end(const char *line, size_t length) {
    return is_line_end(line, length);
}

static bool take_chunk_size(struct framing *framing, const char *line, size_t length) {
    size_t digits = count_digits(line, length);
    framing->left = 0;
    for (size_t i = 0; i < digits; i++)
        framing->left = 16 * framing->left + (uint64_t)find_digit(line[i]);
    for (size_t i = digits; i < length; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
            return refuse(framing, 400, "the size of a chunk has a control character behind it");
    framing->state = framing->left > 0 ? FRAMING_CHUNK : FRAMING_TRAILER;
    return true;
}

static bool take_chunk_end(struct framing *framing, const char *line, size_t length) {
    (void)line, (void)length;
    framing->state = FRAMING_CHUNK_SIZE;
    return true;
}

static bool take_trailer_line(struct framing *framing, const char *line, size_t length) {
    framing->trailer_size += length + 2;
    if (framing->trailer_size > TRAILER_MAXIMUM)
        return refuse(framing, 431, "the headers after the body are too long");
    if (length > 0)
        return head_check_line(line, length, &framing->refusal);
    end_request(framing);
    return true;
}

/* What the states that read lines do with one, and how long it may be. libmicrohttpd judges the lines between
 * chunks before they are complete, so this does, too. */
static const struct {
    bool (*take)(struct framing *framing, const char *line, size_t length);
    size_t maximum;
    bool (*may_begin)(const char *line, size_t length);
} line_states[FRAMING_STATES] = {
    [FRAMING_HEAD] = {take_head_line, HEAD_LINE_MAXIMUM, NULL},
    [FRAMING_CHUNK_SIZE] = {take_chunk_size, CHUNK_LINE_MAXIMUM, may_begin_chunk_size},
    [FRAMING_CHUNK_END] = {take_chunk_end, 0, may_begin_chunk_end},
    [FRAMING_TRAILER] = {take_trailer_line, TRAILER_MAXIMUM, NULL},
};

static bool check_beginning(struct framing *framing, const char *line, size_t length) {
    bool (*may_begin)(const char *, size_t) = line_states[framing->state].may_begin;
    if (!may_begin || may_begin(line, length))
        return true;
    return refuse(framing, 400,
                  framing->state == FRAMING_CHUNK_SIZE ? "the size of a chunk must be a hexadecimal number"
                                                       : "a chunk is longer than its size says");
}

static bool refuse_long_line(struct framing *framing) {
    switch (framing->state) {
    case FRAMING_HEAD:
        head_refuse_length(&framing->head, &framing->refusal);
        return false;
    case FRAMING_TRAILER:
        return refuse(framing, 431, "the headers after the body are too long");
    default:
        return refuse(framing, 400, "the lines between the chunks are too long");
    }
}

/* `line` ends with its line feed. */
static bool take_whole_line(struct framing *framing, const char *line, size_t size) {
    if (size > line_states[framing->state].maximum + 2)
        return refuse_long_line(framing);
    if (size < 2 || line[size - 2] != '\r')
        return refuse(framing, 400, "a line ends without a carriage return");
    if (!check_beginning(framing, line, size))
        return false;
    return line_states[framing->state].take(framing, line, size - 2);
}

/* Takes a line, or as much of it as has come. Returns false if it is refused. */
static bool take_line(struct framing *framing, const char *bytes, size_t size, size_t *taken) {
    const char *feed = memchr(bytes, '\n', size);
    struct text *line = &framing->line;
    *taken = feed ? (size_t)(feed - bytes) + 1 : size;
    if (feed && line->length == 0)
        return take_whole_line(framing, bytes, *taken);
    if (line->length + *taken > line_states[framing->state].maximum + 2)
        return refuse_long_line(framing);
    text_append(line, bytes, *taken);
    if (line->failed)
        return refuse(framing, 503, "out of memory; try again later");
    if (!feed)
        return check_beginning(framing, line->bytes, line->length);
    bool is_sound = take_whole_line(framing, line->bytes, line->length);
    text_free(line);
    return is_sound;
}

static void take_counted(struct framing *framing, size_t size, size_t *taken) {
    *taken = framing->left < size ? (size_t)framing->left : size;
    framing->left -= *taken;
    if (framing->left > 0)
        return;
    if (framing->state == FRAMING_CHUNK)
        framing->state = FRAMING_CHUNK_END;
    else
        end_request(framing);
}

size_t framing_take(struct framing *framing, const char *bytes, size_t size) {
    size_t at = 0;
    size_t head_at = 0; /* where the current head begins in these bytes */
    while (at < size && framing->state != FRAMING_CLOSED && framing->state != FRAMING_REFUSED) {
        size_t taken = 0;
        bool is_in_head = framing->state == FRAMING_HEAD;
        if (is_in_head && framing->head.size == 0 && framing->line.length == 0)
            head_at = at;
        if (!line_states[framing->state].take) {
            take_counted(framing, size - at, &taken);
        } else if (!take_line(framing, bytes + at, size - at, &taken)) {
            framing->state = FRAMING_REFUSED;
            framing->is_body_refused = !is_in_head;
            return is_in_head ? head_at : at;
        }
        at += taken;
    }
    return at;
}

void framing_free(struct framing *framing) {
    text_free(&framing->line);
}
