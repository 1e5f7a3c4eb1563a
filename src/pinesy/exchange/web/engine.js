/**
 * Rules as data, and inference by the steps that Python's engine compiled of them.
 *
 * Everything here is a min or a max of float64 numbers, which copies one of them: the degrees are,
 * bit for bit, those of Python's engine. The data are what `page_data.py` makes of rules.
 */

import { membershipsOf, readProgram, runProgram } from "./steps.js";

/**
 * Return a shape as arrays.
 *
 * `cells` are the distinct rows of signs (is the value in the conclusion of rule i?), one after the
 * other; `cellOf` has the cell of each value.
 */
function readShape({ conclusions, propositions, premises, sizes }) {
  const size = sizes.at(-1);
  const masks = conclusions.map((digits) => membershipsOf(digits, size));
  const rows = new Map();
  const cellOf = new Uint32Array(size);
  const cells = [];
  for (let value = 0; value < size; value++) {
    const signs = masks.map((inside) => inside[value]);
    const key = signs.join("");
    if (!rows.has(key)) {
      rows.set(key, rows.size);
      cells.push(Uint8Array.from(signs));
    }
    cellOf[value] = rows.get(key);
  }
  return {
    propositions: propositions.map(([input, digits]) => ({
      input,
      inside: membershipsOf(digits, sizes[input]),
    })),
    premises,
    cells,
    cellOf,
  };
}

const spread = (numbers, n) =>
  Float64Array.from(typeof numbers === "number" ? new Array(n).fill(numbers) : numbers);

/** Return the text of a proposition; one that begins with a space continues the name of its attribute. */
const specialText = (text, { name }) => (text?.startsWith(" ") ? name + text : text);

/** Return the rules of the data: `attributes`, `sets` (in an order of inference) and `outputs`. */
export function readRules(data) {
  const read = (a) => ({
    name: a.name,
    title: a.title ?? a.name,
    unit: a.unit ?? "",
    formula: a.formula ?? null,
    factors: (a.factors ?? []).map(read),
    integers: a.integers ?? false,
    scale: a.scale ?? null,
    values: data.domains[a.domain],
    set: null,
  });
  const names = new Set(data.attributes.map((a) => a.name));
  const isPart = (name) => [...name].some((character, i) => character === "." && names.has([...name].slice(0, i).join("")));
  const attributes = data.attributes.map((a, number) => {
    const attribute = { number, ...read(a) };
    // Formulas, products and parts of functions are not named to readers.
    attribute.isInner = attribute.formula !== null || attribute.factors.length > 0 || isPart(a.name);
    return attribute;
  });
  const shapes = data.shapes.map(readShape);
  const programs = [];
  const sets = data.sets.map((set) => {
    const shape = shapes[set.shape];
    const n = shape.premises.length;
    const read = {
      ...shape,
      output: attributes[set.output],
      inputs: set.inputs.map((number) => attributes[number]),
      program: (programs[set.program] ??= readProgram(data.programs[set.program], data.shapes[set.shape].sizes)),
      s: spread(set.s, n),
      r: spread(set.r, n),
      coherent: set.coherent,
      first: set.first,
      texts: (set.texts ?? []).map((text, j) => specialText(text, attributes[set.inputs[shape.propositions[j].input]])),
      conditions: set.conditions ?? [],
      conclusions: (set.conclusions ?? []).map((text) => specialText(text, attributes[set.output])),
      equation: set.equation
        ? { parts: set.equation.parts, factors: set.equation.factors.map((number) => attributes[number]) }
        : null,
    };
    read.isGenerated = read.inputs.some(({ name }) => name.startsWith(`${read.output.name}.`));
    read.output.set = read;
    return read;
  });
  return {
    attributes,
    sets,
    inputs: attributes.filter((a) => a.set === null),
    outputs: data.outputs.map((number) => attributes[number]),
    questions: data.questions.map((question) => ({ ...question, attribute: attributes[question.attribute] })),
  };
}

/** Return the rule sets that attributes depend on, in an order of inference. */
export function setsBehind(rules, attributes) {
  const wanted = new Set(attributes);
  const found = [];
  for (const set of [...rules.sets].reverse()) {
    if (wanted.has(set.output)) {
      found.push(set);
      set.inputs.forEach((a) => wanted.add(a));
    }
  }
  return found.reverse();
}

/**
 * Return Pi(P) and Pi(not P) of each proposition: two arrays.
 * One with all values is true, one with none false, whatever the height of the distribution.
 */
function measuresOf(set, degrees) {
  const n = set.propositions.length;
  const possible = new Float64Array(n);
  const negated = new Float64Array(n);
  set.propositions.forEach(({ input, inside }, j) => {
    const pi = degrees[set.inputs[input].number];
    let yes = 0;
    let no = 0;
    let count = 0;
    for (let i = 0; i < pi.length; i++) {
      if (inside[i]) {
        count += 1;
        if (pi[i] > yes) yes = pi[i];
      } else if (pi[i] > no) no = pi[i];
    }
    possible[j] = count === pi.length ? 1 : yes;
    negated[j] = count === 0 ? 1 : no;
  });
  return [possible, negated];
}

