/**
 * Values, propositions and numbers in words, as `pinesy.explanations.labels` has them.
 */

/** Values that a sentence names; more are counted. */
const MAX_NAMED = 4;
/** Larger integers are written with an exponent. */
const MAX_INTEGER = 1e15;

/** Return "a, b and c", all of them. */
export function listText(texts, last = "and") {
  return [texts.slice(0, -1).join(", "), ...texts.slice(-1)].filter(Boolean).join(` ${last} `);
}

const floats = new Float64Array(1);
const bits = new BigInt64Array(floats.buffer);

/** Return the next float above (or below) a finite one. */
export function nextFloat(number, up) {
  if (!Number.isFinite(number)) return number;
  if (number === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  floats[0] = number;
  bits[0] += number > 0 === up ? 1n : -1n;
  return floats[0];
}

/** Return a number as text, with all its digits. */
export function exactText(number) {
  if (Number.isInteger(number) && Math.abs(number) < MAX_INTEGER) return String(number === 0 ? 0 : number);
  return String(number).replace(/e([+-])(\d)$/, "e$10$2");
}

/** Return whether a cut is written as the float before it, and that number. */
function cutBound(cut) {
  const before = nextFloat(cut, false);
  const isBelow = String(before).length < String(cut).length;
  return [isBelow, isBelow ? before : cut];
}

/** Return the number that a cut is written with. */
export const boundNumber = (cut) => (Number.isFinite(cut) ? cutBound(cut)[1] : cut);

/** Return the range [low, high) of numbers in words: "at least 30 but below 65". */
export function boundsText(low, high) {
  const bounds = [];
  if (Number.isFinite(low)) bounds.push([cutBound(low)[0] ? "above" : "at least", boundNumber(low)]);
  if (Number.isFinite(high)) bounds.push([cutBound(high)[0] ? "at most" : "below", boundNumber(high)]);
  if (bounds.length === 2 && bounds[0][1] === bounds[1][1]) return exactText(bounds[0][1]);
  return bounds.map(([label, number]) => `${label} ${exactText(number)}`).join(" but ");
}

/** Return the number of a text with some digits, as Python's "%.6g". */
export function digitsText(number, digits) {
  const least = 10 ** -digits;
  if (number > 0 && number < least) return `less than ${exactText(least)}`;
  if (number > 1 - least && number < 1) return `more than ${exactText(Number((1 - least).toPrecision(6)))}`;
  const [mantissa, exponent] = number.toExponential(digits - 1).split("e");
  if (Number(exponent) >= -4 && Number(exponent) < digits) return String(Number(number.toPrecision(digits)));
  const [sign, size] = [exponent[0], exponent.slice(1).padStart(2, "0")];
  return `${Number(mantissa)}e${sign}${size}`;
}

/** Words before which no article stands. */
const DETERMINERS = new Set(
  "the a an my your his her its our their this that each every no whether".split(" "),
);
/** Values of attributes that are questions or adjectives, such as "valid" or "is open". */
const TRUTHS = new Set(["true", "false", "yes", "no", "0", "1"]);

/** Return what an attribute is called. */
const titleOf = ({ title }) => title;

/** Return what an attribute is called in a sentence: "the debt ratio", but "a_1" and "valid". */
export function spokenName({ title, values }) {
  if ([...title].length === 1 || !/^\p{L}/u.test(title) || /[0-9]$/.test(title)) return title;
  if (DETERMINERS.has(title.split(" ")[0].toLowerCase())) return title;
  return values.length === 2 && values.every((value) => TRUTHS.has(value)) ? title : `the ${title}`;
}

/** Return a text with a capital, unless it begins with a name that is no word. */
export function asSentence(text) {
  const word = text.split(" ")[0].replace(/[,.;:]+$/, "").replaceAll("-", "");
  if ([...word].length < 2 || !/^\p{L}+$/u.test(word)) return text;
  const [first] = text;
  return first.toUpperCase() + text.slice(first.length);
}

const withUnit = ({ unit }, text) => (unit ? `${text} ${unit}` : text);

/** Return a number of an input in words. */
export const plainNumber = (attribute, number) => withUnit(attribute, exactText(number));

/** Return a value in words. */
export function valueName(attribute, place) {
  const { scale, values, integers } = attribute;
  const isNumber = integers || (scale && !scale.named && scale.cuts.length > 0);
  return isNumber ? withUnit(attribute, values[place]) : values[place];
}

/** Return the maximal ranges of a set of intervals. */
function rangesOf({ cuts }, places) {
  const inside = new Set(places);
  const edges = [-Infinity, ...cuts, Infinity];
  const ranges = [];
  for (let i = 0; i <= cuts.length; i++) {
    if (!inside.has(i)) continue;
    if (inside.has(i - 1)) ranges.at(-1)[1] = edges[i + 1];
    else ranges.push([edges[i], edges[i + 1]]);
  }
  return ranges;
}

/** Return values as runs: of successive integers, three or more, else single ones. */
function runsOf({ values, integers }, places) {
  if (places.length <= 2 || !integers) return places.map((place) => [place]);
  const runs = [];
  for (const place of places) {
    const last = runs.at(-1)?.at(-1);
    if (last !== undefined && Number(values[place]) === Number(values[last]) + 1) runs.at(-1).push(place);
    else runs.push([place]);
  }
  return runs.flatMap((run) => (run.length > 2 ? [run] : run.map((place) => [place])));
}

/** Return a list of values, and how many it omits. */
function valueWords(attribute, places, limit, oneOf = "", last = "or") {
  const runs = runsOf(attribute, places);
  const shown = limit === null || runs.length <= limit + 1 ? runs : runs.slice(0, limit);
  const texts = shown.map((run) =>
    [...new Set([run[0], run.at(-1)])].map((place) => valueName(attribute, place)).join(" to "),
  );
  const omitted = runs.slice(shown.length).reduce((sum, run) => sum + run.length, 0);
  if (omitted) texts.push(`${oneOf}${omitted} more values`);
  return [listText(texts, last), omitted];
}

function predicate(attribute, places, limit) {
  const { values, scale } = attribute;
  if (!places.length) return "has none of its values";
  if (scale && !scale.named) {
    const text = rangesOf(scale, places).map(([low, high]) => boundsText(low, high)).join(" or ");
    if (text) return `is ${withUnit(attribute, text)}`;
  }
  const members = new Set(places);
  const others = places.length > 2 ? [...values.keys()].filter((place) => !members.has(place)) : [];
  if (others.length === 1) return `is not ${valueName(attribute, others[0])}`;
  if (places.length > 1 && !others.length && places.length === values.length) return "has any of its values";
  const [text, omitted] = valueWords(attribute, places, limit, "one of ");
  if (omitted && others.length > 0 && others.length < places.length) {
    if (others.length === 2) return `is neither ${others.map((place) => valueName(attribute, place)).join(" nor ")}`;
    return `is none of ${valueWords(attribute, others, limit)[0]}`;
  }
  return `is ${text}`;
}

/** Return the places of the factors of a value of a product. */
function factorPlaces(factors, place) {
  let left = place;
  return [...factors].reverse().map(({ values }) => {
    const own = left % values.length;
    left = Math.floor(left / values.length);
    return own;
  }).reverse();
}

/**
 * Return the sentence that an attribute has one of some values; a `compact` one has no "and".
 * `nameOf` returns what an attribute is called.
 */
export function valuesSentence(attribute, places, limit = MAX_NAMED, compact = false, nameOf = titleOf) {
  const { factors } = attribute;
  if (places.length !== 1 || !factors.length) return `${nameOf(attribute)} ${predicate(attribute, places, limit)}`;
  const names = factorPlaces(factors, places[0]).map((place, i) => valueName(factors[i], place));
  if (compact) return `(${factors.map((factor) => factor.title).join(", ")}) is (${names.join(", ")})`;
  return listText(factors.map((factor, i) => `${nameOf(factor)} is ${names[i]}`));
}

/** Return the same with articles, as part of a sentence. */
export const spokenValues = (attribute, places, limit = MAX_NAMED, compact = false) =>
  valuesSentence(attribute, places, limit, compact, spokenName);

const insidePlaces = (inside, isIn = 1) => [...inside.keys()].filter((i) => inside[i] === isIn);

/** Return the places of the conclusion of a rule, or of its negation. */
export function conclusionPlaces(set, rule, holds) {
  return [...set.cellOf.keys()].filter((place) => Boolean(set.cells[set.cellOf[place]][rule]) === holds);
}

/** Return a proposition of a rule set as a sentence. */
export function propositionSentence(set, number, compact = false, nameOf = titleOf) {
  const { input, inside } = set.propositions[number];
  const places = insidePlaces(inside);
  const condition = set.conditions[number];
  if (condition && places.length > 1) return condition;
  return valuesSentence(set.inputs[input], places, MAX_NAMED, compact, nameOf);
}
