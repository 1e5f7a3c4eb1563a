/**
 * The verdict on a sample, in the words of `pinesy.verdicts`: the answer, the facts and rules that
 * decide, what would change it, and how firm it is.
 *
 * `answerTo` returns what the endpoint ask/answer of the studio does. The standard is Python's.
 */

import { scoreCard } from "./card.js";
import { changeTo } from "./changes.js";
import { heightOf, infer, setsBehind, winnersOf } from "./engine.js";
import { clashOf, outcomeOf } from "./outcomes.js";
import { shortDegree } from "./parts.js";
import {
  asSentence, boundsText, conclusionPlaces, digitsText, listText, plainNumber, propositionSentence, spokenName, spokenValues,
  valueName, valuesSentence,
} from "./sentences.js";
import { inputsBehind, inputMargins, margin, movedMargins } from "./why.js";
import { ruleNumber } from "./words.js";

/** Facts, and conclusions before the answer, that a sentence has. */
const MAX_FACTS = 6;
const MAX_REASONS = 2;
/** Groups of lines of a score card that a sentence has, for the first class and for the next. */
const MAX_LINES = [2, 1];
/** Values that say little without the name of their attribute. */
const BARE_VALUES = new Set(["true", "false", "yes", "no", "none"]);
/** Rule sets behind one another that are searched for inputs. */
const MAX_DEPTH = 4;
/** Sets of inputs that are tried, and instructions that these may take. */
const MAX_TRIED = 4096;
const MAX_INSTRUCTIONS = 2e7;
/** Values to change to, and inferences for each. */
const MAX_RIVALS = 4;
const CHANGE_EFFORT = 4000;
/** Values that remain which an answer lists. */
const MAX_REMAINING = 5;
/** Rules of a reason chain that are shown, and values of a card. */
const MAX_DECIDING = 6;
const MAX_APPLYING = 3;
const MAX_VALUES = 4;

/** Return the numbers of rules in words, given their indices in a set. */
function rulesText(set, rules) {
  const numbers = rules.map((rule) => String(ruleNumber(set, rule + 1)));
  return `rule${numbers.length > 1 ? "s" : ""} ${listText(numbers)}`;
}

const fullPlaces = (degrees) => [...degrees.keys()].filter((place) => degrees[place] === 1);

/** Return what a function computes its value from, such as "7 + 1"; null where not all is known. */
function expressionOf(state, { equation, output }) {
  const best = [output, ...equation.factors].map((attribute) => fullPlaces(state.degrees[attribute.number]));
  if (best.some((places) => places.length !== 1)) return null;
  const values = equation.factors.map((factor, i) => valueName(factor, best[i + 1][0]));
  return equation.parts.map((part, i) => part + (values[i] ?? "")).join("");
}

// --- the inputs that decide ---

/** Return a text that tells answers apart: the height, the values that remain, the next degree. */
function answerKey(state, attribute) {
  const degrees = state.degrees[attribute.number];
  const height = state.heights[attribute.number];
  if (height < 1) return `${height}`;
  const full = Array.from(degrees, (degree) => (degree === 1 ? 1 : 0));
  const next = degrees.reduce((most, degree) => (degree === 1 ? most : Math.max(most, degree)), -1);
  return `${full.join("")} ${next}`;
}

/** Return the inputs that decide: with all others unknown, the answer and its certainty stay. */
function decidingInputs(state, attribute, instructions) {
  const { rules } = state;
  const only = setsBehind(rules, [attribute]);
  const answer = answerKey(state, attribute);
  const inputs = inputsBehind(rules, attribute).filter((a) => state.degrees[a.number].some((d) => d < 1));
  const keeps = (known) => {
    const degrees = rules.inputs.map((a) => {
      const old = state.degrees[a.number];
      return known.includes(a) ? old : old.map(() => 1);
    });
    return answerKey(infer(rules, degrees, { only, before: state }), attribute) === answer;
  };
  const needed = inputs.filter((input) => !keeps(inputs.filter((other) => other !== input)));
  const optional = inputs.filter((input) => !needed.includes(input));
  const most = Math.max(64, Math.min(MAX_TRIED, Math.floor(MAX_INSTRUCTIONS / (1 + instructions))));
  const deciding = [...needed, ...fewestMore(keeps, needed, optional, most)];
  return inputs.filter((input) => deciding.includes(input));
}

/** Return the fewest optional inputs to add to the needed ones. */
function fewestMore(keeps, needed, optional, most) {
  let left = most;
  for (let size = 0; size <= optional.length; size++) {
    const count = binomial(optional.length, size);
    if (count > left) return minimalInputs(keeps, needed, optional);
    left -= count;
    for (const chosen of subsetsOf(optional, size)) if (keeps([...needed, ...chosen])) return chosen;
  }
  return optional;
}

const binomial = (n, k) => Array.from({ length: k }).reduce((product, _, i) => (product * (n - i)) / (i + 1), 1);

