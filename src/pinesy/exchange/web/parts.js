/**
 * Parts of the studio and the page: bars, legends, cards, lists, notices.
 *
 * They lay out what they are given; the words of a verdict come from `pinesy.verdicts`, or in the
 * page from verdict.js, which gives the same.
 */

import { button, fill, make } from "./elements.js";

/** Return a degree as people read it: 0.80, <0.01, >0.99; 1 and 0 only if it is. */
export function shortDegree(degree) {
  if (degree === 0 || degree === 1) return String(degree);
  if (degree < 0.01) return "<0.01";
  return degree > 0.99 ? ">0.99" : twoDigits(degree);
}

/** Return a number with two digits; one in the middle of two is rounded to the even one. */
function twoDigits(number) {
  const [, even] = /^(\d*\.\d[02468])50*$/.exec(number.toPrecision(60)) ?? [];
  return even ?? number.toFixed(2);
}

/** Return a degree bar; `kind` is "", "undecided" or "conflict". */
export function bar(possible, certain, kind = "") {
  const part = (name, degree) => {
    const element = make("i", { class: name, hidden: degree <= 0 });
    element.style.width = `${Math.max(100 * degree, 0.8)}%`;
    return element;
  };
  const parts = [part("possible", possible), part("certain", certain)];
  return make("span", { class: `bar ${kind}`, "aria-hidden": "true" }, parts);
}

/** Return the legend of degree bars. */
export function legend() {
  return make(
    "div",
    { class: "legend" },
    make("span", {}, bar(1, 0), "possible: not ruled out"),
    make("span", {}, bar(1, 1), "certain: all else is ruled out"),
  );
}

/** Return the legend of a reason chain. */
export function pathLegend() {
  return make(
    "div",
    { class: "legend" },
    make("span", {}, make("i", { class: "path lit" }), "decides"),
    make("span", {}, make("i", { class: "path" }), "applies, but does not decide"),
  );
}

/** Return the number of a rule in a sentence; `onRule(number)` is called when it is pressed. */
export function chip(number, onRule, kind = "") {
  const attributes = { class: `chip ${kind}`, "aria-label": `rule ${number}` };
  return button(number, () => onRule(Number(number)), attributes);
}

/** Rules whose chips a sentence has; more are counted. */
const CHIPS = 4;

/** Return a sentence in which "(rule 2)" and "rules 2 and 7" have their numbers as chips. */
export function withChips(sentence, onRule, kind = "") {
  const list = "\\d+(?:(?:, | and )\\d+)*";
  const parts = sentence.split(new RegExp(`((?:\\S+ )?\\(rules? ${list}\\)[.,;]?|\\brules? ${list})`));
  return parts.map((part, i) => {
    if (i % 2 === 0) return part;
    const open = part.lastIndexOf("(rule");
    const numbers = part.slice(Math.max(open, 0)).match(/\d+/g);
    const hidden = numbers.length - CHIPS > 1 ? numbers.length - CHIPS : 0;
    const [first, ...others] = numbers.slice(0, numbers.length - hidden).map((number) => chip(number, onRule, kind));
    const rest = [others.map((other) => [" ", other]), hidden ? ` and ${hidden} more rules` : ""];
    if (open < 0) return [part.match(/^rules? /)[0], first, rest];
    // The word before stays on the line of its chip.
    const end = part.slice(part.lastIndexOf(")") + 1);
    const alone = numbers.length === 1 ? end : "";
    return [make("span", { class: "keep" }, part.slice(0, open), first, alone), rest, alone ? "" : end];
  });
}

/** Return a card with a title; `tools` stand at the right of it. */
export function card(title, tools, ...content) {
  return make("section", { class: "card", "aria-label": title }, make("header", {}, make("h2", {}, title), tools), content);
}

/**
 * The verdict, large, with a line for each question below it.
 *
 * `show` takes { kind, question, value, prefix, how, also, possible, certain, lines, tools }: `kind`
 * is "decided", "several", "none", "conflict" or "start"; `prefix` stands before the value, small;
 * `lines` are pairs of a head and content.
 */
