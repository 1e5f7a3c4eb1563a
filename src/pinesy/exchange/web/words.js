/** Rules, propositions and degrees in words. */

import { degreeText } from "./elements.js";

/** Values after which a set of values is cut short. */
const SHOWN_VALUES = 8;

/** Return "{a, b, c}", long sets cut short. */
export function setText(values) {
  const shown = values.slice(0, SHOWN_VALUES);
  const left = values.length - shown.length;
  return `{${shown.join(", ")}${left > 0 ? `, ${left} more` : ""}}`;
}

/** Return an attribute's name; a formula stands for the attribute that it defines. */
export const nameOf = (attribute) => attribute.formula ?? attribute.name;

/** Return "a = v" for a value of an attribute. */
export function valueText(attribute, place) {
  if (attribute.formula !== null) return `${attribute.formula}: ${attribute.values[place]}`;
  return `${attribute.name} = ${attribute.values[place]}`;
}

/** Return the text of a proposition on a set of places. */
export function propositionText(attribute, places) {
  const inside = new Set(places);
  const others = [...attribute.values.keys()].filter((i) => !inside.has(i));
  if (places.length > SHOWN_VALUES && others.length < places.length) {
    return `${nameOf(attribute)} not in ${setText(others.map((i) => attribute.values[i]))}`;
  }
  return `${nameOf(attribute)} in ${setText(places.map((i) => attribute.values[i]))}`;
}

const placesOf = (inside) => [...inside.keys()].filter((i) => inside[i]);

/** Return the text of a proposition of a rule set, as the rules have it. */
export function statedText(set, number) {
  const { input, inside } = set.propositions[number];
  return set.texts[number] ?? propositionText(set.inputs[input], placesOf(inside));
}

/** Return the number of a rule, from its number in its set. */
export const ruleNumber = (_set, rule) => rule;

/** Return a rule in one line. */
export function ruleText(set, rule) {
  const premise = set.premises[rule - 1].map((number) => statedText(set, number));
  const more = premise.splice(SHOWN_VALUES).length;
  if (more) premise.push(`${more} more propositions`);
  const [s, r] = [set.s[rule - 1], set.r[rule - 1]];
  const signs = set.cells.map((cell) => cell[rule - 1]);
  const places = [...set.cellOf.keys()].filter((value) => signs[set.cellOf[value]]);
  const conclusion = set.conclusions[rule - 1] ?? propositionText(set.output, places);
  const text = `${s === 0 && r === 0 ? "iff" : "if"} ${premise.join(" and ")} then ${conclusion}`;
  if ((s === 0 && r === 0) || (s === 1 && r === 0)) return text;
  return `${text} [s=${degreeText(s)}, r=${degreeText(r)}]`;
}

/** Return "possible", "possible at 0.4", "not possible"; the same for "certain". */
export function degreeWords(word, degree) {
  if (degree === 1) return word;
  return degree === 0 ? `not ${word}` : `${word} at ${degreeText(degree)}`;
}