function* subsetsOf(list, size, start = 0) {
  if (size === 0) {
    yield [];
    return;
  }
  for (let i = start; i <= list.length - size; i++) {
    for (const rest of subsetsOf(list, size - 1, i + 1)) yield [list[i], ...rest];
  }
}

/** Return optional inputs of which each is needed beside the others, by halving. */
function minimalInputs(keeps, base, optional) {
  if (keeps(base)) return [];
  if (optional.length === 1) return optional;
  const half = Math.floor(optional.length / 2);
  const second = minimalInputs(keeps, [...base, ...optional.slice(0, half)], optional.slice(half));
  return [...minimalInputs(keeps, [...base, ...second], optional.slice(0, half)), ...second];
}

// --- the rules that decide ---

/** Return rules that keep values below limits, those next to inputs first. */
function decidingRules(state, attribute, limits) {
  const required = new Map([[attribute, limits]]);
  const chain = [];
  for (const set of setsBehind(state.rules, [attribute]).reverse()) {
    if (required.has(set.output)) chain.push(rulesOfSet(state, set, required));
  }
  return chain.reverse();
}

function rulesOfSet(state, set, required) {
  const { output } = set;
  const limits = required.get(output);
  const [lambdas, rhos] = state.premises[output.number];
  const [possible] = state.measures[output.number];
  const inside = (place, rule) => set.cells[set.cellOf[place]][rule] === 1;
  const bound = (place, rule) =>
    inside(place, rule) ? Math.max(set.s[rule], lambdas[rule]) : Math.max(set.r[rule], rhos[rule]);
  const places = output.values.map((_, place) => place);
  const enough = places.map((place) =>
    set.premises.map((_, rule) => Number.isFinite(limits[place]) && bound(place, rule) <= limits[place]));
  const left = new Set(places);
  const [rules, holds, inputs] = [[], [], new Set()];
  for (const [rule, role] of coverOf(enough, inside, set.premises)) {
    const excluded = places.filter((place) => enough[place][rule] && inside(place, rule) !== role);
    for (const place of places) if (inside(place, rule) !== role) left.delete(place);
    const limit = Math.min(...excluded.map((place) => limits[place]));
    let premise = set.premises[rule];
    if (!role) { // one proposition that is not possible is enough
      const least = Math.min(...premise.map((number) => possible[number]));
      premise = [premise.find((number) => possible[number] === least)];
    }
    for (const number of premise) {
      const { input, inside: members } = set.propositions[number];
      const source = set.inputs[input];
      const outside = Array.from(members, (isIn) => (isIn === 1) !== role);
      if (!outside.includes(true)) continue;
      inputs.add(source);
      const before = required.get(source) ?? source.values.map(() => Infinity);
      required.set(source, before.map((old, i) => (outside[i] ? Math.min(old, limit) : old)));
    }
    rules.push(rule);
    holds.push(role);
  }
  const degrees = state.degrees[output.number];
  const others = places.reduce((most, place) => (left.has(place) ? most : Math.max(most, degrees[place])), 0);
  return { set, output, places: [...left], rules, holds, inputs: [...inputs], certainty: 1 - others };
}

/** Return few rules, and whether their premises hold, that exclude all values to exclude. */
function coverOf(enough, inside, premises) {
  const todo = new Set([...enough.keys()].filter((place) => enough[place].includes(true)));
  const cover = [];
  while (todo.size) {
    let best = null;
    for (const role of [true, false]) {
      premises.forEach((premise, rule) => {
        let count = 0;
        for (const place of todo) if (enough[place][rule] && inside(place, rule) !== role) count += 1;
        const rank = 2 * count + (role ? 1 : 0);
        if (!best || rank > best.rank || (rank === best.rank && premise.length < best.size)) {
          best = { rank, size: premise.length, rule, role };
        }
      });
    }
    cover.push([best.rule, best.role]);
    for (const place of [...todo]) {
      if (enough[place][best.rule] && inside(place, best.rule) !== best.role) todo.delete(place);
    }
  }
  return cover;
}

// --- the analysis of a sample ---

/** What decides a sample, in words; `settings` has that of each input of the rules, in order. */
class Analysis {
  constructor(state, question, settings) {
    const { attribute } = question;
    Object.assign(this, { state, question, settings, attribute });
    this.degrees = state.degrees[attribute.number];
    this.outcome = outcomeOf(this.degrees, state.heights[attribute.number]);
    this.places = this.outcome === "contradiction" ? [] : winnersOf(this.degrees);
    const others = this.degrees.reduce((most, degree, i) => (this.places.includes(i) ? most : Math.max(most, degree)), 0);
    this.certainty = this.outcome === "contradiction" ? 0 : 1 - others;
    const { card } = state.rules;
    this.scores = card?.output === attribute ? scoreCard(card, state.degrees) : null;
    this.deciding = this.findDeciding();
    this.chain = this.findChain();
    this.facts = this.findFacts();
  }

