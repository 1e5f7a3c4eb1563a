/**
 * Why a value has its degree, which rules limit it, and how far a decision is from changing.
 *
 * The definitions are those of pinesy.explanations; rules are counted from 1 in their sets.
 */

import { infer, setsBehind, winnersOf } from "./engine.js";

/** Degrees below it count as nothing. */
export const ETA = 0.1;
/** Certainties are differences: this much rounding must not carry one across eta. */
const ROUNDING = 1e-15;
/** The most rules that are followed down a cascade. */
const MAX_RESTRAINTS = 1000;

/** Return what attains the degree of a value: premises ("P", "C") or parameters ("s", "r"). */
export function attaining(state, attribute, place) {
  const { set, number } = attribute;
  const degree = state.degrees[number][place];
  const [lambdas, rhos] = state.premises[number];
  const signs = set.cells[set.cellOf[place]];
  const found = [];
  signs.forEach((inside, i) => {
    const premise = inside ? lambdas[i] : rhos[i];
    const parameter = inside ? set.s[i] : set.r[i];
    if (Math.max(premise, parameter) !== degree) return;
    const by = premise === degree ? (inside ? "P" : "C") : inside ? "s" : "r";
    found.push({ attribute, rule: i + 1, by, degree });
  });
  return found;
}

/**
 * Return why a value has its possibility: triplets, possible premises before certain ones, or,
 * where no premise attains it, the parameters of rules.
 */
export function justification(state, attribute, place, eta = ETA) {
  const found = attaining(state, attribute, place);
  const triplets = [...found.filter((f) => f.by === "P"), ...found.filter((f) => f.by === "C")];
  return {
    triplets: triplets.map((triplet) => tripletOf(state, triplet, eta)),
    parameters: triplets.length ? [] : found,
  };
}

/**
 * Return a triplet with the places of its premise's propositions, those that decide first; those
 * that are unexpected; and a function from places to propositions.
 */
function tripletOf(state, triplet, eta) {
  const { attribute, rule, by, degree } = triplet;
  const measures = state.measures[attribute.number][by === "P" ? 0 : 1];
  const own = attribute.set.premises[rule - 1];
  const below = (measure) => (by === "P" ? measure < eta : measure - (1 - eta) > ROUNDING);
  const distance = (place) => Math.abs(measures[own[place]] - degree);
  const nearest = [...own.keys()].sort((i, j) => distance(i) - distance(j));
  const holds = !below(degree);
  const isLow = (place) => below(measures[own[place]]);
  return {
    ...triplet,
    holds,
    reduced: holds ? nearest : nearest.filter(isLow),
    unexpected: holds ? [] : nearest.filter((place) => !isLow(place)).reverse(),
    part: (place) => partOf(state, triplet, place, below),
  };
}

/** Return a proposition of a triplet: its degree, and the values that attain it. */
function partOf(state, { attribute, rule, by, degree }, place, below) {
  const { set, number } = attribute;
  const proposition = set.premises[rule - 1][place];
  const { input, inside } = set.propositions[proposition];
  const pi = state.degrees[set.inputs[input].number];
  const measure = state.measures[number][by === "P" ? 0 : 1][proposition];
  const side = by === "P" ? 1 : 0;
  const places = [...pi.keys()];
  const values = places.filter((i) => inside[i] === side && pi[i] === measure);
  const widened = (i) => inside[i] || pi[i] < measure;
  const members = places.filter((i) => inside[i]);
  const reduced = by === "P" ? values : places.filter(widened);
  return {
    number: place + 1,
    proposition,
    attribute: set.inputs[input],
    degree: by === "P" ? measure : 1 - measure,
    decides: measure === degree,
    values,
    reduced: below(measure) || !values.length ? members : reduced,
  };
}

/** Return the rules that hold a value below 1, and for each the values that its bound is from. */
function restraintsOf(state, attribute, place) {
  const degree = state.degrees[attribute.number][place];
  if (degree === 1 || attribute.set === null) return [];
  return attaining(state, attribute, place).map(({ rule, by }) => ({
    attribute,
    place,
    degree,
    rule,
    by: by === "P" || by === "C" ? "premise" : by,
    reasons: by === "s" || by === "r" ? [] : reasonsOf(state, attribute, rule, by, degree),
  }));
}

