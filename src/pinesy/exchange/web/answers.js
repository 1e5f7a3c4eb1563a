/** The answers about one value: why it has its degrees, why it did not win, and the margin. */

import { cardReasons } from "./card_view.js";
import { button, degreeText, fill, listed, make, shortList } from "./elements.js";
import { winnersOf } from "./engine.js";
import { explanationTree, restraintLine } from "./tree.js";
import { inputMargins, inputsBehind, margin, singleChanges, whyNot } from "./why.js";
import { nameOf, valueText } from "./words.js";

/** Inputs that are named as the most delicate. */
const DELICATE = 3;
/** Inputs up to which the margin of each alone is asked for. */
const MAX_ALONE = 100;
/** Milliseconds after a change before the margin is worked out: sliders send many. */
const MARGIN_WAIT = 60;

/** Return how far the inputs may move before the decision can change, in words. */
export function marginText(state, attribute) {
  const name = nameOf(attribute);
  if (state.heights[attribute.number] < 1) {
    return "Margin: none. The rules contradict each other: nothing is decided.";
  }
  const { distance, exact } = margin(state, attribute);
  if (distance === 0) {
    return `Margin: 0. Several values of ${name} are most possible: nothing is decided.`;
  }
  if (distance === Infinity) {
    return `Margin: unlimited. No inputs make another value of ${name} most possible.`;
  }
  const stays = `While all input degrees move by less, ${name} keeps its most possible value`;
  if (!exact) {
    return `Margin: at least ${degreeText(distance)}. ${stays}; it may keep it beyond that.`;
  }
  const all = `Margin: ${degreeText(distance)}. ${stays}; moves of just as much can change it.`;
  return all + aloneText(state, attribute);
}

function aloneText(state, attribute) {
  const number = inputsBehind(state.rules, attribute).length;
  if (number === 1 || number > MAX_ALONE) return "";
  const bounded = inputMargins(state, attribute).filter(({ distance }) => distance < Infinity);
  if (!bounded.length) return " No input alone can change it.";
  const texts = bounded.map(({ input, distance }) => `${nameOf(input)} (${degreeText(distance)})`);
  return ` Inputs that can change it alone: ${listed(texts, "and", DELICATE)}.`;
}

/** Return a line for the margin, which is written once nothing else is to be done. */
function marginLine(state, attribute) {
  const line = make("p", { class: "margin" }, "Margin: ...");
  const write = () => line.isConnected && fill(line, marginText(state, attribute));
  setTimeout(write, MARGIN_WAIT);
  return line;
}

function whyNotLines(state, attribute, place, plain, onTry, card) {
  const found = make("div", { "aria-live": "polite" });
  const search = () => fill(found, changeLines(state, attribute, place, plain, onTry));
  return [
    make("h3", {}, `Why not ${valueText(attribute, place)}?`),
    card ? null : restraintLines(state, attribute, place),
    button("Which one input would change it?", search, { class: "search" }),
    found,
  ];
}

/** Return the rules that limit a value, and the inputs behind them. */
function restraintLines(state, attribute, place) {
  const { restraints, bottlenecks, cut } = whyNot(state, attribute, place);
  const own = restraints.filter((one) => one.attribute === attribute);
  return [
    own.length ? shortList(own, restraintLine) : make("p", {}, "No rule limits it: others are as possible."),
    bottlenecks.length ? make("p", {}, "Behind this, of the inputs:") : null,
    bottlenecks.length
      ? shortList(
          bottlenecks,
          (one) => `${valueText(one.attribute, one.place)} has possibility ${degreeText(one.degree)}`,
        )
      : null,
    cut ? make("p", {}, "There may be more: the search was cut after 1000 rules.") : null,
  ];
}

/** Return the changes of one input that make a value the only winner, each with a button. */
function changeLines(state, attribute, place, plain, onTry) {
  const { changes, complete } = singleChanges(state, attribute, place, plain);
  const wins = valueText(attribute, place);
  if (!changes.length) {
    return make("p", {}, `No one input makes ${wins} the only winner${complete ? "" : " among those tried"}.`);
  }
  return shortList(changes, (change) => [
    `If ${nameOf(change.input)} were ${plain ? "" : "read as "}${change.input.values[change.place]}, ${wins} would win. `,
    button("try it", () => onTry(change)),
  ]);
}

/** Return what else is possible, which bounds how certain a value is. */
function rivalLine(state, attribute, place) {
  const others = Array.from(state.degrees[attribute.number], (d, i) => (i === place ? -1 : d));
  const rivals = winnersOf(others);
  if (others.length < 2 || others[rivals[0]] === 0) return null;
  const names = listed(rivals.map((i) => attribute.values[i]), "or");
  return make("p", {}, `Of the other values, ${names} is possible at ${degreeText(others[rivals[0]])}.`);
}

/**
 * Return all answers about a value. `plain`: every input is a value, a number or unknown;
 * `onTry(change)` sets the input of a change. Of a score card its lines are the reasons.
 */
export function answersOn(state, attribute, place, plain, onTry) {
  const card = state.rules.card?.output === attribute ? state.rules.card : null;
  const winners = winnersOf(state.degrees[attribute.number]);
  const wins = winners.length === 1 && winners[0] === place;
  const isInput = attribute.set === null;
  return [
    make("h3", {}, `Why ${valueText(attribute, place)}?`),
    card ? cardReasons(card, state.degrees, place) : explanationTree(state, attribute, place),
    rivalLine(state, attribute, place),
    wins || isInput ? null : whyNotLines(state, attribute, place, plain, onTry, card),
    isInput ? null : marginLine(state, attribute),
  ];
}
