/**
 * The fewest changes of inputs by which another value would be decided on.
 *
 * As `pinesy.explanations.smallest_change` has them, of the modes "values" and "fewest": all
 * combinations of one, two and three inputs are tried, the cheapest first; beyond that the change
 * that brings the value nearest, one after the other.
 */

import { degreesOfNumber, infer, setsBehind } from "./engine.js";
import { inputsBehind } from "./why.js";
import { boundNumber, boundsText, listText, nextFloat, valueName } from "./sentences.js";

/** Other values of an input that is read anew are left at this degree at most. */
const LEFT = 0.9;
/** Inputs that are changed together, at most, where all combinations are tried. */
const MAX_TOGETHER = 3;
/** Values that a text names. */
const NAMED_VALUES = 5;

/** Return which values of an input the rules distinguish: the cell of each. */
function cellsOf(sets, input) {
  const keys = input.values.map(() => "");
  for (const set of sets) {
    for (const { input: number, inside } of set.propositions) {
      if (set.inputs[number] !== input) continue;
      inside.forEach((isIn, place) => (keys[place] += isIn));
    }
  }
  const cells = new Map();
  return keys.map((key) => cells.get(key) ?? cells.set(key, cells.size).get(key));
}

/** Return the possibilities of cells, as a text to compare them by. */
function effectOf(cells, degrees) {
  const most = [];
  cells.forEach((cell, place) => (most[cell] = Math.max(most[cell] ?? 0, degrees[place])));
  return most.join(" ");
}

/** Return the range of numbers that are certainly in some intervals. */
function certainNumbers({ cuts, blur }, first, last) {
  const edges = [-Infinity, ...cuts, Infinity];
  const [edge, end] = [edges[first], edges[last + 1]];
  if (!blur) return [edge, end];
  const [start, stop] = [boundNumber(edge), boundNumber(end)];
  let [low, high] = [start + blur, stop - blur];
  while (low - start < blur) low = nextFloat(low, true);
  while (stop - high < blur) high = nextFloat(high, false);
  if (low > high) low = high = (start + stop) / 2;
  return [low, nextFloat(high, true)];
}

/** Return the numbers that an input may be now, and their interval (null if it is not known). */
function currentNumber({ scale }, setting) {
  const edges = [-Infinity, ...scale.cuts, Infinity];
  if (setting.value !== undefined) {
    return { low: boundNumber(edges[setting.value]), high: boundNumber(edges[setting.value + 1]), interval: setting.value };
  }
  if (setting.number === undefined) return { low: -Infinity, high: Infinity, interval: null };
  const interval = scale.cuts.filter((cut) => cut <= setting.number).length;
  return { low: setting.number, high: setting.number, interval };
}

function nearestNumber(current, low, high) {
  const last = nextFloat(high, false);
  if (current.interval === null) return Number.isFinite(low) ? low : Number.isFinite(high) ? last : 0;
  if (current.high <= low) return low;
  return current.low >= last ? last : Math.max(current.low, low);
}

function distanceTo(current, low, high, { cuts }) {
  if (current.interval === null) return 1;
  if (low <= current.high && current.low <= high) return 0;
  const gap = Math.max(boundNumber(low) - current.high, current.low - boundNumber(high));
  const known = [current.low, current.high, ...cuts.map(boundNumber)].filter(Number.isFinite);
  const spread = Math.max(...known) - Math.min(...known);
  return spread > 0 ? Math.min(1, gap / spread) : 1;
}

/** Return the other values that a plain input may have: one option for each effect. */
function replacements(input, setting, degrees, cells) {
  const options = input.scale ? numberOptions(input, setting, cells) : categoryOptions(input, cells);
  options.sort((a, b) => a.cost - b.cost || a.tie - b.tie);
  const effects = new Set([effectOf(cells, degrees)]);
  return options.filter((option) => {
    const effect = effectOf(cells, option.degrees);
    return !effects.has(effect) && effects.add(effect);
  });
}

function categoryOptions(input, cells) {
  return [...new Set(cells)].map((cell) => {
    const places = [...cells.keys()].filter((place) => cells[place] === cell);
    const names = places.slice(0, NAMED_VALUES).map((place) => valueName(input, place));
    const more = places.length - names.length;
    return {
      cost: 1,
      tie: 1,
      degrees: Float64Array.from(cells, (_, place) => (place === places[0] ? 1 : 0)),
      setting: { value: places[0] },
      text: listText([...names, ...(more ? [`${more} more values`] : [])], "or"),
    };
  });
}

function numberOptions(input, setting, cells) {
  const { scale } = input;
  const current = currentNumber(input, setting);
  const starts = [...cells.keys()].filter((i) => i === 0 || cells[i] !== cells[i - 1]);
  return starts.map((first, i) => {
    const last = (starts[i + 1] ?? cells.length) - 1;
    const [low, high] = certainNumbers(scale, first, last);
    const number = nearestNumber(current, low, high);
    const { interval } = current;
    return {
      cost: distanceTo(current, low, high, scale),
      tie: interval === null ? 1 : Math.max(first - interval, interval - last, 0),
      degrees: degreesOfNumber(scale, number),
      setting: { number },
      text: `${boundsText(low, high)}${input.unit ? ` ${input.unit}` : ""}`,
    };
  });
}

/** Return the readings of an input that change it, the nearest first. */
function readings(degrees) {
  const options = [];
  degrees.forEach((old, place) => {
    const changed = degrees.map((degree, i) => (i === place ? 1 : Math.min(degree, LEFT)));
    if (changed.every((degree, i) => degree === degrees[i])) return;
    const cost = changed.reduce((most, degree, i) => Math.max(most, Math.abs(degree - degrees[i])), 0);
    options.push({ cost, tie: cost, degrees: changed, setting: { degrees: Array.from(changed) }, place, possible: old });
  });
  return options.sort((a, b) => a.cost - b.cost);
}

