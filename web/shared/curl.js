// The curl line that does the same as the button beside it, ready to copy.

import { serviceAddress } from "./api.js";
import { h, quietButton } from "./dom.js";

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// Returns { element, set(method, path, body), setFile(path, type, file) }; setFile is for uploading a file.
export function createCurlLine() {
    const code = h("code");
    const status = h("span", { role: "status", class: "copied" });
    const copy = quietButton("Copy", async () => {
        try {
            await navigator.clipboard.writeText(code.textContent);
            status.textContent = "copied";
        } catch {
            // Only a secure origin has a clipboard; elsewhere select the line for Ctrl+C.
            getSelection().selectAllChildren(code);
            status.textContent = "selected: press Ctrl+C";
        }
        setTimeout(() => {
            status.textContent = "";
        }, 2500);
    });
    const element = h(
        "div",
        { class: "curl" },
        h("p", { class: "curl-title" }, "The same with curl ", copy, " ", status),
        h("pre", { tabindex: "0", role: "group", "aria-label": "The curl line that does the same" }, code),
    );
    return {
        element,
        setFile(path, type, file) {
            code.textContent = `curl -s ${quoted(serviceAddress(path))} -H ${quoted(`Content-Type: ${type}`)} --data-binary @${file}`;
        },
        set(method, path, body) {
            const parts = ["curl -s"];
            if (method !== "GET") parts.push(`-X ${method}`);
            parts.push(quoted(serviceAddress(path)));
            if (body !== undefined)
                parts.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`);
            code.textContent = parts.join(" ");
        },
    };
}
