// Lint rules for the page's modules and the tests: eslint's recommended rules and a few more.
import js from "@eslint/js";
import globals from "globals";

const rules = {
    "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" }],
    "no-implicit-globals": "error",
    "no-eval": "error",
    "no-implied-eval": "error",
    eqeqeq: "error",
    "prefer-const": "error",
    "no-var": "error",
};

export default [
    { ignores: ["**/node_modules/", "build*/"] },
    js.configs.recommended,
    {
        files: ["web/**/*.js"],
        languageOptions: { sourceType: "module", globals: { ...globals.browser, Chart: "readonly" } },
        rules,
    },
    {
        files: ["tests/**/*.{js,mjs}"],
        languageOptions: { sourceType: "module", globals: { ...globals.node, ...globals.browser } },
        rules,
    },
];