/** Return what the leaves of a rule set are chosen from: measures, parameters, subsets of inputs. */
function knownBy(set, [possible, negated], degrees, hard) {
  const { s, r, program, inputs } = set;
  const known = new Float64Array(2 * (possible.length + s.length) + program.subsets.length);
  let next = 0;
  for (let j = 0; j < possible.length; j++) {
    known[next++] = possible[j];
    known[next++] = negated[j];
  }
  for (let i = 0; i < s.length; i++) {
    known[next++] = hard ? Math.floor(s[i]) : s[i];
    known[next++] = hard ? Math.floor(r[i]) : r[i];
  }
  for (const { input, inside } of program.subsets) {
    const pi = degrees[inputs[input].number];
    for (let i = 0; i < pi.length; i++) if (inside[i] && pi[i] > known[next]) known[next] = pi[i];
    next += 1;
  }
  return known;
}

/** Return the highest degree. */
export function heightOf(degrees) {
  let most = 0;
  for (let i = 0; i < degrees.length; i++) if (degrees[i] > most) most = degrees[i];
  return most;
}

/** Return the old array where the new one says the same, so that what is unchanged is seen. */
function sameOr(old, degrees) {
  const same = old?.length === degrees.length && old.every((degree, i) => degree === degrees[i]);
  return same ? old : degrees;
}

/** Infer one rule set, or take what was inferred before where its inputs are the same. */
function inferSet(set, state, { hard, before }) {
  const at = set.output.number;
  const unchanged = before && set.inputs.every((a) => state.degrees[a.number] === before.degrees[a.number]);
  if (unchanged) {
    for (const key of ["measures", "premises", "degrees"]) state[key][at] = before[key][at];
  } else {
    state.measures[at] = measuresOf(set, state.degrees);
    const results = runProgram(set.program, knownBy(set, state.measures[at], state.degrees, hard));
    const [size, n] = [set.output.values.length, set.s.length];
    state.degrees[at] = sameOr(before?.degrees[at], results.subarray(0, size));
    state.premises[at] = [results.subarray(size, size + n), results.subarray(size + n)];
  }
  let least = heightOf(state.degrees[at]);
  for (const a of set.inputs) least = Math.min(least, state.heights[a.number]);
  state.heights[at] = least;
}

/**
 * Infer. `inputs` has the degrees of each input, in order; `only` the rule sets to go through.
 *
 * Returns `degrees`, `measures`, `premises` and `heights` (the lowest height of an attribute and of
 * all behind it: below 1 the rules contradict each other), each by the numbers of attributes. With
 * `hard`, parameters below 1 count as 0. `before` is what such a call has returned for other
 * inputs: of rule sets whose inputs are the same it is taken, and arrays that say the same are kept.
 */
export function infer(rules, inputs, { only = rules.sets, hard = false, before = null } = {}) {
  const state = { rules, degrees: [], measures: [], premises: [], heights: [] };
  rules.inputs.forEach((a, i) => {
    state.degrees[a.number] = sameOr(before?.degrees[a.number], Float64Array.from(inputs[i]));
    state.heights[a.number] = 1;
  });
  for (const set of only) inferSet(set, state, { hard, before });
  return state;
}

/** Return N({u}) = 1 - max {pi(w) : w not u} of each value. */
export function necessitiesOf(degrees) {
  let first = 0;
  let second = 0;
  let at = -1;
  degrees.forEach((degree, i) => {
    if (degree > first || at < 0) [second, first, at] = [at < 0 ? 0 : first, degree, i];
    else if (degree > second) second = degree;
  });
  return Array.from(degrees, (_, i) => 1 - (i === at ? second : first));
}

/** Return the places of the values of highest degree. */
export function winnersOf(degrees) {
  const most = heightOf(degrees);
  return [...degrees.keys()].filter((i) => degrees[i] === most);
}

/**
 * Return how possible it is that a number lies in each interval of a scale.
 *
 * That is max(0, 1 - d / blur) at distance d outside; without blur 1 inside and 0 outside.
 */
export function degreesOfNumber({ cuts, limits, blur }, number) {
  const place = cuts.filter((cut) => cut <= number).length;
  const edges = [-Infinity, ...limits, Infinity];
  return Float64Array.from({ length: cuts.length + 1 }, (_, i) => {
    if (i === place) return 1;
    if (!blur) return 0;
    const distance = Math.max(edges[i] - number, number - edges[i + 1]);
    return Math.min(Math.max(1 - distance / blur, 0), 1);
  });
}
