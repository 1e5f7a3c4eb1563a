/** What the tree of an explanation shows, from what was inferred here. */

import { degreeText, make } from "./elements.js";
import { necessitiesOf } from "./engine.js";
import { degreesSaid, treeNode } from "./outline.js";
import { justification } from "./why.js";
import { degreeWords, propositionText, ruleNumber, ruleText, statedText, valueText } from "./words.js";

/**
 * Return a value as the tree takes it; `state.images` may hold those of inputs.
 *
 * Nothing of it is worked out before it is shown: a proposition may rest on thousands of values.
 */
function valueNode(state, attribute, place) {
  const degrees = state.degrees[attribute.number];
  return {
    get name() {
      return valueText(attribute, place);
    },
    get said() {
      const certain = Math.max(necessitiesOf(degrees)[place], 0);
      return ` is ${degreesSaid(degrees[place], certain)}`;
    },
    image: state.images?.get(attribute) ?? null,
    reasons: attribute.set === null ? null : () => reasonRecords(state, attribute, place),
  };
}

function reasonRecords(state, attribute, place) {
  const { triplets, parameters } = justification(state, attribute, place);
  const { set } = attribute;
  return {
    parameters: parameters.map(({ rule, by, degree }) => ({ rule: ruleNumber(set, rule), degree, name: by, text: ruleText(set, rule) })),
    triplets: triplets.map((triplet) => tripletRecord(state, set, triplet)),
  };
}

function tripletRecord(state, set, { rule, by, degree, holds, reduced, unexpected, part }) {
  const word = by === "P" ? "possible" : "certain";
  const later = (place) => () => partRecord(state, set, part(place), word);
  return {
    rule: ruleNumber(set, rule),
    text: ruleText(set, rule),
    word,
    degree: by === "P" ? degree : 1 - degree,
    silent: by === "C" && !holds,
    parts: reduced.map(later),
    even: unexpected.map(later),
  };
}

function partRecord(state, set, { attribute, reduced, degree, proposition, decides, values }, word) {
  const { inside } = set.propositions[proposition];
  const same = reduced.length === inside.reduce((n, one) => n + one, 0);
  const text = same ? statedText(set, proposition) : propositionText(attribute, reduced);
  return {
    text: `${text} is ${degreeWords(word, degree)}`,
    decides,
    behind: decides ? values.map((place) => valueNode(state, attribute, place)) : [],
  };
}

/** Return the explanation of a value, open at its first level. */
export function explanationTree(state, attribute, place) {
  return make("div", { class: "tree" }, treeNode(valueNode(state, attribute, place), true));
}

/** Return a line with a rule that limits a value. */
export function restraintLine({ attribute, place, degree, rule, by }) {
  const { set } = attribute;
  const inside = set.cells[set.cellOf[place]][rule - 1];
  const premise = inside ? "its premise is possible" : "the negation of its premise is possible";
  const at = degreeText(degree);
  return [
    `${valueText(attribute, place)} is possible at ${at} at most, because of rule ${ruleNumber(set, rule)}: `,
    by === "premise" ? `${premise} at ${at} at most; ` : `its parameter ${by} is ${at}; `,
    make("code", {}, ruleText(set, rule)),
  ];
}
