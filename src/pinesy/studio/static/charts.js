// Bars of counts, and plots that are drawn at the width that they have: their texts are never scaled.
import { counted, draw, fill, make } from "/shared/elements.js";

/** Return a share as text: 0.9667 is "96.7 %". */
export function percent(share) {
  if (share === null) return "–";
  const text = (100 * share).toFixed(1);
  return `${share === 1 || share === 0 ? Math.round(100 * share) : text} %`;
}

/** Return the range that chance allows: "66 to 89 %"; nothing of so many rows that it is narrow. */
export function chanceText(range) {
  if (!range || range[1] - range[0] < 0.02) return "";
  const whole = ([low, high]) => `${Math.round(100 * low)} to ${Math.round(100 * high)} %`;
  return `chance allows ${whole(range)}`;
}

const PARTS = [
  ["right", "right"],
  ["wrong", "wrong"],
  ["answered", "answered"],
  ["undecided", "undecided"],
  ["contradiction", "contradictory"],
];

/** Return how many rows are right, wrong and undecided, as a bar with its key. */
export function splitBar(counts) {
  const shown = PARTS.filter(([key]) => counts[key]);
  const texts = shown.map(([key, word]) => `${counted(counts[key])} ${word}`);
  const part = ([key]) => {
    const element = make("i", { class: key });
    element.style.flexGrow = counts[key];
    return element;
  };
  return make(
    "div",
    {},
    make("div", { class: "split", role: "img", "aria-label": texts.join(", ") }, shown.map(part)),
    make("div", { class: "key" }, shown.map(([key], i) => make("span", {}, make("i", { class: key }), texts[i]))),
  );
}

/** Spaces around a plot: left, right, above, below. */
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 14, 26, 42];
const HEIGHT = 220;

/**
 * Return a plot of shares.
 *
 * `x` and `y` are { range, ticks, label }; `marks(px, py)` returns what is drawn, where `px` and
 * `py` give the place of a share.
 */
export function plot({ x, y, label, marks }) {
  const svg = draw("svg", { class: "plot", role: "img", "aria-label": label, height: HEIGHT });
  const element = make("div", { class: "plot-frame" }, svg);
  const paint = () => {
    const width = Math.max(200, element.clientWidth);
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const px = (share) => LEFT + ((share - x.range[0]) / (x.range[1] - x.range[0])) * (width - LEFT - RIGHT);
    const py = (share) => HEIGHT - BOTTOM - ((share - y.range[0]) / (y.range[1] - y.range[0])) * (HEIGHT - TOP - BOTTOM);
    const whole = (share) => `${Math.round(100 * share)} %`;
    const few = x.ticks.filter((_, i) => width > 420 || (x.ticks.length - 1 - i) % 2 === 0);
    fill(
      svg,
      y.ticks.map((tick) => [
        draw("path", { class: "grid", d: `M${LEFT} ${py(tick)}H${width - RIGHT}` }),
        text(whole(tick), LEFT - 8, py(tick) + 4, "end"),
      ]),
      few.map((tick) => text(whole(tick), px(tick), HEIGHT - BOTTOM + 18, tick === x.range[1] ? "end" : tick === x.range[0] ? "start" : "middle")),
      text(x.label, (LEFT + width - RIGHT) / 2, HEIGHT - 4, "middle"),
      text(y.label, 2, 13, "start"),
      marks(px, py),
    );
  };
  new ResizeObserver(paint).observe(element);
  return element;
}

/** Return a text of a plot. */
export function text(content, x, y, anchor, kind = "") {
  return draw("text", { x, y, "text-anchor": anchor, class: kind }, content);
}

/** Return a few round shares from `low` to 1. */
function ticksFrom(low) {
  const step = [0.05, 0.1, 0.2, 0.25, 0.5].find((size) => (1 - low) / size <= 4.01) ?? 1;
  return [...Array(21).keys()].map((i) => 1 - i * step).filter((tick) => tick >= low - 1e-9);
}

const points = (pairs, px, py) => pairs.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(" ");

/** Return how often the surest rows are right: `curve` has shares of rows and of right ones. */
export function surestPlot(curve, { decided, undecided, contradiction, samples }) {
  const open = undecided + contradiction;
  const share = decided / samples;
  const seen = curve.filter(([x]) => x >= Math.min(0.05, share));
  const low = Math.min(0.9, Math.floor(10 * Math.min(...seen.map(([, y]) => y))) / 10);
  const at = curve.reduce((a, b) => (Math.abs(b[0] - share) < Math.abs(a[0] - share) ? b : a));
  const isLate = at[0] > 0.7;
  return plot({
    label: "right, by share of rows, the surest first",
    x: { range: [0, 1], ticks: [0.25, 0.5, 0.75, 1], label: "share of rows, the surest first" },
    y: { range: [low, 1], ticks: ticksFrom(low), label: "right" },
    marks: (px, py) => [
      open / samples > 0.15
        ? [
            draw("rect", { class: "open", x: px(at[0]), width: px(1) - px(at[0]), y: py(low) - 12, height: 12 }),
            text(`${counted(open)} undecided rows`, px(1), py(low) - 18, "end"),
          ]
        : null,
      draw("path", { class: "mark", d: `M${px(at[0])} ${py(low)}V${py(1)}` }),
      draw("polyline", { class: "certain", points: points(seen, px, py) }),
      draw("circle", { class: "dot chosen", r: 5, cx: px(at[0]), cy: py(at[1]) }),
      text(
        `${open ? "decided" : "all"}: ${percent(at[1])}`,
        px(at[0]) + (isLate ? -10 : 10),
        py(at[1]) + (py(at[1]) < py(1) + 20 || isLate ? 20 : -9),
        isLate ? "end" : "start",
        "strong",
      ),
    ],
  });
}

/** Return the coverage that was got at each level that was asked for. */
export function coveragePlot(levels, chosen) {
  const lowest = Math.min(...levels.map((row) => Math.min(row.level, row.low)));
  const low = Math.max(0, Math.floor(20 * lowest - 0.5) / 20);
  const line = (row) => (px, py) => {
    const is = row.level === chosen ? " chosen" : "";
    return [
      draw("path", { class: `band${is}`, d: `M${px(row.level)} ${py(row.low)}V${py(row.high)}` }),
      draw("circle", { class: `dot${is}`, r: is ? 6 : 4, cx: px(row.level), cy: py(row.observed) }),
    ];
  };
  return plot({
    label: "share of rows whose label is in the set, by level",
    x: { range: [low, 1], ticks: ticksFrom(low).reverse(), label: "asked for" },
    y: { range: [low, 1], ticks: ticksFrom(low), label: "got: the label is in the set" },
    marks: (px, py) => [
      draw("path", { class: "asked", d: `M${px(low)} ${py(low)}L${px(1)} ${py(1)}` }),
      draw("polyline", { class: "certain", points: points(levels.map((row) => [row.level, row.observed]), px, py) }),
      levels.map((row) => line(row)(px, py)),
    ],
  });
}