  /** The rules that decide, without those on attributes that readers do not name. */
  get readChain() {
    return this.chain.filter(({ output }) => !output.isInner);
  }

  settingOf(input) {
    return this.settings[this.state.rules.inputs.indexOf(input)];
  }

  findDeciding() {
    return decidingInputs(this.state, this.attribute, this.question.instructions);
  }

  /** The sample with the deciding inputs; all others are unknown. */
  get reduced() {
    const { rules, degrees } = this.state;
    const inputs = rules.inputs.map((a) => (this.deciding.includes(a) ? degrees[a.number] : degrees[a.number].map(() => 1)));
    return infer(rules, inputs, { only: setsBehind(rules, [this.attribute]), before: this.state });
  }

  findChain() {
    const state = this.reduced;
    this.clash = this.outcome === "contradiction" ? clashOf(state, this.attribute) : null;
    const output = this.clash?.set.output ?? this.attribute;
    const kept = this.clash ? [] : this.places;
    const others = state.degrees[output.number].reduce((most, degree, i) => (kept.includes(i) ? most : Math.max(most, degree)), 0);
    if (others === 1) return [];
    return decidingRules(state, output, output.values.map((_, i) => (kept.includes(i) ? Infinity : others)));
  }

  findFacts() {
    const sources = new Map(this.chain.map(({ output, inputs }) => [output.name, inputs]));
    for (const { output, inputs } of this.chain) {
      const factors = output.factors.map(({ name }) => inputs.find((a) => a.name === name)).filter(Boolean);
      if (output.factors.length) sources.set(output.name, factors);
    }
    const waiting = this.chain.length ? [this.chain.at(-1).output] : [];
    const order = [];
    while (waiting.length) {
      const attribute = waiting.pop();
      order.push(attribute);
      waiting.push(...[...(sources.get(attribute.name) ?? [])].reverse());
    }
    const rank = (input) => (order.includes(input) ? order.indexOf(input) : order.length);
    return [...this.deciding].sort((a, b) => rank(a) - rank(b)).map((input) => this.fact(input));
  }

  /** Return what is known of an input. */
  fact(input) {
    const degrees = this.state.degrees[input.number];
    const most = heightOf(degrees);
    const certainty = 1 - degrees.reduce((next, degree) => (degree === most ? next : Math.max(next, degree)), 0);
    const isRead = Boolean(this.settingOf(input).degrees) && certainty < 1;
    return { input, attribute: input.name, text: this.factText(input, ({ title }) => title), certainty, isRead };
  }

  /** Return what is known of an input in words. */
  factText(input, nameOf = spokenName) {
    const { number, value, degrees: read } = this.settingOf(input);
    if (number !== undefined) return `${nameOf(input)} is ${plainNumber(input, number)}`;
    if (value !== undefined) return `${nameOf(input)} is ${valueName(input, value)}`;
    const best = winnersOf(this.state.degrees[input.number]);
    if (!read || best.length === input.values.length) return `${nameOf(input)} is unknown`;
    return valuesSentence(input, best, undefined, false, nameOf);
  }

  /** Return the places that rules leave; of the answer, its own. */
  concluded({ output, places }) {
    return output === this.attribute && this.places.length > 0 ? this.places : places;
  }

  /** Return the expression of a function; empty where it has none; null of rules that somebody wrote. */
  expression({ set }) {
    if (!set.equation) return set.isGenerated ? "" : null;
    const known = [...this.deciding, ...this.readChain.map(({ output }) => output)];
    if (!set.equation.factors.every((factor) => known.includes(factor))) return "";
    return expressionOf(this.state, set) ?? "";
  }

  /** Return what rules conclude, with their numbers or, of a function, its equation. */
  conclusion(rules) {
    const { output } = rules;
    const expression = this.expression(rules);
    if (!expression) return `${spokenValues(output, this.concluded(rules))}${this.numbers(rules, expression)}`;
    const [best] = winnersOf(this.state.degrees[output.number]);
    return `${spokenName(output)} is ${expression} = ${valueName(output, best)}`;
  }

  /** Return the numbers of rules in brackets; nothing of a function, whose nobody wrote. */
  numbers({ set, rules }, expression) {
    return expression === null ? ` (${rulesText(set, rules)})` : "";
  }

  // --- sentences ---

  get answer() {
    const names = this.places.map((place) => valueName(this.attribute, place));
    if (this.outcome === "decided") return `${names[0]}, certain ${shortDegree(this.certainty)}`;
    const more = names.length - MAX_REMAINING;
    const shown = more > 0 ? [...names.slice(0, MAX_REMAINING), `${more} more`] : names;
    const remaining = `undecided: ${listText(shown, "or")} remain`;
    if (this.scores) {
      const { best, probability } = this.scores;
      return `${remaining}; expected ${valueName(this.attribute, best)}, probability ${shortDegree(probability[best])}`;
    }
    if (this.outcome === "several") return remaining;
    if (this.outcome === "no_rule") return "undecided: no rule decides";
    const { set, rules } = this.clash;
    return `contradiction: ${rulesText(set, rules)}`;
  }

