/**
 * The tree of an explanation, whatever it comes from: values that open to show the rules behind
 * them.
 *
 * A value is { name, said, image, reasons }: `said` follows the name; `reasons()` gives what is
 * behind it, and an input has none. Reasons are { parameters, triplets, left }; a parameter is
 * { rule, text, name, degree }, a triplet { rule, text, word, degree, silent, parts, even, left }:
 * `text` is that of the rule, `word` "possible" or "certain", `parts` and `even` lists of functions
 * that give propositions { text, decides, behind }, `behind` being values; `left` says what was
 * left out.
 */

import { fill, make, shortList } from "./elements.js";
import { degreeWords } from "./words.js";

/** Return a value of the tree: an input is a leaf, another opens to show its rules. */
export function treeNode({ name, said, image, reasons }, open = false) {
  const picture = image ? make("img", { src: image, alt: "" }) : null;
  const line = [picture, make("b", {}, name), said];
  if (!reasons) return make("span", { class: "leaf" }, line);
  const content = make("div", { class: "why" });
  const details = make("details", { open }, make("summary", {}, line), content);
  const write = () => {
    if (details.open && !content.children.length) fill(content, reasonLines(reasons()));
  };
  details.addEventListener("toggle", write);
  write();
  return details;
}

/** Return how degrees of a value are said. */
export function degreesSaid(possibility, certainty) {
  const certain = certainty > 0 ? `, ${degreeWords("certain", certainty)}` : "";
  return degreeWords("possible", possibility) + certain;
}

function reasonLines({ parameters, triplets, left }) {
  if (parameters.length) return shortList(parameters, parameterLine);
  const silent = triplets.filter((triplet) => triplet.silent);
  const spoken = triplets.filter((triplet) => !triplet.silent);
  return [
    spoken.length ? shortList(spoken, tripletLines) : null,
    silentRules(silent, !spoken.length),
    leftLine(left),
  ];
}

function leftLine(left) {
  return left ? make("p", { class: "quiet" }, left) : null;
}

/** Return the rules that would speak against a value, if their premises were certain. */
function silentRules(silent, open) {
  if (!silent.length) return null;
  const number = silent.length === 1 ? "One rule" : `${silent.length} rules`;
  const text = `${number} would speak against it, but the premise is not certain`;
  return make("details", { open }, make("summary", { class: "quiet" }, text), shortList(silent, tripletLines));
}

/** Return the rule of a parameter that alone sets a degree. */
function parameterLine({ rule, text, name, degree }) {
  const what = name === "s" ? "its conclusion" : "what it does not conclude";
  const when = name === "s" ? "fails" : "holds";
  return [
    `Rule ${rule} leaves ${what} ${degreeWords("possible", degree)} even if its premise ${when}: `,
    make("code", {}, text),
  ];
}

/** Return the rule of a triplet, and the propositions that its premise's degree is from. */
function tripletLines({ rule, text, word, degree, parts, even, left }) {
  return [
    `Rule ${rule}, because its premise is ${degreeWords(word, degree)}: `,
    make("code", {}, text),
    shortList(parts, (part) => partLines(part())),
    leftLine(left),
    even.length ? make("p", { class: "quiet" }, "even if:") : null,
    even.length ? shortList(even, (part) => part().text) : null,
  ];
}

/** Return a proposition; of one that decides, the values that its degree is from. */
function partLines({ text, decides, behind }) {
  const line = make("span", decides ? { class: "lit" } : {}, text);
  if (!decides || !behind.length) return line;
  return [line, shortList(behind, (node) => treeNode(node))];
}
