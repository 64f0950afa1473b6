// Formulas as MathML. The markup is a constant in the chapter that shows it, never anything a person typed. It is parsed
// as XML, so a mistake in it throws an exception instead of showing half a formula.

const MATHML = "http://www.w3.org/1998/Math/MathML";

function parse(markup, display) {
    const text = `<math xmlns="${MATHML}" display="${display}"><mrow>${markup}</mrow></math>`;
    const parsed = new DOMParser().parseFromString(text, "application/xml");
    if (parsed.querySelector("parsererror")) throw new Error(`bad formula: ${markup}`);
    return document.importNode(parsed.documentElement, true);
}

export const formula = (markup) => parse(markup, "inline");
export const displayedFormula = (markup) => parse(markup, "block");