/** The search for a change that decides on a value: it is fully possible, and no other is. */
class ChangeSearch {
  constructor(state, attribute, settings, maxTries) {
    Object.assign(this, { state, attribute, left: maxTries });
    this.sets = setsBehind(state.rules, [attribute]);
    this.isPlain = settings.every((setting) => !setting.degrees);
    this.inputs = inputsBehind(state.rules, attribute).map((input) => {
      const degrees = state.degrees[input.number];
      const setting = settings[state.rules.inputs.indexOf(input)];
      const options = this.isPlain ? replacements(input, setting, degrees, cellsOf(this.sets, input)) : readings(degrees);
      const envelope = degrees.map((_, i) => Math.max(0, ...options.map((option) => option.degrees[i])));
      return { input, options, envelope };
    });
  }

  /** Return the degree of a value, capped by heights, and the highest of the others. */
  tried(changes, place) {
    this.left -= 1;
    const { rules } = this.state;
    const inputs = rules.inputs.map((a) => changes.get(a) ?? this.state.degrees[a.number]);
    const after = infer(rules, inputs, { only: this.sets, before: this.state });
    const degrees = after.degrees[this.attribute.number];
    const others = degrees.reduce((most, degree, i) => (i === place ? most : Math.max(most, degree)), -1);
    return { degree: Math.min(degrees[place], after.heights[this.attribute.number]), others, certainty: 1 - others };
  }

  /** Return the best change to a value, or null. */
  find(place) {
    const free = this.inputs.filter(({ options }) => options.length);
    for (let size = 1; size <= Math.min(MAX_TOGETHER, free.length); size++) {
      let best = null;
      for (const combination of combinationsOf(free, size)) {
        best = this.cheapest(combination, place, best);
        if (this.left < 0) return best;
      }
      if (best) return best;
    }
    return free.length > MAX_TOGETHER ? this.greedy(free, place) : null;
  }

  cheapest(combination, place, best) {
    const branch = (index, changes, chosen) => {
      if (this.left < 0) return;
      const { degree, others, certainty } = this.tried(changes, place);
      if (degree < 1) return; // the open inputs are at their highest degrees
      if (index === combination.length) {
        if (others >= 1) return;
        const costs = chosen.map(({ option }) => option.cost);
        const cost = this.isPlain ? costs.reduce((a, b) => a + b, 0) : Math.max(...costs);
        const tie = chosen.reduce((sum, { option }) => sum + option.tie, 0);
        if (!best || cost < best.cost || (cost === best.cost && tie < best.tie)) best = { chosen, cost, tie, certainty };
        return;
      }
      const { input, options } = combination[index];
      for (const option of options) {
        branch(index + 1, new Map(changes).set(input, option.degrees), [...chosen, { input, option }]);
      }
    };
    branch(0, new Map(combination.map(({ input, envelope }) => [input, envelope])), []);
    return best;
  }

  greedy(free, place) {
    let chosen = [];
    const changes = () => new Map(chosen.map(({ input, option }) => [input, option.degrees]));
    const wins = ({ degree, others }) => degree === 1 && degree > others;
    const gapOf = ({ degree, others }) => degree - others;
    let gap = gapOf(this.tried(new Map(), place));
    for (;;) {
      let next = null;
      for (const { input, options } of free) {
        if (chosen.some((one) => one.input === input)) continue;
        for (const option of options) {
          const found = this.tried(changes().set(input, option.degrees), place);
          if (gapOf(found) > (next?.gap ?? gap)) next = { gap: gapOf(found), won: wins(found), input, option };
          if (this.left < 0) return null;
        }
      }
      if (!next) return null;
      gap = next.gap;
      chosen.push({ input: next.input, option: next.option });
      if (next.won) break;
    }
    for (const one of [...chosen]) {
      const fewer = chosen.filter((other) => other !== one);
      const left = new Map(fewer.map(({ input, option }) => [input, option.degrees]));
      if (wins(this.tried(left, place))) chosen = fewer;
    }
    const order = this.inputs.map(({ input }) => input);
    chosen.sort((a, b) => order.indexOf(a.input) - order.indexOf(b.input));
    const costs = chosen.map(({ option }) => option.cost);
    const cost = this.isPlain ? costs.reduce((a, b) => a + b, 0) : Math.max(...costs);
    return { chosen, cost, tie: 0, certainty: this.tried(changes(), place).certainty };
  }
}

function* combinationsOf(list, size, start = 0) {
  if (size === 0) {
    yield [];
    return;
  }
  for (let i = start; i <= list.length - size; i++) {
    for (const rest of combinationsOf(list, size - 1, i + 1)) yield [list[i], ...rest];
  }
}

/**
 * Return the change that decides on a value: { place, changes, cost, certainty }, or null.
 *
 * `changes` are { input, setting, text } for plain inputs, else with `place` and `possible` of what
 * is read; `certainty` is that of the value if changed inputs were certain.
 */
export function changeTo(state, attribute, place, settings, maxTries) {
  const search = new ChangeSearch(state, attribute, settings, maxTries);
  const found = search.find(place);
  if (!found) return null;
  const changes = found.chosen.map(({ input, option }) => ({ input, ...option }));
  let { certainty } = found;
  if (!search.isPlain) {
    const crisp = changes.map(({ input, place: value, degrees }) => [input, degrees.map((_, i) => (i === value ? 1 : 0))]);
    certainty = search.tried(new Map(crisp), place).certainty;
  }
  return { place, changes, cost: found.cost, certainty };
}
