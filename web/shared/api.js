// Calls to the server. Every failure becomes an ApiError with the server's problem document (RFC 9457), so that a form
// can show each fault at its field and the rest in one place.

export class ApiError extends Error {
    constructor(status, problem, retryAfter = null) {
        super(problem.detail || problem.title || `the server answered ${status}`);
        this.status = status;
        this.title = problem.title ?? "";
        this.errors = problem.errors ?? [];
        this.retryAfter = retryAfter;
    }
}

async function failure(response) {
    const text = await response.text();
    let problem = {};
    try {
        problem = JSON.parse(text);
    } catch {
        problem = { title: response.statusText, detail: text.slice(0, 300) };
    }
    return new ApiError(response.status, problem, response.headers.get("Retry-After"));
}

// The full address of one of the service's paths. A proxy may serve the page below a path of its own, and then the service
// is below it, too.
export const serviceAddress = (path) => new URL(`.${path}`, location.href).href;

export async function request(method, path, { body, type = "application/json", signal } = {}) {
    const headers = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = type;
    let response;
    try {
        response = await fetch(serviceAddress(path), {
            method,
            headers,
            signal,
            body: type === "application/json" && body !== undefined ? JSON.stringify(body) : body,
        });
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new ApiError(0, { title: "no answer", detail: "The server does not answer. Is attnlab still running?" });
    }
    if (!response.ok) throw await failure(response);
    return response.status === 204 ? null : response.json();
}

export const get = (path, signal) => request("GET", path, { signal });
// A POST always carries JSON: apart from data files, the server refuses any other type.
export const post = (path, body = {}, signal) => request("POST", path, { body, signal });
export const remove = (path, signal) => request("DELETE", path, { signal });

// "?a=1&b=x" from the entries that have a value.
export function query(parameters) {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
    }
    const text = search.toString();
    return text ? `?${text}` : "";
}

// The states that a run goes through, as GET /api/experiments lists them: [{ name, ended }]. The frame fills
// them in before it mounts the first chapter.
export const runStates = [];

export const isOver = (state) => runStates.some(({ name, ended }) => ended && name === state);

// A run's error is a text or an object like a problem document; people are shown one sentence.
export const errorText = (run) =>
    typeof run.error === "string" ? run.error : (run.error?.detail ?? run.error?.message ?? "the run failed");
