/** What a score card gives on a sample, in words and as a table. */

import { scoreCard, unknownOf } from "./card.js";
import { degreeText, listed, make, shortList } from "./elements.js";
import { nameOf } from "./words.js";

const pointsText = (points) => String(Number(points.toPrecision(4)));

/** Return which class is predicted, how probable it is, and the points of all. */
export function predictionText(card, scores) {
  const { values } = card.output;
  const order = [...values.keys()].sort((i, j) => scores.totals[j] - scores.totals[i] || i - j);
  const texts = order.map((place) => `${pointsText(scores.totals[place])} for ${values[place]}`);
  const chance = degreeText(scores.probability[scores.best]);
  return `Predicted: ${values[scores.best]}, with probability ${chance}. Points: ${listed(texts)}.`;
}

/** Return what a line gives and why, in words. */
export function lineText(line, { gives, certain }, degrees) {
  const text = `+${pointsText(gives)}: ${line.text} [${line.record}]`;
  if (certain === 1) return text;
  const unknown = unknownOf(line, degrees);
  const names = listed(unknown.map(nameOf), "and", unknown.length);
  const open = unknown.length ? `${names} ${unknown.length > 1 ? "are" : "is"} not known` : "not certain";
  return `${text}: ${open} (${line.points} if it holds, 0 if not)`;
}

/** Return the lines that give points to a value, or may, and what it starts with. */
export function cardReasons(card, degrees, place) {
  const { given } = scoreCard(card, degrees);
  const shown = card.lines
    .map((line, i) => ({ line, on: given[i] }))
    .filter(({ line, on }) => line.place === place && on.possible > 0)
    .sort((a, b) => b.on.gives - a.on.gives);
  const texts = shown.map(({ line, on }) => lineText(line, on, degrees));
  if (card.start[place]) texts.push(`+${card.start[place]}: at the start`);
  if (!texts.length) return make("p", {}, "No line gives it points.");
  return shortList(texts, (text) => text, 8);
}

/** Return the card as a table; lines that give points on the sample are marked. */
export function cardTable(card, scores) {
  const { values } = card.output;
  const cells = (name, texts) => texts.map((text) => make(name, {}, text));
  const starts = card.start.map((points, place) => [points, place]).filter(([points]) => points);
  const head = ["if", "then for", "points", "if not known", "in training", "here"];
  return make(
    "table",
    { class: "card" },
    make("thead", {}, make("tr", {}, cells("th", head))),
    make(
      "tbody",
      {},
      starts.map(([points, place]) =>
        make("tr", { class: "gives" }, cells("td", ["start", values[place], `+${points}`, "", "", `+${points}`]))),
      card.lines.map(({ text, place, points, undetermined, record }, i) => {
        const { gives, possible } = scores.given[i];
        const here = possible > 0 ? `+${pointsText(gives)}` : "";
        const row = [text, values[place], `+${points}`, `+${undetermined}`, record, here];
        return make("tr", possible > 0 ? { class: "gives" } : {}, cells("td", row));
      }),
    ),
  );
}