  get because() {
    if (this.scores) return asSentence(this.pointsText(this.classes.slice(0, 2)));
    if (this.outcome === "no_rule") return asSentence(this.undecided());
    if (this.clash) {
      const { set, rules } = this.clash;
      return asSentence(`${rules.map((rule) => this.ruleOfClash(set, rule)).join("; ")}.`);
    }
    return asSentence(`${this.factsText()}${this.conclusions()}.`);
  }

  /** Return what rules conclude from the facts, the answer last. */
  conclusions() {
    const chain = this.readChain;
    if (!chain.length) return "";
    const last = chain.at(-1);
    const between = chain.slice(0, -1);
    if (!between.length) return `, so ${this.conclusion(last)}`;
    const shown = between.length <= MAX_REASONS ? between : between.slice(-1);
    const steps = shown.length < between.length ? `in ${between.length} steps ` : "";
    const middle = `, so ${steps}${listText(shown.map((rules) => this.conclusion(rules)))}`;
    const names = this.places.map((place) => valueName(this.attribute, place));
    const expression = this.expression(last);
    const isClear = names.every((name) => /^\p{L}/u.test(name) && !BARE_VALUES.has(name));
    if (expression || !names.length || !isClear) return `${middle}, and so ${this.conclusion(last)}`;
    return `${middle}, and that means ${listText(names, "or")}${this.numbers(last, expression)}`;
  }

  /** Return what is known of the deciding inputs, or of some of them. */
  factsText(inputs = this.deciding) {
    const facts = this.facts.filter(({ input }) => inputs.includes(input));
    const notes = facts.map(({ certainty, isRead }) => (isRead ? `certain ${shortDegree(certainty)}` : ""));
    const isSame = facts.length > 1 && new Set(notes).size === 1;
    let texts = facts.map(({ input }, i) => `${this.factText(input)}${notes[i] && !isSame ? ` (${notes[i]})` : ""}`);
    if (texts.length > MAX_FACTS + 1) texts = [...texts.slice(0, MAX_FACTS), `${texts.length - MAX_FACTS} more facts hold`];
    const each = isSame && notes[0] ? ` (each ${notes[0]})` : "";
    return texts.length ? `${listText(texts)}${each}` : "nothing has to be known";
  }

  /** Return what a rule of a clash says, and the facts that make it say so. */
  ruleOfClash(set, rule) {
    const chainOf = (attribute) => this.chain.find(({ output }) => output === attribute);
    const chain = chainOf(set.output);
    const index = chain.rules.indexOf(rule);
    const holds = index < 0 || chain.holds[index];
    const waiting = set.premises[rule].map((number) => set.inputs[set.propositions[number].input]);
    const sources = new Set();
    while (waiting.length) {
      const source = waiting.pop();
      sources.add(source);
      waiting.push(...(chainOf(source)?.inputs ?? []));
    }
    const text = spokenValues(set.output, conclusionPlaces(set, rule, holds));
    const inputs = this.deciding.filter((input) => sources.has(input));
    const facts = inputs.length ? `, as ${this.factsText(inputs)}` : "";
    return `rule ${ruleNumber(set, rule + 1)} says that ${text}${facts}`;
  }

  /** Return what the rule that is nearest to deciding needs, else what is not known. */
  undecided() {
    const nearest = this.nearestRule();
    if (nearest) {
      const { set, rule, needs } = nearest;
      const texts = needs.map((need) => propositionSentence(need.set, need.number, needs.length > 1, spokenName));
      return `the nearest is rule ${ruleNumber(set, rule + 1)}: it needs that ${listText(texts)}.`;
    }
    const open = inputsBehind(this.state.rules, this.attribute).filter((a) => fullPlaces(this.state.degrees[a.number]).length > 1);
    let texts = open.map((input) => this.factText(input));
    if (texts.length > MAX_FACTS + 1) texts = [...texts.slice(0, MAX_FACTS), `${texts.length - MAX_FACTS} more inputs are open`];
    return `${listText(texts) || "no rule applies"}.`;
  }

  /** Return the rule that lacks least, and what it needs; null where readers can name no needs. */
  nearestRule() {
    const { set } = this.attribute;
    if (set.isGenerated) return null;
    const isRead = (needs) => needs.length && !needs.some((need) => need.set.inputs[need.set.propositions[need.number].input].isInner);
    const options = set.premises.map((_, rule) => ({ set, rule, needs: this.needs(set, rule, { set, rule }, MAX_DEPTH) }));
    const best = options.filter(({ needs }) => isRead(needs)).reduce((a, b) => (a && a.needs.length <= b.needs.length ? a : b), null);
    if (!best) return null;
    const [{ reader }] = best.needs;
    const isSingle = best.needs.every((need) => need.reader.set === reader.set && need.reader.rule === reader.rule);
    return { ...(isSingle ? reader : best), needs: best.needs };
  }

