// Who the service takes the reader for. Where a lecturer's token is needed, the masthead says who one is and
// lets the lecturer sign in and out; everywhere else it stays empty. A link that ends in "#token=…" signs in as
// well: a fragment is never sent to a server, and it leaves the address bar before anything else happens.

import { createAlert } from "./alert.js";
import { get, post, remove } from "./api.js";
import { h, quietButton, replaceChildren } from "./dom.js";
import { labelledField } from "./form.js";

const ROLES = { lecturer: "signed in as the lecturer", student: "student", stranger: "not signed in" };

const TOKEN_ADDRESS = "#token=";
// What is assumed until the service says otherwise: it alone decides, the page only spares useless clicks.
const UNKNOWN = { access: "local", role: "lecturer", may_run: true };

// The token of a link, or null. The address becomes `hash` instead.
function takeToken(hash = "") {
    if (!location.hash.startsWith(TOKEN_ADDRESS)) return null;
    const text = location.hash.slice(TOKEN_ADDRESS.length);
    history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

let showRefusal = null;

// A link followed while the page is open. This listener comes before the frame's, which sees the old address.
addEventListener("hashchange", async ({ oldURL }) => {
    const token = takeToken(new URL(oldURL).hash);
    if (token === null) return;
    try {
        await post("/api/session", { token });
        location.reload();
    } catch (error) {
        showRefusal?.(error);
    }
});

// Fills the element, and resolves with the session. Without an answer the chapters themselves say what is
// wrong, so a failure here is none.
export async function openSession(element) {
    const token = takeToken();
    let session;
    let refusal = null;
    try {
        session = await get("/api/session");
        if (token !== null && session.access === "token") session = await post("/api/session", { token });
    } catch (error) {
        if (!session) return UNKNOWN;
        refusal = error;
    }
    if (session.access !== "token") return session;
    const isLecturer = session.role === "lecturer";
    const { dialog, alert } = createDialog();
    const note = !isLecturer && !session.may_run ? " (watching only)" : "";
    replaceChildren(
        element,
        h("span", null, ROLES[session.role] ?? session.role, note),
        isLecturer
            ? quietButton("Sign out", signOut)
            : quietButton("Lecturer\u2026", () => dialog.showModal()),
    );
    document.body.append(dialog);
    showRefusal = (error) => {
        dialog.showModal();
        alert.show(error);
    };
    if (refusal) showRefusal(refusal);
    return session;
}

async function signOut() {
    await remove("/api/session");
    location.reload();
}

function createDialog() {
    const alert = createAlert();
    const token = h("input", {
        type: "password",
        id: "lecturer-token",
        autocomplete: "current-password",
        required: true,
    });
    const dialog = h("dialog", { "aria-labelledby": "sign-in-heading" });
    const signIn = async (event) => {
        event.preventDefault();
        alert.clear();
        try {
            await post("/api/session", { token: token.value });
            location.reload();
        } catch (error) {
            alert.show(error);
        }
    };
    dialog.append(
        h("h2", { id: "sign-in-heading" }, "Sign in as the lecturer"),
        h(
            "form",
            { onsubmit: signIn },
            labelledField("Token", token, "the one that the program was started with"),
            alert.element,
            h(
                "div",
                { class: "actions" },
                h("button", { type: "submit", class: "primary" }, "Sign in"),
                h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
            ),
        ),
    );
    return { dialog, alert };
}
