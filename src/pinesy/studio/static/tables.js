// Tables with heads that sort, and pages of long ones.
import { button, counted, fill, make } from "/shared/elements.js";

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
  const arrow = chosen ? (state.reversed ? " ▲" : " ▼") : "";
  const press = () => onSort(sort, chosen && !state.reversed);
  const order = state.reversed ? "ascending" : "descending";
  return make("th", { scope: "col", "aria-sort": chosen ? order : "none" }, button(text + arrow, press, { class: "link" }));
}

/** Buttons that turn the pages of something long: `turn(start)` is called with the first row. */
export class Pager {
  constructor(count, turn) {
    Object.assign(this, { count, start: 0 });
    this.before = button("Previous", () => turn(Math.max(0, this.start - count)));
    this.after = button("Next", () => turn(this.start + count));
    this.text = make("span", { "aria-live": "polite" });
    this.element = make("p", { class: "pager" }, this.before, this.text, this.after);
  }

  show(start, shown, total) {
    this.start = start;
    const what = shown ? `${counted(start + 1)} to ${counted(start + shown)}` : "none";
    fill(this.text, ` ${what} of ${counted(total)} `);
    this.before.disabled = start === 0;
    this.after.disabled = start + shown >= total;
    this.element.hidden = total <= this.count;
  }
}

/** Return a share as text: 0.9667 is "96.7 %". */
export function percent(share) {
  return share === null ? "–" : `${(100 * share).toFixed(1)} %`;
}

/** Return a choice among values: [[value, text], ...]. */
export function choice(options, chosen, attributes = {}) {
  const option = ([value, text]) => make("option", { value, selected: value === chosen }, text);
  return make("select", attributes, options.map(option));
}

/** Return names to choose among. */
export function named(names, chosen = null) {
  return names.map((name) => make("option", { value: name, selected: name === chosen }, name));
}

/** Return a box for each name, all of them checked. */
export function checks(names) {
  const box = (name) => make("input", { type: "checkbox", value: name, checked: true });
  return names.map((name) => make("label", {}, box(name), ` ${name} `));
}

/** Return the names of the boxes in an element that are checked, or that are not. */
export function namesChecked(element, wanted = true) {
  const boxes = [...element.querySelectorAll("input")];
  return boxes.filter((box) => box.checked === wanted).map((box) => box.value);
}

/** Return fields in a row. */
export const fields = (...content) => make("p", { class: "fields" }, ...content);

/** Return a labelled field. */
export function field(text, input) {
  return make("label", { class: "field" }, make("span", {}, text), input);
}
