/* Adds up what a run takes: see run_cost.h. */
#include "core/experiments/run_cost.h"

/* The most characters that a float32 takes in JSON, with its comma and a share of the brackets: a sign, nine
 * digits, a point, "e-38". Then the copies of a result that exist at a time: the text, which has grown by
 * doubling, and the record that SQLite makes of it. */
enum { BYTES_OF_NUMBER = 18, RESULT_COPIES = 4 };

void run_cost_add_result(struct run_cost *cost, double numbers) {
    cost->work[WORK_NUMBERS] += numbers;
    cost->result_bytes += numbers * BYTES_OF_NUMBER;
    run_cost_add_memory(cost, numbers * BYTES_OF_NUMBER * RESULT_COPIES);
}

void run_cost_add_memory(struct run_cost *cost, double bytes) {
    cost->memory_bytes += bytes;
    cost->work[WORK_BYTES] += bytes;
}
