// Controls that views share: pages of long lists, choices, fields, empty states.
import { button, counted, fill, make } from "/shared/elements.js";

/** Return a table: `heads` are texts or elements, `rows` lists of cells (td). */
export function table(heads, rows, attributes = {}) {
  const head = heads.map((one) => make("th", { scope: "col" }, one));
  return make(
    "table",
    { class: "table", ...attributes },
    make("thead", {}, make("tr", {}, head)),
    make("tbody", {}, rows),
  );
}

/** Buttons that turn the pages of something long: `turn(start)` is called with the first row. */
export class Pager {
  constructor(count, turn) {
    Object.assign(this, { count, start: 0 });
    const press = (text, start) => button(text, () => turn(start()), { class: "btn tiny" });
    this.before = press("Previous", () => Math.max(0, this.start - count));
    this.after = press("Next", () => this.start + count);
    this.text = make("span", { "aria-live": "polite" });
    this.element = make("p", { class: "pager" }, this.before, this.text, this.after);
  }

  /** Say which rows are shown; `note` stands after it. */
  show(start, shown, total, note = "") {
    this.start = start;
    const what = shown ? `${counted(start + 1)} to ${counted(start + shown)}` : "none";
    fill(this.text, `${what} of ${counted(total)}. ${note}`);
    this.before.disabled = start === 0;
    this.after.disabled = start + shown >= total;
    this.before.hidden = this.after.hidden = total <= this.count;
  }
}

/** Return a choice among values: [[value, text], ...]. */
export function choice(options, chosen, attributes = {}) {
  const option = ([value, text]) => make("option", { value, selected: value === chosen }, text);
  return make("select", attributes, options.map(option));
}

/** Return buttons of which one is pressed: [[value, text], ...]. */
export function segments(label, options, chosen, onChoose) {
  const one = ([value, text]) => button(text, () => onChoose(value), { "aria-pressed": String(value === chosen) });
  return make("span", { class: "segments", role: "group", "aria-label": label }, options.map(one));
}

/** Return a box for each name, all of them checked. */
export function checks(names) {
  const box = (name) => make("input", { type: "checkbox", value: name, checked: true });
  return names.map((name) => make("label", {}, box(name), ` ${name} `));
}

/** Return the names of the boxes in an element that are checked. */
export function namesChecked(element) {
  return [...element.querySelectorAll("input:checked")].map((box) => box.value);
}

/** Return a labelled field. */
export function field(text, input) {
  return make("label", { class: "choice-field" }, make("span", {}, text), input);
}

/** Return a card that says why there is nothing, and what to do. */
export function empty(title, text, ...content) {
  return make(
    "section",
    { class: "card", "aria-label": title },
    make("div", { class: "empty" }, make("h2", {}, title), make("p", { class: "quiet" }, text), content),
  );
}

/** Return a card that says what went wrong, with a button to try again. */
export function failure(error, again) {
  const sign = make("span", { class: "sign conflict", "aria-hidden": "true" }, "!");
  const text = make("p", { class: "mark", role: "alert" }, sign, error.message);
  return empty("This could not be shown", "Nothing is lost: the rules and the data are as they were.", text, button("Try again", again, { class: "btn" }));
}

/** Return what a view without data says, or null if there is data: `state` is that of the work. */
export function missingData({ reading, rows, problem }, columns = []) {
  if (problem) return empty("The data cannot be read", problem);
  if (reading) return empty("The data is being read", `${counted(rows)} rows so far.`);
  if (rows) return null;
  return empty(
    "No data yet",
    "With a table of past cases you see how often the rules are right, which labels are suspicious, and get answers with a guarantee.",
    make("p", { class: "small quiet" }, "Start the studio with a CSV, JSON Lines or Parquet file:"),
    make("pre", {}, "pinesy studio RULES DATA"),
    columns.length
      ? [
          make("p", { class: "small quiet" }, "One column for each input, and one with the true answer; an empty cell is unknown:"),
          make("pre", {}, columns.join(",")),
        ]
      : null,
  );
}
