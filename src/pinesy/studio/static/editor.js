// A text area over a coloured copy of the lines that are in sight: texts of any length stay quick.
import { fill, make } from "/shared/elements.js";

/** Lines that are coloured above and below those in sight. */
const MARGIN = 10;
const TOKEN = /(?<comment>#.*)|(?<string>"(?:[^"\\]|\\.)*"?|`[^`]*`?)|(?<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<word>[\p{L}_][\p{L}\p{N}_]*(?:-[\p{L}_][\p{L}\p{N}_]*)*)/gu;

export class Editor {
  /** `onEdit()` is called when the text is another. */
  constructor(keywords, onEdit) {
    this.keywords = new Set(keywords);
    this.problem = null;
    this.area = make("textarea", {
      spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "rules",
    });
    this.area.setAttribute("aria-describedby", "rules-problem");
    this.lines = make("pre", { "aria-hidden": "true" });
    this.numbers = make("pre", { "aria-hidden": "true", class: "numbers" });
    this.element = make("div", { class: "editor" }, this.numbers, make("div", { class: "sheet" }, this.lines, this.area));
    this.area.addEventListener("input", () => {
      this.problem = null;
      this.paint();
      onEdit();
    });
    this.area.addEventListener("scroll", () => this.paint());
    new ResizeObserver(() => this.paint()).observe(this.area);
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.problem = null;
    this.paint();
  }

  /** Mark the place of an error, counted from 1; null for none. */
  mark(problem) {
    this.problem = problem;
    this.paint();
  }

  /** Put the cursor at a place. */
  go(line, column) {
    const lines = this.text.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    // Places are counted in characters as Python has them; JavaScript's may be longer.
    const within = [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
    this.area.focus();
    this.area.setSelectionRange(before + within, before + within);
    this.area.scrollTop = Math.max(0, (line - 4) * this.height);
  }

  get height() {
    return parseFloat(getComputedStyle(this.area).lineHeight) || 20;
  }

  paint() {
    const { scrollTop, scrollLeft, clientHeight } = this.area;
    const height = this.height;
    const lines = this.text.split("\n");
    const first = Math.max(0, Math.floor(scrollTop / height) - MARGIN);
    const last = Math.min(lines.length, Math.ceil((scrollTop + clientHeight) / height) + MARGIN);
    const shown = lines.slice(first, last);
    fill(this.lines, shown.flatMap((line, i) => [...this.colour(line, first + i + 1), "\n"]));
    fill(this.numbers, shown.map((_, i) => this.number(first + i + 1)));
    const down = first * height - scrollTop;
    this.lines.style.transform = `translate(${-scrollLeft}px, ${down}px)`;
    this.numbers.style.transform = `translateY(${down}px)`;
  }

  number(line) {
    return make("span", { class: this.problem?.line === line ? "wrong" : null }, `${line}\n`);
  }

  colour(line, number) {
    const found = [];
    let at = 0;
    for (const match of line.matchAll(TOKEN)) {
      found.push([line.slice(at, match.index), null], [match[0], this.kind(match)]);
      at = match.index + match[0].length;
    }
    found.push([line.slice(at), null]);
    const parts = found.filter(([text]) => text);
    return this.problem?.line === number ? this.underlined(line, parts) : parts.map(span);
  }

  kind({ 0: text, groups }) {
    if (groups.word) return this.keywords.has(text) ? "keyword" : null;
    return Object.keys(groups).find((name) => groups[name] !== undefined);
  }

  /** Return parts of a line, the one at the error's column marked. */
  underlined(line, parts) {
    const column = [...line].slice(0, this.problem.column - 1).join("").length;
    const found = [];
    let at = 0;
    for (const [text, kind] of parts) {
      const from = column - at;
      at += text.length;
      if (from < 0 || from >= text.length) found.push(span([text, kind]));
      else if (kind) found.push(span([text, `${kind} wrong`]));
      else {
        const rest = text.slice(from);
        const hit = rest.match(/^(?:[\p{L}\p{N}_-]+|.)/u)[0];
        found.push(text.slice(0, from), span([hit, "wrong"]), rest.slice(hit.length));
      }
    }
    return column < at ? found : [...found, span([" ", "wrong"])];
  }
}

function span([text, kind]) {
  return kind ? make("span", { class: kind }, text) : text;
}