  /** Return the propositions that must be certain for a rule to hold; `reader` is the rule that readers see. */
  needs(set, rule, reader, depth) {
    const [, negated] = this.state.measures[set.output.number];
    return set.premises[rule].flatMap((number) => {
      if (negated[number] < 1) return [];
      const { input, inside } = set.propositions[number];
      const source = set.inputs[input];
      const need = { set, number, reader };
      if (source.set === null) return [need];
      const fits = (other) => depth > 0 && conclusionPlaces(source.set, other, true).every((place) => inside[place]);
      const options = [...source.set.premises.keys()].filter(fits)
        .map((other) => this.needs(source.set, other, source.isInner ? reader : { set: source.set, rule: other }, depth - 1))
        .filter((option) => option.length);
      return options.reduce((a, b) => (a && a.length <= b.length ? a : b), null) ?? [need];
    });
  }

  /** Return what the lines of a score card give to classes, most points first. */
  get classes() {
    const { card } = this.state.rules;
    const lines = card.lines.map((line, i) => ({ ...line, ...this.scores.given[i] })).filter(({ possible }) => possible > 0);
    const classes = this.attribute.values.map((_, place) => {
      const own = lines.filter((line) => line.place === place);
      own.sort((a, b) => (a.certain < 1) - (b.certain < 1) || b.gives - a.gives || b.points - a.points);
      const certain = own.filter((line) => line.certain === 1);
      const sum = (list) => list.reduce((total, { points }) => total + points, 0);
      const start = card.start[place];
      const expected = own.reduce((total, { gives }) => total + gives, 0) + start;
      return { place, own, certain, start, low: start + sum(certain), high: start + sum(own), expected, sum };
    });
    return classes.sort((a, b) => b.expected - a.expected);
  }

  /** Return the points of lines that hold, by their inputs, the most first. */
  pointGroups(certain) {
    const groups = new Map();
    for (const { conditions, points } of certain) {
      const inputs = [...new Set(conditions.map(({ attribute }) => attribute))];
      const key = inputs.map(({ number }) => number).join(" ");
      groups.set(key, { inputs, points: points + (groups.get(key)?.points ?? 0) });
    }
    return [...groups.values()].sort((a, b) => b.points - a.points);
  }

  /** Return the points of two classes in words, the start included. */
  pointsText(classes) {
    const texts = classes.map(({ place, certain, start, low, high }, i) => {
      const groups = this.pointGroups(certain);
      const parts = groups.slice(0, MAX_LINES[i])
        .map(({ inputs, points }) => `+${points} as ${listText(inputs.map((input) => this.factText(input)))}`);
      const rest = groups.slice(MAX_LINES[i]).reduce((sum, { points }) => sum + points, 0);
      if (rest) parts.push(`+${rest} by other lines`);
      if (start) parts.push(`+${start} at the start`);
      if (high > low) parts.push(`up to +${high - low} by what is not known`);
      const points = `${low} point${low === 1 ? "" : "s"}`;
      return `${points} for ${valueName(this.attribute, place)}${parts.length ? ` (${parts.join(", ")})` : ""}`;
    });
    return `${texts.join("; ")}.`;
  }

  /** Return the points of the first two classes as a card, those of the first above 0. */
  get cardContent() {
    if (!this.scores || this.attribute.values.length < 2) return null;
    const [first, second] = this.classes;
    const linesOf = ({ own, start }, sign) => [
      ...own.map((line) => ({
        text: line.text,
        points: sign * line.points,
        state: line.certain < 1 ? "unknown" : sign > 0 ? "for" : "against",
      })),
      ...(start ? [{ text: "start", points: sign * start, state: sign > 0 ? "for" : "against" }] : []),
    ];
    return {
      sides: [second, first].map(({ place }) => valueName(this.attribute, place)),
      lines: [...linesOf(first, 1), ...linesOf(second, -1)],
      sum: first.low - second.low,
      class: this.scores.best,
      probability: this.scores.probability,
    };
  }

  // --- changes ---

  get change() {
    if (this.foundChange !== undefined) return this.foundChange;
    const order = [...this.degrees.keys()].sort((i, j) => this.degrees[j] - this.degrees[i] || i - j);
    const winners = winnersOf(this.degrees);
    const rivals = order.slice(0, MAX_RIVALS + 1).filter((place) => winners.length > 1 || winners[0] !== place);
    const changes = rivals.map((place) => this.changeTo(place)).filter(Boolean);
    const isBetter = (a, b) => a.changes.length < b.changes.length || (a.changes.length === b.changes.length && a.cost < b.cost);
    this.foundChange = changes.reduce((best, one) => (best && !isBetter(one, best) ? best : one), null);
    return this.foundChange;
  }

