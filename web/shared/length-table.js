// The price of length: how many scores a sequence has, and how much memory they take.

import { bytes, integer } from "./format.js";
import { createTable } from "./table.js";

const LENGTHS = [512, 1024, 2048, 4096, 8192, 16384, 32768];
const BYTES_PER_SCORE = 4;

export const lengthTable = () =>
    createTable({
        caption: "The price of length: T squared scores of one head for one sequence",
        columns: [
            { label: "sequence length T", numeric: true, cell: (length) => integer(length) },
            { label: "scores T\u00b2", numeric: true, cell: (length) => integer(length ** 2) },
            {
                label: "against T = 512",
                numeric: true,
                cell: (length) => `\u00d7 ${integer((length / LENGTHS[0]) ** 2)}`,
            },
            { label: "as float32", numeric: true, cell: (length) => bytes(BYTES_PER_SCORE * length ** 2) },
        ],
        rows: LENGTHS,
    }).element;
