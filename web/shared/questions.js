// The questions at the end of a chapter: "What happens if ...?" Each is a link that sets the chapter's parameters, and a
// claim that is checked once a run with those parameters is on view. The verdicts last until the page is loaded anew, so
// that a class can go from one question to the next and keep the answers.

import { verdictParts } from "./expectation.js";
import { h, replaceChildren } from "./dom.js";
import { hasParameters } from "./known-runs.js";
import { chapterAddress } from "./state.js";

// The last verdict on each question, and the question whose link was followed last, by the address of the link.
const verdicts = new Map();
let asked = null;

// questions: [{ question, settings, claim, check, matches }]. `question` and `claim` are texts or nodes; `settings` are the
// parameters that the link sets, as JSON; check(result, run) -> { shown: true | false | null, measured, why } as in
// createExpectations; matches(result, run) says whether what is on view answers the question, for chapters that show more
// than one run (by default the run has these settings and the defaults of `experiment` for all else).
//
// Returns { element, answer, update(result, run) }: `element` is the list, for the chapter's end; `answer` repeats the
// question that the reader came from, with its verdict, for the place above the result. Call update whenever a result is
// shown.
export function createQuestions(page, { chapter, experiment, questions }) {
    const rows = questions.map((one) => {
        const address = chapterAddress(chapter, one.settings);
        const row = { ...one, address, ...verdictParts() };
        row.element = h(
            "li",
            null,
            row.verdict,
            h(
                "div",
                null,
                h("a", { href: address, onclick: () => (asked = address) }, one.question),
                h("p", null, one.claim, " ", row.text),
            ),
        );
        row.show(verdicts.get(address) ?? { shown: null });
        return row;
    });
    const element = h(
        "section",
        { class: "expectations questions" },
        h("h2", null, "What happens if \u2026"),
        h("p", { class: "hint" }, "A question sets the parameters above; once that has run, the claim is checked."),
        h(
            "ul",
            null,
            rows.map((row) => row.element),
        ),
    );
    const answered = verdictParts();
    const answer = h("p", { class: "question-answer", role: "status", hidden: true });

    function showAnswer(row) {
        answer.hidden = !row;
        if (!row) return;
        answered.show(verdicts.get(row.address) ?? { shown: null });
        replaceChildren(
            answer,
            h("strong", null, "What happens if ", text(row.question)),
            " ",
            answered.verdict,
            " ",
            text(row.claim),
            " ",
            answered.text,
        );
    }
    showAnswer(rows.find((row) => row.address === asked));

    return {
        element,
        answer,
        update(result, run) {
            const fits = (row) =>
                row.matches
                    ? row.matches(result, run)
                    : hasParameters(run.parameters, page.experiment(experiment).schema, row.settings);
            for (const row of rows.filter(fits)) {
                const verdict = row.check(result, run) ?? { shown: null };
                verdicts.set(row.address, verdict);
                row.show(verdict);
            }
            showAnswer(rows.find((row) => row.address === asked && fits(row)));
        },
    };
}

// A node can stand in one place only, and these stand in two.
const text = (content) => (content instanceof Node ? content.cloneNode(true) : content);