  changeTo(place) {
    return changeTo(this.state, this.attribute, place, this.settings, CHANGE_EFFORT);
  }

  get changeText() {
    const { change } = this;
    if (!change) return "No change of the inputs was found that gives another answer.";
    const parts = change.changes.map(({ input, text, place, possible }) => {
      const name = spokenName(input);
      if (text !== undefined) return `${name} were ${text}`;
      const sentence = spokenValues(input, [place]);
      const value = sentence.startsWith(`${name} is `) ? sentence.slice(name.length + 4) : sentence;
      return `${name} were ${value}${possible > 0 && possible < 1 ? ` (possible ${shortDegree(possible)})` : ""}`;
    });
    return `If ${listText(parts)}, it would be ${valueName(this.attribute, change.place)}, certain ${shortDegree(change.certainty)}.`;
  }

  // --- firmness ---

  get howFirm() {
    if (this.outcome !== "decided") return "";
    return [this.stands(), this.limit()].filter(Boolean).join(" ");
  }

  stands() {
    const isSplit = (input) => this.state.degrees[input.number].some((degree) => degree % 1 !== 0);
    if (this.deciding.some((input) => this.settingOf(input).degrees && isSplit(input))) return this.readingMargin();
    let nearest = { distance: Infinity };
    for (const input of this.deciding) {
      const { number } = this.settingOf(input);
      if (number === undefined || !input.scale) continue;
      const [least, most] = this.safeRange(input, number);
      const span = Math.max(Math.max(number, ...input.scale.cuts) - Math.min(number, ...input.scale.cuts), 1e-12);
      const bounds = [least, most].filter((bound) => bound !== null);
      const distance = Math.min(Infinity, ...bounds.map((bound) => Math.abs(number - bound) / span));
      if (distance < nearest.distance) nearest = { distance, input, number, least, most };
    }
    const { input, number, least, most } = nearest;
    if (!input) return "Yes. No small error in an input changes it.";
    if (number === least || number === most) return `Not very. ${asSentence(this.factText(input))}, close to a threshold of the rules.`;
    const sides = [["above", least], ["below", most]].filter(([, bound]) => bound !== null);
    const bounds = input.scale.blur
      ? listText(sides.map(([side, bound]) => `${side} ${digitsText(bound, 6)}`))
      : boundsText(least ?? -Infinity, most ?? Infinity);
    return `Yes, as long as ${spokenName(input)} is ${bounds}${input.unit ? ` ${input.unit}` : ""}.`;
  }

  readingMargin() {
    const { state, attribute, question } = this;
    const [distance, alone] = question.coherent
      ? [margin(state, attribute, true).distance, inputMargins(state, attribute, true)]
      : movedMargins(state, attribute);
    if (distance >= 1) return "Yes. No error in a reading changes it.";
    const firm = distance >= 0.5 ? "Yes" : "Not very";
    if (alone[0].distance > 1) return `${firm}. Several readings would have to be off by ${shortDegree(distance)}.`;
    return `${firm}. A reading would have to be off by ${shortDegree(distance)}; ${spokenName(alone[0].input)} is the weakest.`;
  }

  /** Return the bounds between which a number may move alone while the same value is decided on. */
  safeRange(input, number) {
    const { rules, degrees } = this.state;
    const only = setsBehind(rules, [this.attribute]);
    const [winner] = winnersOf(this.degrees);
    const same = input.values.map((_, place) => {
      const inputs = rules.inputs.map((a) => (a === input ? degrees[a.number].map((__, i) => (i === place ? 1 : 0)) : degrees[a.number]));
      const found = infer(rules, inputs, { only, before: this.state }).degrees[this.attribute.number];
      return found[winner] === 1 && found.filter((degree) => degree === 1).length === 1;
    });
    const index = degrees[input.number].indexOf(1);
    if (!same[index]) return [number, number];
    let [first, last] = [index, index];
    while (first > 0 && same[first - 1]) first -= 1;
    while (last < same.length - 1 && same[last + 1]) last += 1;
    const { cuts, blur } = input.scale;
    const least = first === 0 ? null : Math.min(cuts[first - 1] + blur, number);
    const most = last === same.length - 1 ? null : Math.max(cuts[last] - blur, number);
    return [least, most];
  }

