// Who the service takes the reader for. Where a lecturer's token is needed, the masthead says who one is and
// lets the lecturer sign in and out; everywhere else it stays empty.

import { createAlert } from "./alert.js";
import { get, post, remove } from "./api.js";
import { h, replaceChildren } from "./dom.js";

const ROLES = { lecturer: "signed in as the lecturer", student: "student", stranger: "not signed in" };

// Fills the element, and resolves when the session is known. Without an answer the chapters themselves say
// what is wrong, so a failure here is none.
export async function openSession(element) {
    let session;
    try {
        session = await get("/api/session");
    } catch {
        return;
    }
    if (session.access !== "token") return;
    const isLecturer = session.role === "lecturer";
    const dialog = createDialog();
    const note = !isLecturer && !session.may_run ? " (watching only)" : "";
    replaceChildren(
        element,
        h("span", null, ROLES[session.role] ?? session.role, note),
        isLecturer
            ? h("button", { type: "button", class: "quiet", onclick: signOut }, "Sign out")
            : h("button", { type: "button", class: "quiet", onclick: () => dialog.showModal() }, "Lecturer\u2026"),
    );
    document.body.append(dialog);
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
            h(
                "div",
                { class: "field" },
                h("label", { class: "field-label", for: "lecturer-token" }, "Token"),
                token,
                h("span", { class: "field-help" }, "the one that the program was started with"),
            ),
            alert.element,
            h(
                "div",
                { class: "actions" },
                h("button", { type: "submit", class: "primary" }, "Sign in"),
                h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
            ),
        ),
    );
    return dialog;
}
