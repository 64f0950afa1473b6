// The viridis colour map: ten of its colours, equally spaced, with linear interpolation between them. Its lightness grows
// evenly, so it is also readable in grey and with any kind of colour blindness.

const STOPS = [
    [68, 1, 84],
    [72, 40, 120],
    [62, 73, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];

// The colour [red, green, blue] of a value in 0..1; values outside take the nearest end.
export function viridis(value) {
    const position = Math.min(1, Math.max(0, value)) * (STOPS.length - 1);
    const below = Math.min(STOPS.length - 2, Math.floor(position));
    const share = position - below;
    return STOPS[below].map((part, index) => Math.round(part + share * (STOPS[below + 1][index] - part)));
}

export const cssColor = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

// Black or white, whichever is easier to read on the colour (relative luminance of WCAG 2).
export function inkOn(color) {
    const [red, green, blue] = color.map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000" : "#fff";
}