  /** Return what keeps a decision from being more certain. */
  limit() {
    const [winner] = winnersOf(this.degrees);
    const nextOf = (degrees) => degrees.reduce((most, degree, i) => (i === winner ? most : Math.max(most, degree)), 0);
    const second = nextOf(this.degrees);
    if (second === 0 || this.certainty > 0.99) return "";
    const { rules, degrees } = this.state;
    const only = setsBehind(rules, [this.attribute]);
    const crisp = (a) => degrees[a.number].map((degree) => (degree === heightOf(degrees[a.number]) ? 1 : 0));
    const helps = (names) => {
      const inputs = rules.inputs.map((a) => (names.includes(a) ? crisp(a) : degrees[a.number]));
      return nextOf(infer(rules, inputs, { only, before: this.state }).degrees[this.attribute.number]) < second;
    };
    if (helps(this.deciding)) {
      const input = this.deciding.find((one) => helps([one])) ?? this.leastCertain();
      const { certainty } = this.fact(input);
      if (!this.settingOf(input).degrees) return `It is not more certain because ${spokenName(input)} is close to a threshold of the rules.`;
      return `It is not more certain because ${spokenName(input)} is certain at ${shortDegree(certainty)} only.`;
    }
    for (const { set, rules: numbers, holds } of [...this.chain].reverse()) {
      const rule = numbers.find((number, i) => (holds[i] ? set.r : set.s)[number] >= second);
      if (rule === undefined) continue;
      const certain = shortDegree(this.certainty);
      if (this.scores) return `It is not more certain because the lead in points is certain at ${certain} only.`;
      return `It is not more certain because rule ${ruleNumber(set, rule + 1)} is certain at ${certain} only.`;
    }
    return "";
  }

  /** Return the first of the deciding inputs that read as the least certain. */
  leastCertain() {
    const seconds = this.deciding.map((input) => {
      const degrees = this.state.degrees[input.number];
      const most = heightOf(degrees);
      return Math.floor(100 * degrees.reduce((next, degree) => (degree < most ? Math.max(next, degree) : next), 0) + 0.5);
    });
    return this.deciding[seconds.indexOf(Math.max(...seconds))];
  }

  // --- the reason chain ---

  get chainContent() {
    return {
      given: this.deciding.map((input) => this.givenContent(input)),
      steps: this.readChain.map((rules) => this.stepContent(rules)),
    };
  }

  givenContent(input) {
    const { text } = this.fact(input);
    const content = { name: input.name, title: input.title, text: text.slice(text.startsWith(`${input.title} is `) ? input.title.length + 4 : 0) };
    return this.settingOf(input).degrees ? { ...content, degrees: this.degreesContent(input) } : content;
  }

  degreesContent(attribute) {
    const degrees = this.state.degrees[attribute.number];
    const order = [...degrees.keys()].sort((i, j) => degrees[j] - degrees[i] || i - j);
    const most = order.slice(0, MAX_VALUES).sort((i, j) => i - j);
    const others = (place) => degrees.reduce((next, degree, i) => (i === place ? next : Math.max(next, degree)), 0);
    const isNormal = heightOf(degrees) === 1;
    return most.map((place) => ({
      text: valueName(attribute, place),
      possible: degrees[place],
      certain: isNormal ? Math.max(0, 1 - others(place)) : 0,
    }));
  }

  stepContent(step) {
    const { set, output } = step;
    const holds = new Map(step.rules.map((rule, i) => [rule, step.holds[i]])); // a clash may use a rule both ways
    const rules = [...holds.keys()];
    const [, negated] = this.state.measures[output.number];
    const applies = (rule) => set.premises[rule].every((number) => negated[number] < 1) && set.r[rule] < 1;
    const all = [...set.premises.keys()];
    const applying = all.filter((rule) => !rules.includes(rule) && applies(rule));
    const silent = all.filter((rule) => !rules.includes(rule) && !applying.includes(rule));
    const deciding = rules.slice(0, MAX_DECIDING).map((rule) => this.ruleContent(step, rule, holds.get(rule), true));
    const others = applying.slice(0, MAX_APPLYING).map((rule) => this.ruleContent(step, rule, true, false));
    const counted = (list, verb, plural, adjective = "") => {
      if (!list.length) return null;
      const count = list.length === 1 ? `1 ${adjective}rule ${verb}` : `${list.length} ${adjective}rules ${plural}`;
      return list.length <= MAX_DECIDING ? `${count}: ${rulesText(set, list).replace(/^rules? /, "")}` : count;
    };
    return {
      name: output.name,
      title: output.title,
      degrees: this.degreesContent(output),
      rules: [...deciding, ...others],
      others: [
        counted(rules.slice(MAX_DECIDING), "decides", "decide", "more "),
        counted(applying.slice(MAX_APPLYING), "applies", "apply", "more "),
        counted(silent, "does not apply", "do not apply"),
      ].filter(Boolean),
    };
  }

  ruleContent({ set, output, inputs }, rule, holds, decides) {
    const numbers = set.premises[rule];
    const premise = numbers.map((number) => this.partText(set, number, numbers.length > 1)).join(" and ");
    const sources = numbers.map((number) => set.inputs[set.propositions[number].input]);
    const used = decides ? sources.filter((a) => inputs.includes(a)) : sources;
    const sentence = valuesSentence(output, conclusionPlaces(set, rule, holds));
    return {
      number: ruleNumber(set, rule + 1),
      premise: holds ? premise : `not (${premise})`,
      conclusion: sentence.startsWith(`${output.title} is `) ? sentence.slice(output.title.length + 4) : sentence,
      certainty: 1 - (holds ? set.r : set.s)[rule],
      decides,
      sources: [...new Set(used.flatMap((a) => this.visible(a, decides)))],
    };
  }