function reasonsOf(state, attribute, rule, by, degree) {
  const { set } = attribute;
  const found = [];
  set.premises[rule - 1].forEach((_, place) => {
    const part = partOf(state, { attribute, rule, by, degree }, place, () => true);
    if (!part.decides) return;
    found.push(...part.values.map((value) => ({ attribute: part.attribute, place: value, degree })));
  });
  return found;
}

const keyOf = ({ attribute, place }) => `${attribute.number} ${place}`;

/** Go from a value to what is behind it, the nearest first, until it is `enough`; return all. */
function reached(start, behind, enough) {
  const waiting = [start];
  const seen = new Set([keyOf(start)]);
  for (const one of waiting) {
    if (enough(waiting)) break;
    for (const reason of behind(one)) {
      if (!seen.has(keyOf(reason))) waiting.push(reason);
      seen.add(keyOf(reason));
    }
  }
  return waiting;
}

/**
 * Return why a value is not the only winner: the rules that limit it, those on the attribute
 * itself first, then down the cascade; and the degrees of inputs behind them (`bottlenecks`).
 */
export function whyNot(state, attribute, place) {
  const found = [];
  const behind = (one) => {
    const own = restraintsOf(state, one.attribute, one.place);
    found.push(...own);
    return own.flatMap((restraint) => restraint.reasons);
  };
  reached({ attribute, place }, behind, () => found.length > MAX_RESTRAINTS);
  const restraints = found.slice(0, MAX_RESTRAINTS);
  const inputs = restraints.flatMap((r) => r.reasons).filter((r) => r.attribute.set === null);
  return {
    restraints,
    bottlenecks: [...new Map(inputs.map((r) => [`${keyOf(r)} ${r.degree}`, r])).values()],
    cut: found.length > MAX_RESTRAINTS,
    winners: winnersOf(state.degrees[attribute.number]),
  };
}

/**
 * Return what the degree of a value comes from, down to the inputs, the nearest first: values that
 * have the very same degree, itself included. It stops after 1000 of them.
 */
export function decidingValues(state, attribute, place) {
  const behind = (one) => {
    const found = one.attribute.set === null ? [] : attaining(state, one.attribute, one.place);
    const premises = found.filter(({ by }) => by === "P" || by === "C");
    return premises.flatMap(({ rule, by, degree }) => reasonsOf(state, one.attribute, rule, by, degree));
  };
  return reached({ attribute, place }, behind, (waiting) => waiting.length > MAX_RESTRAINTS);
}

/** Return whether some value is known to reach 1 always, here and in everything behind. */
export function isCoherent(rules, attribute) {
  return setsBehind(rules, [attribute]).every((set) => set.coherent);
}

/** Return the inputs that an attribute depends on. */
export function inputsBehind(rules, attribute) {
  const used = new Set(setsBehind(rules, [attribute]).flatMap((set) => set.inputs));
  return rules.inputs.filter((a) => used.has(a));
}

/** Return how far the nearest other value is from 1: 0 in a tie, infinite if none can reach it. */
function distanceToOne(reached, most, degrees) {
  const winner = winnersOf(degrees)[0];
  const far = Array.from(reached, (degree, i) =>
    i === winner || most[i] !== 1 ? Infinity : 1 - degree,
  );
  return Math.min(...far);
}

function halfTheGap(degrees) {
  if (degrees.length === 1) return Infinity;
  const [first, second] = Array.from(degrees).sort((a, b) => b - a);
  return (first - second) / 2;
}

/** Return the degrees of an attribute if parameters below 1 were 0, for other inputs. */
function hardened(state, attribute, change) {
  const inputs = state.rules.inputs.map((a) => change(a, state.degrees[a.number]));
  const only = setsBehind(state.rules, [attribute]);
  return infer(state.rules, inputs, { only, hard: true }).degrees[attribute.number];
}

/**
 * Return how far all input degrees may move before the decision on an attribute can change.
 *
 * `exact`: whether moves of just as much can change it; else they may be larger.
 */
