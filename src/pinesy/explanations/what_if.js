/**
 * A live "what if" for notebooks: inputs are moved here, Python infers, bars follow.
 *
 * Texts are put in as text, never as markup. Colours are those of the page, light or dark.
 */

const BLUE = "#0072b2";
const ORANGE = "#d55e00";

/** Return an element with some properties, styles and content. */
function make(name, properties = {}, styles = {}, ...content) {
  const element = Object.assign(document.createElement(name), properties);
  Object.assign(element.style, styles);
  element.append(...content);
  return element;
}

/** Return a degree as text. */
function degreeText(degree) {
  return String(Number(degree.toPrecision(4)));
}

/** Return the place of the only value that is possible, "all" where all are, else "". */
function choiceOf(degrees) {
  if (degrees.every((degree) => degree === 1)) return "all";
  const possible = degrees.flatMap((degree, place) => (degree > 0 ? [place] : []));
  return possible.length === 1 && degrees[possible[0]] === 1 ? String(possible[0]) : "";
}

/** Return a list to choose one value from, or that nothing is known. */
function chooser(input, degrees, onMove) {
  const options = [["", "several"], ["all", "unknown"], ...input.values.entries()];
  const select = make(
    "select",
    { ariaLabel: input.name },
    {},
    ...options.map(([value, text]) => make("option", { value, textContent: text })),
  );
  select.value = choiceOf(degrees);
  select.addEventListener("change", () => {
    if (select.value === "") return;
    onMove(degrees.map((_, place) => (select.value === "all" || place === Number(select.value) ? 1 : 0)));
  });
  return select;
}

/** Return a slider for the degree of one value. */
function slider(input, degrees, place, onMove) {
  const label = `${input.name} = ${input.values[place]}`;
  const range = make("input", { type: "range", min: 0, max: 1, step: 0.01, ariaLabel: label });
  range.value = degrees[place];
  range.addEventListener("change", () => onMove(degrees.with(place, Number(range.value))));
  const text = make("span", { textContent: degreeText(degrees[place]) });
  range.addEventListener("input", () => (text.textContent = range.value));
  const name = make("span", { textContent: input.values[place] }, { minWidth: "3em" });
  return make("label", {}, { display: "flex", gap: ".5em", alignItems: "center" }, name, range, text);
}

/** Return one input: a list, and sliders to unfold. */
function inputBox(input, degrees, isOpen, onToggle, onMove) {
  const name = make("b", { textContent: input.name }, { marginRight: ".5em" });
  const parts = [name, chooser(input, degrees, onMove)];
  if (input.sliders) {
    const sliders = degrees.map((_, place) => slider(input, degrees, place, onMove));
    const summary = make("summary", { textContent: "degrees" });
    const details = make("details", { open: isOpen }, {}, summary, ...sliders);
    details.addEventListener("toggle", () => onToggle(details.open));
    parts.push(details);
  }
  return make("div", { className: "pinesy-input" }, { margin: ".4em 0" }, ...parts);
}

/** Return a bar: how possible a value is, and within it how certain. */
function bar(possible, certain) {
  const part = (share, colour) =>
    make("i", {}, { position: "absolute", inset: "0 auto 0 0", width: `${100 * share}%`, background: colour });
  const look = { position: "relative", display: "inline-block", width: "120px", height: ".7em", outline: "1px solid #8884" };
  return make("span", {}, look, part(possible, BLUE), part(certain, ORANGE));
}

/** Return the bars of one result. */
function resultBox(result) {
  const rows = result.values.map((value, i) => {
    const degrees = `${degreeText(result.possible[i])} / ${degreeText(result.certain[i])}`;
    const cells = [value, bar(result.possible[i], result.certain[i]), degrees];
    return make("tr", {}, {}, ...cells.map((cell) => make("td", {}, { textAlign: "left" }, cell)));
  });
  const parts = [make("b", { textContent: result.name }), make("table", {}, {}, ...rows)];
  if (result.left > 0) parts.push(`... ${result.left} more values`);
  if (result.note) parts.push(result.note);
  return make("div", { className: "pinesy-result" }, { margin: ".4em 0" }, ...parts);
}

function render({ model, el }) {
  const inputs = make("div");
  const results = make("div");
  const problem = make("div", { role: "alert" }, { width: "100%", color: ORANGE });
  el.append(make("div", {}, { display: "flex", flexWrap: "wrap", gap: "2em" }, inputs, results, problem));
  const open = new Set();

  function move(place, degrees) {
    model.set("degrees", model.get("degrees").with(place, degrees));
    model.save_changes();
  }
  function showInput(input, place) {
    const toggle = (isOpen) => (isOpen ? open.add(place) : open.delete(place));
    return inputBox(input, model.get("degrees")[place], open.has(place), toggle, (d) => move(place, d));
  }
  function showInputs() {
    const focused = [...inputs.querySelectorAll("select, input")].indexOf(document.activeElement);
    inputs.replaceChildren(...model.get("inputs").map(showInput));
    if (focused >= 0) inputs.querySelectorAll("select, input")[focused]?.focus();
  }
  function showResults() {
    results.replaceChildren(...model.get("results").map(resultBox));
  }
  function showProblem() {
    problem.textContent = model.get("problem");
  }
  const shown = { degrees: showInputs, results: showResults, problem: showProblem };
  for (const [name, show] of Object.entries(shown)) {
    show();
    model.on(`change:${name}`, show);
  }
  return () => Object.entries(shown).forEach(([name, show]) => model.off(`change:${name}`, show));
}

export default { render };
