/** The tree of an explanation: a value, the rules that set its degree, and what these rest on. */

import { degreeText, fill, make, shortList } from "./elements.js";
import { necessitiesOf } from "./engine.js";
import { justification } from "./why.js";
import { degreeWords, propositionText, ruleText, statedText, valueText } from "./words.js";

/** Return a value with its degrees. */
function valueLine(state, attribute, place) {
  const degrees = state.degrees[attribute.number];
  const certain = Math.max(necessitiesOf(degrees)[place], 0);
  return [
    make("b", {}, valueText(attribute, place)),
    ` is ${degreeWords("possible", degrees[place])}`,
    certain > 0 ? `, ${degreeWords("certain", certain)}` : "",
  ];
}

/** Return a value of the tree: an input is a leaf, another opens to show its rules. */
function node(state, attribute, place, open = false) {
  const line = valueLine(state, attribute, place);
  if (attribute.set === null) return make("span", { class: "leaf" }, line);
  const content = make("div", { class: "why" });
  const details = make("details", { open }, make("summary", {}, line), content);
  const write = () => {
    if (details.open && !content.children.length) fill(content, reasons(state, attribute, place));
  };
  details.addEventListener("toggle", write);
  write();
  return details;
}

function reasons(state, attribute, place) {
  const { triplets, parameters } = justification(state, attribute, place);
  if (parameters.length) return shortList(parameters, (one) => parameterLine(attribute.set, one));
  const lines = (triplet) => tripletLines(state, attribute.set, triplet);
  const silent = triplets.filter(({ by, holds }) => by === "C" && !holds);
  const spoken = triplets.filter((triplet) => !silent.includes(triplet));
  return [spoken.length ? shortList(spoken, lines) : null, silentRules(silent, lines, !spoken.length)];
}

/** Return the rules that would speak against a value, if their premises were certain. */
function silentRules(silent, lines, open) {
  if (!silent.length) return null;
  const number = silent.length === 1 ? "One rule" : `${silent.length} rules`;
  const told = `${number} would speak against it, but the premise is not certain`;
  return make("details", { open }, make("summary", { class: "quiet" }, told), shortList(silent, lines));
}

/** Return the rule of a parameter that alone sets a degree. */
function parameterLine(set, { rule, by, degree }) {
  const what = by === "s" ? "its conclusion" : "what it does not conclude";
  const when = by === "s" ? "fails" : "holds";
  return [
    `Rule ${rule} leaves ${what} ${degreeWords("possible", degree)} even if its premise ${when}: `,
    make("code", {}, ruleText(set, rule)),
  ];
}

/** Return the rule of a triplet, and the propositions that its premise's degree is from. */
function tripletLines(state, set, { rule, by, degree, reduced, unexpected, part }) {
  const said =
    by === "P"
      ? `its premise is ${degreeWords("possible", degree)}`
      : `its premise is ${degreeWords("certain", 1 - degree)}`;
  const word = by === "P" ? "possible" : "certain";
  return [
    `Rule ${rule}, because ${said}: `,
    make("code", {}, ruleText(set, rule)),
    shortList(reduced, (place) => partLines(state, set, part(place), word)),
    unexpected.length ? make("p", { class: "quiet" }, "even if:") : null,
    unexpected.length ? shortList(unexpected, (place) => partText(set, part(place), word)) : null,
  ];
}

function partText(set, { attribute, reduced, degree, proposition }, word) {
  const { inside } = set.propositions[proposition];
  const same = reduced.length === inside.reduce((n, one) => n + one, 0);
  const text = same ? statedText(set, proposition) : propositionText(attribute, reduced);
  return `${text} is ${degreeWords(word, degree)}`;
}

/** Return a proposition; of one that decides, the values that its degree is from. */
function partLines(state, set, part, word) {
  const text = make("span", part.decides ? { class: "lit" } : {}, partText(set, part, word));
  if (!part.decides || !part.values.length) return text;
  return [text, shortList(part.values, (place) => node(state, part.attribute, place))];
}

/** Return the explanation of a value, open at its first level. */
export function explanationTree(state, attribute, place) {
  return make("div", { class: "tree" }, node(state, attribute, place, true));
}

/** Return a line that says what holds a value down. */
export function restraintLine({ attribute, place, degree, rule, by }) {
  const { set } = attribute;
  const inside = set.cells[set.cellOf[place]][rule - 1];
  const premise = inside ? "its premise is possible" : "the negation of its premise is possible";
  const at = degreeText(degree);
  return [
    `${valueText(attribute, place)} is held at ${at} by rule ${rule}: `,
    by === "premise" ? `${premise} at ${at} at most; ` : `its parameter ${by} is ${at}; `,
    make("code", {}, ruleText(set, rule)),
  ];
}
