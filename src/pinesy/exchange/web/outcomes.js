/**
 * Outcomes of results, as codes and in words: the same as `pinesy.rules.outcomes` has.
 *
 * The studio gets both from Python; the page in one file has nobody else to ask.
 */

import { listed } from "./elements.js";
import { heightOf, necessitiesOf, setsBehind, winnersOf } from "./engine.js";
import { nameOf, ruleNumber } from "./words.js";

/** Cells times rules squared up to which pairs of rules that clash are looked for. */
const PAIRS_LIMIT = 50_000_000;

/** Return whether a result decides, or why not; `height` is below 1 where rules contradict. */
export function outcomeOf(degrees, height) {
  if (height < 1) return "contradiction";
  const { length } = winnersOf(degrees);
  if (length === 1) return "decided";
  return length === degrees.length ? "no_rule" : "several";
}

/** Return a degree with three digits; what is not 0 or 1 is not written as if it were. */
function threeDigits(degree) {
  if (degree > 0 && degree < 0.001) return "less than 0.001";
  if (degree > 1 - 0.001 && degree < 1) return "more than 0.999";
  // A number in the middle of two is rounded to the even one, as Python does.
  const [, even] = /^(0\.0*[1-9]\d[02468])50*$/.exec(degree.toPrecision(100)) ?? [];
  return String(Number(even ?? degree.toPrecision(3)));
}

/** Return the outcome of an attribute in words. */
export function verdictText(state, attribute) {
  const degrees = state.degrees[attribute.number];
  const winners = winnersOf(degrees);
  switch (outcomeOf(degrees, state.heights[attribute.number])) {
    case "decided": {
      const certainty = necessitiesOf(degrees)[winners[0]];
      const at = certainty === 1 ? "" : ` at ${threeDigits(certainty)}`;
      return `${attribute.values[winners[0]]}, certain${at}`;
    }
    case "several":
      return `undecided: ${listed(winners.map((i) => attribute.values[i]), "or")} remain`;
    case "no_rule":
      return "undecided: no rule decides";
    default:
      return `contradiction: ${clashText(state, attribute)}`;
  }
}

/** Return the first rules behind an attribute that contradict each other, and their set. */
export function clashOf(state, attribute) {
  const clear = (a) => heightOf(state.degrees[a.number]) === 1;
  const begins = ({ output, inputs }) => !clear(output) && inputs.every(clear);
  const set = setsBehind(state.rules, [attribute]).find(begins);
  return { set, rules: clashingRules(lowCells(state, set)) };
}

function clashText(state, attribute) {
  const { set, rules } = clashOf(state, attribute);
  const numbers = rules.map((i) => String(ruleNumber(set, i + 1)));
  const text = `${numbers.length > 1 ? "rules" : "rule"} ${listed(numbers, "and", Infinity)}`;
  return set.output === attribute ? text : `${text} on ${nameOf(set.output)}`;
}

/** Return for each different cell which rules keep it below 1. */
function lowCells(state, set) {
  const [lambdas, rhos] = state.premises[set.output.number];
  const rows = set.cells.map((signs) =>
    Array.from(signs, (inside, i) =>
      (inside ? Math.max(set.s[i], lambdas[i]) : Math.max(set.r[i], rhos[i])) < 1),
  );
  return [...new Map(rows.map((row) => [row.map(Number).join(""), row])).values()];
}

/** Return the first rule, else the first pair, else a group of rules that leaves no cell at 1. */
function clashingRules(low) {
  const rules = [...low[0].keys()];
  const cover = (...group) => low.every((row) => group.some((i) => row[i]));
  const single = rules.find((i) => cover(i));
  if (single !== undefined) return [single];
  if (low.length * rules.length ** 2 <= PAIRS_LIMIT) {
    for (const i of rules) {
      const j = rules.find((other) => other > i && cover(i, other));
      if (j !== undefined) return [i, j];
    }
  }
  return smallCover(low, rules);
}

/** Return rules that together keep every cell low, none of them without need. */
function smallCover(low, rules) {
  let chosen = [];
  let open = low;
  while (open.length) {
    const counts = rules.map((i) => open.filter((row) => row[i]).length);
    const best = counts.indexOf(Math.max(...counts));
    chosen.push(best);
    open = open.filter((row) => !row[best]);
  }
  for (const rule of [...chosen]) {
    const others = chosen.filter((other) => other !== rule);
    if (low.every((row) => others.some((i) => row[i]))) chosen = others;
  }
  return chosen.sort((i, j) => i - j);
}