  /** Return a proposition in words; of a formula that holds, the formula. */
  partText(set, number, isPart) {
    const text = propositionSentence(set, number, isPart);
    const { formula } = set.inputs[set.propositions[number].input];
    if (formula === null || !text.endsWith(" is true")) return text;
    const plain = text.slice(0, -" is true".length);
    return isPart && / or /.test(plain) ? `(${plain})` : plain;
  }

  /** Return the names of the attributes that readers see behind one. */
  visible(attribute, decides) {
    if (!attribute.isInner || attribute.set === null) return [attribute.name];
    const chain = this.chain.find(({ output }) => output === attribute);
    const parts = attribute.set.inputs.filter((part) => !decides || chain.inputs.includes(part));
    return parts.flatMap((part) => this.visible(part, decides));
  }
}

/** What speaks against a value. */
class Exclusion extends Analysis {
  constructor(state, question, settings, place) {
    super(state, { ...question, place }, settings);
    this.places = [];
  }

  get possible() {
    return this.degrees[this.question.place];
  }

  findDeciding() {
    const { place } = this.question;
    const limits = this.attribute.values.map((_, i) => (i === place ? this.possible : Infinity));
    this.clash = null;
    this.rules = this.possible === 1 ? [] : decidingRules(this.state, this.attribute, limits);
    const inputs = new Set(this.rules.flatMap((rules) => rules.inputs));
    return inputsBehind(this.state.rules, this.attribute).filter((input) => inputs.has(input));
  }

  findChain() {
    return this.rules;
  }

  get because() {
    const name = valueName(this.attribute, this.question.place);
    if (!this.chain.length) return `Nothing rules out ${name}.`;
    const degree = this.possible ? `possible ${shortDegree(this.possible)} only` : "ruled out";
    if (this.scores) {
      const { classes } = this;
      const asked = classes.filter((points) => points.place === this.question.place);
      const points = [...classes.filter((other) => !asked.includes(other)).slice(0, 1), ...asked];
      return asSentence(`${name} is ${degree}: ${this.pointsText(points)}`);
    }
    return asSentence(`${name} is ${degree}: ${this.factsText()}${this.conclusions()}.`);
  }

  get change() {
    const { place } = this.question;
    const winners = winnersOf(this.degrees);
    if (this.foundChange === undefined) this.foundChange = winners.length === 1 && winners[0] === place ? null : this.changeTo(place);
    return this.foundChange;
  }
}

/** Return the settings of a change, by the names of inputs. */
const settingsOf = (change) =>
  change && Object.fromEntries(change.changes.map(({ input, setting }) => [input.name, setting]));

/** Return "7 + 1 =" where the answer is a function of attributes that have one value each. */
function prefixOf(state, { set }, outcome) {
  const expression = set.equation && outcome === "decided" ? expressionOf(state, set) : null;
  return expression === null ? "" : `${expression} =`;
}

/**
 * Return the verdict on a sample: what the endpoint ask/answer of the studio returns.
 *
 * `settings` are those of the inputs of the rules, in order; `place` is the value that is asked
 * about, or null.
 */
export function answerTo(rules, settings, degrees, name, place = null, before = null) {
  const question = rules.questions.find(({ attribute }) => attribute.name === name);
  const { attribute } = question;
  const state = infer(rules, degrees, { before });
  const found = new Analysis(state, question, settings);
  const isAnswer = place === null || (found.places.length === 1 && found.places[0] === place);
  const exclusion = isAnswer ? null : new Exclusion(state, question, settings, place);
  const verdict = {
    question: attribute.title,
    attribute: name,
    outcome: found.outcome,
    certainty: found.certainty,
    answer: found.answer,
    because: found.because,
    what_would_change_it: found.changeText,
    how_firm: found.howFirm,
    guarantee: null,
  };
  const lines = { Because: verdict.because, "What would change it": verdict.what_would_change_it, "Is it firm": verdict.how_firm };
  const text = Object.entries(lines).filter(([, line]) => line).map(([head, line]) => `${head}: ${line}`);
  return {
    state,
    verdict,
    text: [verdict.answer, ...text].join("\n"),
    set: settingsOf(found.change),
    prefix: prefixOf(state, attribute, found.outcome),
    degrees: Array.from(found.degrees),
    deciding: found.deciding.map((input) => input.name),
    clash: found.clash?.set.output.name ?? null,
    chain: (exclusion ?? found).chainContent,
    card: found.cardContent,
    whyNot: exclusion && { because: exclusion.because, change: exclusion.changeText, set: settingsOf(exclusion.change) },
  };
}
