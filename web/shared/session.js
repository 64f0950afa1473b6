// The reader's session. If the service needs a lecturer's token, the masthead shows the reader's role and lets the
// lecturer sign in and out; otherwise it stays empty. A link that ends in "#token=…" also signs in: a fragment is never
// sent to a server, and the page removes it from the address bar before doing anything else.

import { createAlert } from "./alert.js";
import { get, post, remove } from "./api.js";
import { h, quietButton, replaceChildren } from "./dom.js";
import { labelledField } from "./form.js";

const ROLES = { lecturer: "signed in as the lecturer", student: "student", stranger: "not signed in" };

const TOKEN_ADDRESS = "#token=";
// Assumed until the service says otherwise. Only the service decides; the page just avoids useless buttons.
const UNKNOWN = { access: "local", role: "lecturer", may_run: true };

// The token in the address, or null. Replaces the token in the address by `hash`.
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

// For a link followed while the page is open. This listener runs before the frame's, which then sees the old address.
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

// Fills the element and resolves with the session. If the service does not answer, the chapters themselves will say so:
// this function does not report it.
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
