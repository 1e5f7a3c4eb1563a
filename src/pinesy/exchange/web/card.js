/**
 * Score cards: what the lines give to the classes, and which class has most.
 *
 * The formula is that of `ScoreCard.score` in Python, and so are the bits where inputs are values or
 * not known: a line gives points * N + undetermined * (P - N), and what trails by t points is
 * possible at levels[t]. The data are what `page_data.py` makes of a card.
 */

import { heightOf } from "./engine.js";
import { membershipsOf } from "./steps.js";

/** Return the card of the data, on the attributes of the rules. */
export function readCard(data, attributes) {
  const output = attributes[data.output];
  const conditions = data.conditions.map(([number, digits]) => {
    const attribute = attributes[number];
    return { attribute, inside: membershipsOf(digits, attribute.values.length) };
  });
  const lines = data.lines.map(([own, place, points, undetermined, text, record]) => ({
    conditions: own.map((i) => conditions[i]),
    place,
    points,
    undetermined,
    text,
    record,
  }));
  const userRules = data.userRules.map(([own, digits, s, r]) => ({
    conditions: own.map((i) => conditions[i]),
    inside: membershipsOf(digits, output.values.length),
    s,
    r,
  }));
  return { output, lines, userRules, start: data.start, levels: data.levels };
}

/** Return min Pi(p) and max Pi(not p) of conditions. */
function conjunctionOf(conditions, degrees) {
  let possible = 1;
  let negated = 0;
  for (const { attribute, inside } of conditions) {
    const pi = degrees[attribute.number];
    let yes = 0;
    let no = 0;
    for (let i = 0; i < pi.length; i++) {
      if (inside[i]) yes = Math.max(yes, pi[i]);
      else no = Math.max(no, pi[i]);
    }
    possible = Math.min(possible, yes);
    negated = Math.max(negated, no);
  }
  return [possible, negated];
}

/** Return the possibility that a lead leaves, between whole points on the line. */
function levelOf(levels, lead) {
  const last = levels.length - 1;
  const short = Math.min(lead, last);
  const below = Math.floor(short);
  const above = levels[Math.min(below + 1, last)];
  return levels[below] + (above - levels[below]) * (short - below);
}

/** Return the probabilities of possibilities: p_k = p_{k+1} + (pi_k - pi_{k+1}) / k, sorted. */
export function probabilitiesOf(possibility) {
  const height = heightOf(possibility);
  const scaled = possibility.map((degree) => (height > 0 ? degree / height : 1));
  const order = [...scaled.keys()].sort((i, j) => scaled[j] - scaled[i] || i - j);
  const chances = new Array(scaled.length);
  let sum = 0;
  for (let k = order.length - 1; k >= 0; k--) {
    const below = k + 1 < order.length ? scaled[order[k + 1]] : 0;
    sum += (scaled[order[k]] - below) / (k + 1);
    chances[order[k]] = sum;
  }
  return chances;
}

/**
 * Score: `degrees` are those of attributes by their numbers, as in the state of an inference.
 *
 * Returns `given` (of each line: what it gives, how possible and how certain it is), `totals`,
 * `possibility`, `probability` and `best`, the place of the class with most points among the most
 * possible ones.
 */
export function scoreCard(card, degrees) {
  const totals = [...card.start];
  const given = card.lines.map(({ conditions, place, points, undetermined }) => {
    const [possible, negated] = conjunctionOf(conditions, degrees);
    const certain = 1 - negated;
    const gives = points * certain + undetermined * (possible - certain);
    totals[place] += gives;
    return { gives, possible, certain };
  });
  const most = totals.reduce((a, b) => Math.max(a, b));
  const possibility = totals.map((total) => levelOf(card.levels, most - total));
  for (const { conditions, inside, s, r } of card.userRules) {
    const [possible, negated] = conjunctionOf(conditions, degrees);
    possibility.forEach((degree, place) => {
      const bound = inside[place] ? Math.max(s, possible) : Math.max(r, negated);
      possibility[place] = Math.min(degree, bound);
    });
  }
  const top = heightOf(possibility);
  let best = -1;
  totals.forEach((total, place) => {
    if (possibility[place] === top && (best < 0 || total > totals[best])) best = place;
  });
  return { given, totals, possibility, probability: probabilitiesOf(possibility), best };
}

/** Return the attributes of a line of which nothing is known. */
export function unknownOf({ conditions }, degrees) {
  const open = ({ attribute }) => degrees[attribute.number].every((degree) => degree === 1);
  return [...new Set(conditions.filter(open).map(({ attribute }) => attribute))];
}
