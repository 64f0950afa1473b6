// Light and dark: as the system has it, or as the reader chose, because a projector wants light whatever the
// laptop has. Canvases cannot use the style sheet's variables: they read them from it, and again after a change.

const KEY = "attnlab-colors";
const SYSTEM = "(prefers-color-scheme: dark)";
// For each choice: when the dark colours hold, and what the browser's own controls look like.
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

// What was chosen last. A browser that keeps nothing for a site refuses to be asked: then nothing is kept.
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
        // The choice holds until the page is left.
    }
}

// Makes the button go through the choices, and takes up the last one.
export function openTheme(button) {
    const names = Object.keys(CHOICES);
    let current = recall();
    if (!names.includes(current)) current = names[0];
    const show = () => {
        button.textContent = `\u25d0 ${current}`;
        button.setAttribute("aria-label", `colours: ${current}`);
        button.title = "Colours: as the system has them, light, or dark";
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

// The colours of series, by order; each works on the light and the dark ground.
export const seriesColor = (index) => themeColor(`series-${index % 8}`);

export const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2, 4, 2], [12, 4]];