export function margin(state, attribute, coherent = isCoherent(state.rules, attribute)) {
  const degrees = state.degrees[attribute.number];
  if (!coherent) return { distance: halfTheGap(degrees), exact: false };
  const reached = hardened(state, attribute, (_, pi) => pi);
  const most = hardened(state, attribute, (_, pi) => pi.map(() => 1));
  return { distance: distanceToOne(reached, most, degrees), exact: true };
}

/** Return the same for each input alone, while the others stay: the most delicate input first. */
export function inputMargins(state, attribute, coherent = isCoherent(state.rules, attribute)) {
  const degrees = state.degrees[attribute.number];
  const found = inputsBehind(state.rules, attribute).map((input) => {
    if (!coherent) return { input, distance: halfTheGap(degrees) };
    const certain = (pi) => pi.map((degree) => (degree === 1 ? 1 : 0));
    const reached = hardened(state, attribute, (a, pi) => (a === input ? pi : certain(pi)));
    const most = hardened(state, attribute, (a, pi) => (a === input ? pi.map(() => 1) : certain(pi)));
    return { input, distance: distanceToOne(reached, most, degrees) };
  });
  return found.sort((a, b) => (a.distance === b.distance ? 0 : a.distance - b.distance));
}

/** Steps of a bisection, and how near its result is to the exact number. */
const ITERATIONS = 40;
const TOLERANCE = 1e-9;

/**
 * Return how far degrees may move where rules may contradict each other, as a bound from below: all
 * of them, and those of each input alone, the most delicate first.
 */
export function movedMargins(state, attribute) {
  const inputs = inputsBehind(state.rules, attribute);
  const alone = inputs.map((input) => ({ input, distance: movedMargin(state, attribute, [input]) }));
  alone.sort((a, b) => (a.distance === b.distance ? 0 : a.distance - b.distance));
  return [movedMargin(state, attribute, inputs), alone];
}

function movedMargin(state, attribute, free) {
  const { rules } = state;
  const only = setsBehind(rules, [attribute]);
  const inferred = (move) => {
    const inputs = rules.inputs.map((a) => {
      const pi = state.degrees[a.number];
      return free.includes(a) ? move(pi) : pi;
    });
    return infer(rules, inputs, { only }).degrees[attribute.number];
  };
  const raised = (e) => inferred((pi) => pi.map((degree) => Math.min(degree + e, 1)));
  const lowered = (e) => inferred((pi) => {
    const able = pi.map((degree) => (degree + e >= 1 ? 1 : 0));
    const isOnly = able.reduce((sum, one) => sum + one, 0) === 1;
    return pi.map((degree, i) => (isOnly && able[i] ? 1 : Math.max(degree - e, 0)));
  });
  const upper = raised(0);
  const winner = upper.indexOf(heightOf(upper));
  const isSafe = (e) => {
    const most = raised(e).reduce((high, degree, i) => (i === winner ? high : Math.max(high, degree)), -1);
    return most < lowered(e)[winner];
  };
  const gap = halfTheGap(state.degrees[attribute.number]);
  if (isSafe(1)) return Infinity;
  let [low, high] = [0, 1];
  for (let i = 0; i < ITERATIONS; i++) {
    const middle = (low + high) / 2;
    if (isSafe(middle)) low = middle;
    else high = middle;
  }
  return Math.max(exactMove(low, state, attribute, only), gap);
}

/** Return the exact number near the result of a bisection: a difference of degrees, or half of one. */
function exactMove(e, state, attribute, sets) {
  const sorted = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
  const row = inputsBehind(state.rules, attribute).flatMap((a) => Array.from(state.degrees[a.number]));
  const degrees = sorted([0, 1, ...row]);
  const constants = sorted([0, 1, ...sets.flatMap(({ s, r }) => [...s, ...r])]);
  const nearest = (list, number) => list.reduce((best, one) => (Math.abs(one - number) < Math.abs(best - number) ? one : best));
  const candidates = degrees.flatMap((degree) => [
    (nearest(degrees, degree + 2 * e) - degree) / 2,
    nearest(constants, degree + e) - degree,
    degree - nearest(constants, degree - e),
  ]);
  const best = nearest(candidates, e);
  return Math.abs(best - e) < TOLERANCE ? best : e;
}
