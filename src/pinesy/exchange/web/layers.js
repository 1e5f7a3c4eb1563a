/**
 * Cards in layers, with edges in the gaps between them.
 *
 * An edge that skips a layer runs through a lane of its own there, so none passes behind a card.
 * On narrow screens the layers are stacked (parts.css) and no edges are drawn.
 */

import { draw, fill, make } from "./elements.js";

/**
 * Return layers of cards.
 *
 * `columns` are { title, size, nodes } with nodes { id, kind, content }; `size` is "wide" or
 * "narrow", `kind` "lit", "conflict" or "off". `edges` are { from, to, kind } from one column to a
 * later one.
 */
export function layers(columns, edges) {
  const cards = new Map();
  const columnOf = new Map(columns.flatMap(({ nodes }, i) => nodes.map(({ id }) => [id, i])));
  const bodies = columns.map(({ nodes }) =>
    make("div", {}, nodes.map(({ id, kind = "", content }) => {
      cards.set(id, make("div", { class: `node ${kind}`, "data-node": id }, content));
      return cards.get(id);
    })),
  );
  const hops = new Map();
  for (const { from, to, kind = "" } of edges) {
    const stops = [from];
    for (let i = columnOf.get(from) + 1; i < columnOf.get(to); i++) stops.push(lane(`${i} ${from}`, bodies[i], cards));
    stops.push(to);
    for (let i = 1; i < stops.length; i++) {
      const key = `${stops[i - 1]}\n${stops[i]}`;
      const known = hops.get(key);
      hops.set(key, { from: cards.get(stops[i - 1]), to: cards.get(stops[i]), kind: known?.kind || kind });
    }
  }
  const svg = draw("svg", { "aria-hidden": "true" });
  const element = make(
    "div",
    { class: "layers" },
    columns.map(({ title = "", size = "" }, i) => make("div", { class: `layer ${size}` }, make("h3", {}, title), bodies[i])),
    svg,
  );
  new ResizeObserver(() => drawEdges(element, svg, [...hops.values()])).observe(element);
  return element;
}

function lane(id, body, cards) {
  if (!cards.has(id)) {
    cards.set(id, make("div", { class: "lane" }));
    body.append(cards.get(id));
  }
  return id;
}

/** Draw the edges between cards where they are now, those that decide last. */
function drawEdges(element, svg, hops) {
  const frame = element.getBoundingClientRect();
  const boxes = new Map();
  const box = (card) => {
    if (!boxes.has(card)) {
      const { left, right, top, height } = card.getBoundingClientRect();
      boxes.set(card, { left: left - frame.left, right: right - frame.left, top: top - frame.top, height });
    }
    return boxes.get(card);
  };
  const middle = (card) => box(card).top + box(card).height / 2;
  const port = (hop, side, other) => {
    const card = hop[side];
    const mates = hops.filter((one) => one[side] === card).sort((a, b) => middle(a[other]) - middle(b[other]));
    return box(card).top + (box(card).height * (mates.indexOf(hop) + 1)) / (mates.length + 1);
  };
  const path = (hop) => {
    const { from, to, kind } = hop;
    const isLane = (card) => card.className === "lane";
    const [x1, x2] = [box(from).right, box(to).left];
    const y1 = isLane(from) ? middle(from) : port(hop, "from", "to");
    const y2 = isLane(to) ? middle(to) : port(hop, "to", "from");
    const start = isLane(from) ? `M${box(from).left} ${y1}H${x1}` : `M${x1} ${y1}`;
    const bend = (x1 + x2) / 2;
    return draw("path", { class: kind, d: `${start}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}` });
  };
  const order = ["", "conflict", "lit"];
  const sorted = [...hops].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  fill(svg, sorted.map(path));
}