export class VerdictCard {
  constructor() {
    this.element = make("section", { class: "card verdict", "aria-label": "verdict", "aria-live": "polite" });
    this.lines = make("dl", {});
  }

  show({ lines = [], ...answer }) {
    fill(this.lines, lines.map(([head, content]) => [make("dt", {}, head), make("dd", {}, content)]));
    this.lines.setAttribute("aria-busy", "false");
    this.showAnswer(answer);
  }

  /** Show the answer; the lines below it keep their place, dimmed, until `show` has those of it. */
  showNext(answer) {
    this.lines.setAttribute("aria-busy", "true");
    this.showAnswer(answer);
  }

  showAnswer({ kind, question, value, prefix = "", how = "", also = "", possible = 1, certain = 0, tools = [] }) {
    const look = { decided: "", conflict: "conflict" }[kind] ?? "undecided";
    this.element.dataset.kind = kind;
    fill(
      this.element,
      make("div", { class: "eyebrow" }, make("span", {}, question), make("span", {}, tools)),
      make(
        "div",
        { class: "answer" },
        make("span", { class: "value" }, prefix ? [make("small", {}, prefix), " "] : null, value),
        how ? make("span", { class: kind === "decided" ? "how" : "how words" }, how) : null,
        also ? make("span", { class: "also" }, also) : null,
      ),
      kind === "start" ? null : bar(possible, certain, look),
      this.lines,
    );
  }

  /** Dim what is shown while the next answer is computed; say it only when it is there. */
  set busy(busy) {
    this.element.setAttribute("aria-busy", String(busy));
  }
}

/** Values of a long domain that are listed: the most possible. */
const LISTED = 6;

/**
 * Return every value with its degrees, each a button.
 *
 * `values` are { index, text, possible, certain } in the order of the domain; `onPick(index)` asks
 * about one, `onAll()` shows those that are hardly possible too.
 */
export function valueList({ values, picked = null, kind = "decided", all = false, onPick, onAll }) {
  const shown = all ? values : listedValues(values);
  const rest = values.filter((value) => !shown.includes(value));
  const most = Math.max(0, ...rest.map((value) => value.possible));
  return make(
    "div",
    { class: "values" },
    make("div", { class: "heads" }, ["", "", "possible", "certain"].map((text) => make("span", {}, text))),
    shown.map((value) => valueRow(value, value.index === picked, kind, onPick)),
    rest.length ? restLine(rest.length, most, values.length, onAll) : null,
  );
}

function restLine(count, most, total, onAll) {
  const other = count === 1 ? "1 other value" : `${count} other values`;
  const atMost = most >= 0.01 && count > 1 ? " at most" : "";
  return make(
    "div",
    { class: "rest" },
    `${other}: possible ${shortDegree(most)}${atMost}. `,
    button(`Show all ${total}`, onAll, { class: "link", "data-all": true }),
  );
}

/** Return the values of a domain to list: all of a short one, else the most possible. */
function listedValues(values) {
  if (values.length <= LISTED + 1) return values;
  const order = [...values].sort((a, b) => b.possible - a.possible || a.index - b.index);
  const full = order.filter((value) => value.possible === 1).length;
  const most = order.slice(0, full > LISTED ? 2 * LISTED : LISTED);
  const likely = most.filter((value) => value.possible >= 0.01);
  return (likely.length > 1 ? likely : most.slice(0, 3)).sort((a, b) => a.index - b.index);
}

function valueRow({ index, text, possible, certain }, isPicked, kind, onPick) {
  const undecided = !["decided", "conflict"].includes(kind) && possible === 1;
  const look = undecided ? "undecided" : kind === "conflict" ? "conflict" : "";
  return button(
    [
      make("span", { class: possible === 1 ? "name full" : "name" }, text),
      bar(possible, certain, look),
      make("span", { class: "number" }, shortDegree(possible)),
      make("span", { class: certain ? "number certain" : "number zero" }, shortDegree(certain)),
    ],
    () => onPick(index),
    {
      class: "row",
      "data-index": index,
      "aria-pressed": String(isPicked),
      "aria-label": `${text}: possible ${shortDegree(possible)}, certain ${shortDegree(certain)}`,
    },
  );
}

