// Formats numbers for people. null stands for a number that was not finite or is not known yet.

const MINUS = "\u2212";
const MISSING = "\u2013";

const withMinus = (text) => text.replace(/-/g, MINUS);

export function fixed(value, digits) {
    if (value === null || value === undefined) return MISSING;
    const text = value.toFixed(digits);
    return withMinus(Number(text) === 0 ? text.replace("-", "") : text);
}

export function integer(value) {
    if (value === null || value === undefined) return MISSING;
    return withMinus(Math.round(value).toLocaleString("en-US"));
}

const SUPERSCRIPTS = {
    "-": "\u207b",
    0: "\u2070",
    1: "\u00b9",
    2: "\u00b2",
    3: "\u00b3",
    4: "\u2074",
    5: "\u2075",
    6: "\u2076",
    7: "\u2077",
    8: "\u2078",
    9: "\u2079",
};

export function superscript(value) {
    return String(value)
        .split("")
        .map((digit) => SUPERSCRIPTS[digit])
        .join("");
}

export function scientific(value, digits = 2) {
    if (value === null || value === undefined) return MISSING;
    if (value === 0) return "0";
    const [mantissa, exponent] = value.toExponential(digits).split("e");
    return `${withMinus(mantissa)}\u202f\u00d7\u202f10${superscript(Number(exponent))}`;
}

// A number of any size in few characters: plain if that is readable, else scientific.
export function compact(value, digits = 4) {
    if (value === null || value === undefined) return MISSING;
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-3) return scientific(value);
    if (Number.isInteger(value)) return integer(value);
    return withMinus(String(Number(value.toPrecision(digits))));
}

export const percent = (value, digits = 1) =>
    value === null || value === undefined ? MISSING : `${fixed(100 * value, digits)} %`;

export function seconds(value) {
    if (value === null || value === undefined) return MISSING;
    if (value < 0.005) return "under 0.01 s";
    if (value < 10) return `${fixed(value, 2)} s`;
    if (value < 120) return `${fixed(value, 1)} s`;
    return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function bytes(value) {
    if (value === null || value === undefined) return MISSING;
    const units = ["bytes", "kB", "MB", "GB", "TB"];
    let unit = 0;
    let size = value;
    while (size >= 1000 && unit < units.length - 1) {
        size /= 1000;
        unit += 1;
    }
    return `${unit === 0 ? integer(size) : Number(size.toPrecision(3))} ${units[unit]}`;
}

export function time(text) {
    return text
        ? new Date(text).toLocaleString([], {
              month: "short",
              day: "numeric",
              hour: "2-digit",
              minute: "2-digit",
              second: "2-digit",
          })
        : MISSING;
}
