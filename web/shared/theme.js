// Colours for canvases, which cannot use the style sheet's variables: read from it, and read again when the
// reader changes between light and dark.

export function themeColor(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function onThemeChange(redraw, signal) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw, { signal });
}

// The colours of series, by order; each works on the light and the dark ground.
export const seriesColor = (index) => themeColor(`series-${index % 8}`);

export const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2, 4, 2], [12, 4]];
