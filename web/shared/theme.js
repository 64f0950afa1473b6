// Light and dark: as the system is set, or as the reader chooses, because a projector needs light whatever the laptop's
// setting. Canvases cannot use the style sheet's variables directly: they read their values, and again after a change.

const KEY = "attnlab-colors";
const SYSTEM = "(prefers-color-scheme: dark)";
// For each choice: when the dark colours apply, and the color-scheme of the browser's own controls.
const CHOICES = {
    auto: { media: SYSTEM, scheme: "" },
    light: { media: "not all", scheme: "light" },
    dark: { media: "all", scheme: "dark" },
};
const CHANGE = "themechange";

function choose(name) {
    document.getElementById("dark-colors").media = CHOICES[name].media;
    document.documentElement.style.colorScheme = CHOICES[name].scheme;
    dispatchEvent(new Event(CHANGE));
}

// The last choice. A browser that denies the site storage throws an exception: then nothing is stored.
function recall() {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null;
    }
}

function keep(name) {
    try {
        localStorage.setItem(KEY, name);
    } catch {
        // The choice lasts until the reader leaves the page.
    }
}

// Makes the button cycle through the choices, and applies the stored one.
export function openTheme(button) {
    const names = Object.keys(CHOICES);
    let current = recall();
    if (!names.includes(current)) current = names[0];
    const show = () => {
        button.textContent = `\u25d0 ${current}`;
        button.setAttribute("aria-label", `colours: ${current}`);
        button.title = "Colours: as the system is set, light, or dark";
        choose(current);
    };
    button.addEventListener("click", () => {
        current = names[(names.indexOf(current) + 1) % names.length];
        keep(current);
        show();
    });
    show();
}

export function themeColor(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function onThemeChange(redraw, signal) {
    matchMedia(SYSTEM).addEventListener("change", redraw, { signal });
    addEventListener(CHANGE, redraw, { signal });
}

// The colours of series, by index; each is readable on the light and the dark background.
export const seriesColor = (index) => themeColor(`series-${index % 8}`);

export const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2, 4, 2], [12, 4]];
