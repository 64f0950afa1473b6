// Keeps the state of the page in its address: "#chapter?name=value&…". A link or a reload restores the chapter, its
// parameters and the run on view. Only values that differ from the defaults are written.

export function readAddress() {
    const [chapter, search = ""] = location.hash.replace(/^#/, "").split("?");
    return { chapter, parameters: new URLSearchParams(search) };
}

// The address of a chapter with these parameters; null, undefined and "" are left out.
export function chapterAddress(chapter, parameters) {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        if (value !== null && value !== undefined && value !== "") search.set(name, encode(value));
    }
    const text = search.toString();
    return `#${chapter}${text ? `?${text}` : ""}`;
}

export function writeAddress(chapter, parameters) {
    history.replaceState(null, "", chapterAddress(chapter, parameters));
}

function encode(value) {
    if (Array.isArray(value)) return Array.isArray(value[0]) ? JSON.stringify(value) : value.join(",");
    return String(value);
}
