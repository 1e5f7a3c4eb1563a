// Tables with heads that sort, and pages of long ones.
import { fill, make } from "/shared/elements.js";

/** Return a table: `heads` are texts or elements, `rows` lists of texts or elements. */
export function table(caption, heads, rows, attributes = {}) {
  const head = heads.map((one) => make("th", { scope: "col" }, one));
  return make(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    make(
      "table",
      attributes,
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...head)),
      make("tbody", {}, ...rows.map(line)),
    ),
  );
}

const line = (cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));

/** Return the head of a column that can be sorted by; `state` is { sort, reversed }. */
export function sortHead(text, sort, state, onSort) {
  const chosen = state.sort === sort;
  const button = make(
    "button",
    { type: "button", class: "link", onclick: () => onSort(sort, chosen && !state.reversed) },
    `${text}${chosen ? (state.reversed ? " ▲" : " ▼") : ""}`,
  );
  const order = state.reversed ? "ascending" : "descending";
  return make("th", { scope: "col", "aria-sort": chosen ? order : "none" }, button);
}

/** Buttons that turn the pages of something long: `turn(start)` is called with the first row. */
export class Pager {
  constructor(count, turn) {
    Object.assign(this, { count, start: 0 });
    const button = (text, by) =>
      make("button", { type: "button", onclick: () => turn(this.start + by * count) }, text);
    this.before = button("Previous", -1);
    this.after = button("Next", 1);
    this.text = make("span", { "aria-live": "polite" });
    this.element = make("p", { class: "pager" }, this.before, this.text, this.after);
  }

  show(start, shown, total) {
    this.start = start;
    const number = (n) => n.toLocaleString("en");
    const what = shown ? `${number(start + 1)} to ${number(start + shown)}` : "none";
    fill(this.text, ` ${what} of ${number(total)} `);
    this.before.disabled = start === 0;
    this.after.disabled = start + shown >= total;
    this.element.hidden = total <= this.count;
  }
}

/** Return a number with four digits. */
export function short(x) {
  return String(Number(x.toPrecision(4)));
}

/** Return a share as text: 0.9667 is "96.7 %". */
export function percent(share) {
  return share === null ? "–" : `${(100 * share).toFixed(1)} %`;
}

/** Return a choice among values: [[value, text], ...]. */
export function choice(options, chosen, attributes = {}) {
  return make(
    "select",
    attributes,
    ...options.map(([value, text]) => make("option", { value, selected: value === chosen }, text)),
  );
}

/** Return a labelled field. */
export function field(text, input) {
  return make("label", { class: "field" }, make("span", {}, text), input);
}