/** Return a rule: its number, its premise in words, its conclusion, how certain it is. */
export function ruleCard({ number, premise, conclusion, certainty = null }) {
  return make(
    "div",
    { class: "rule" },
    certainty === null ? null : make("span", { class: "certainty", title: "how certain the rule is" }, shortDegree(certainty)),
    make("span", { class: "number" }, number),
    premise,
    make("span", { class: "arrow" }, " → "),
    make("b", {}, conclusion),
  );
}

/** Return what rules still need, the nearest first: { number, needs, title, conclusion }. */
export function nearRules(rules) {
  const line = ({ number, needs, title, conclusion }) =>
    make(
      "li",
      { class: "rule" },
      make("span", { class: "number" }, number),
      "needs that ",
      make("b", {}, needs),
      make("span", { class: "arrow" }, " → "),
      `${title} ${conclusion}`,
    );
  return make("div", { class: "near" }, make("h3", {}, "What rules still need, the nearest first"), make("ul", {}, rules.map(line)));
}

/**
 * Return a score card as a tug of points for one of two sides.
 *
 * `sides` are the names of the side at the left and the right; `lines` are { text, points, state }:
 * points above 0 count for the right side; `state` is "for", "against", "unknown" or "off"; `sum`
 * are the points in all.
 */
export function pointsCard({ sides, lines, sum }) {
  const most = Math.max(1, ...lines.map(({ points }) => Math.abs(points)));
  const head = ["", "", sides.join(" · "), "points"].map((text) => make("span", { class: "head" }, text));
  const signed = (points) => (points > 0 ? `+${points}` : String(points).replace("-", "−"));
  const line = ({ text, points, state }) => [
    make("span", { class: state === "off" ? "off" : "" }, text),
    make("span", { class: "quiet" }, { unknown: "unknown", off: "no" }[state] ?? ""),
    make("span", { class: "tug" }, state === "off" ? null : tug(points / most, state)),
    make("span", { class: state === "off" ? "points off" : "points" }, signed(points)),
  ];
  const total = ["sum", "", "", signed(sum)].map((text, i) => make("span", { class: i === 3 ? "sum points" : "sum" }, text));
  return make("div", { class: "scores" }, head, lines.map(line), total);
}

function tug(share, state) {
  const element = make("i", { class: state });
  element.style.width = `${50 * Math.abs(share)}%`;
  element.style[share > 0 ? "left" : "right"] = "50%";
  return element;
}

/** Milliseconds after which a notice that is no error goes. */
const NOTICE_TIME = 5000;
/** Notices that lie over the page at a time. */
const MAX_NOTICES = 2;

/**
 * Show a notice over the page; return it, to be removed.
 *
 * `kind` is "note", "warning" or "error": errors and notices with actions stay until they are
 * closed. `actions` are functions by the texts of their buttons.
 */
export function notice(host, text, kind = "note", actions = {}) {
  const isError = kind === "error";
  const close = () => element.remove();
  const press = (action) => () => {
    close();
    action();
  };
  const buttons = Object.entries(actions).map(([name, action]) => button(name, press(action), { class: "link" }));
  const element = make(
    "div",
    { class: `notice ${kind}`, role: isError ? "alert" : "status" },
    make("span", { class: isError ? "sign conflict" : "sign certain", "aria-hidden": "true" }, kind === "note" ? "✓" : "!"),
    make("p", {}, text),
    button("×", close, { class: "icon", "aria-label": "close" }),
    buttons.length ? make("div", { class: "actions" }, buttons) : null,
  );
  host.append(element);
  while (host.children.length > MAX_NOTICES) host.firstChild.remove();
  if (!isError && !buttons.length) setTimeout(close, NOTICE_TIME);
  return element;
}
