/** The reason chain of a verdict, in layers: given, rules, what they conclude, the answer. */

import { make } from "./elements.js";
import { layers } from "./layers.js";
import { bar, ruleCard, shortDegree } from "./parts.js";

/** Cards of a layer; others are counted in one card. */
const MAX_CARDS = 7;

/**
 * Return the picture of a chain (see `reason_chain` in pinesy.studio).
 *
 * `images` are addresses by input; `clash` is the attribute on which rules contradict each other.
 */
export function chainPicture({ given, steps }, { images = {}, clash = null } = {}) {
  const columns = [{ title: "Given", size: "narrow", nodes: given.map((one) => givenNode(one, images)) }];
  const edges = [];
  const levels = levelsOf(steps);
  levels.forEach((level, i) => {
    const isLast = i === levels.length - 1;
    const named = level.length === 1 ? `Rules on ${level[0].title}` : "Rules";
    columns.push({ title: named, size: "wide", nodes: level.flatMap((step) => ruleNodes(step, clash)) });
    const title = isLast ? "Answer" : level.length === 1 ? "In between" : "In between";
    columns.push({ title, nodes: level.map((step) => stepNode(step, clash)) });
    for (const step of level) {
      for (const rule of step.rules) {
        const kind = rule.decides ? (step.name === clash ? "conflict" : "lit") : "";
        for (const source of rule.sources) edges.push({ from: source, to: ruleId(step, rule), kind });
        edges.push({ from: ruleId(step, rule), to: step.name, kind });
      }
    }
  });
  return layers(...folded(columns, edges));
}

const ruleId = (step, rule) => `${step.name} rule ${rule.number}`;

/** Return the steps by level: a step comes after all that its rules rest on. */
function levelsOf(steps) {
  const levelOf = new Map();
  const levels = [];
  for (const step of steps) {
    const sources = step.rules.flatMap((rule) => rule.sources);
    const level = Math.max(0, ...sources.map((name) => (levelOf.get(name) ?? -1) + 1));
    levelOf.set(step.name, level);
    (levels[level] ??= []).push(step);
  }
  return levels;
}

function degreeLines(degrees) {
  return make(
    "div",
    { class: "degrees" },
    degrees.map(({ text, possible, certain }) => [
      make("span", {}, text),
      make("span", {}, shortDegree(possible)),
      bar(possible, certain),
    ]),
  );
}

function givenNode({ name, title, text, degrees }, images) {
  const image = images[name] ? make("img", { src: images[name], alt: "" }) : null;
  const content = degrees ? degreeLines(degrees.filter(({ possible }) => possible > 0)) : make("b", {}, text);
  return { id: name, kind: "lit", content: [make("span", { class: "said" }, title), image, content] };
}

function ruleNodes(step, clash) {
  const kind = step.name === clash ? "conflict" : "lit";
  const nodes = step.rules.map((rule) => ({
    id: ruleId(step, rule),
    rule: rule.number,
    kind: rule.decides ? kind : "",
    content: ruleCard(rule),
  }));
  const off = step.others.map((text, i) => ({ id: `${step.name} others ${i}`, kind: "off", content: `${text}.` }));
  return [...nodes, ...off];
}

function stepNode(step, clash) {
  return {
    id: step.name,
    kind: step.name === clash ? "conflict" : "lit",
    content: [make("b", {}, step.title), degreeLines(step.degrees)],
  };
}

/** Return columns and edges in which long columns end with a card that counts the others. */
function folded(columns, edges) {
  const idOf = new Map();
  const short = columns.map((column, i) => {
    if (column.nodes.length <= MAX_CARDS + 1) return column;
    const rest = column.nodes.slice(MAX_CARDS);
    const id = `${i} more`;
    rest.forEach((node) => idOf.set(node.id, id));
    const kind = rest.some((node) => node.kind === "lit") ? "lit" : "off";
    const more = { id, kind, content: `and ${rest.length} more` };
    return { ...column, nodes: [...column.nodes.slice(0, MAX_CARDS), more] };
  });
  const known = new Set(short.flatMap(({ nodes }) => nodes.map(({ id }) => id)));
  const renamed = edges.map(({ from, to, kind }) => ({ from: idOf.get(from) ?? from, to: idOf.get(to) ?? to, kind }));
  return [short, renamed.filter(({ from, to }) => known.has(from) && known.has(to))];
}
