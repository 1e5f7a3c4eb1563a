// The rows of the data, a page at a time: any number of them.
import { button, counted, fill, make } from "/shared/elements.js";

const PAGE = 8;

export class RowPicker {
  /** `onPick(row)` is called with the number of a row, from 0. */
  constructor(studio, onPick) {
    Object.assign(this, { studio, onPick, start: 0, row: null, total: 0 });
    this.table = make("div", { class: "scroll" });
    const turn = (text, label, move) =>
      button(text, () => this.turn(move()), { "aria-label": label });
    const jump = () => this.jump(Number(this.number.value));
    this.number = make("input", { type: "number", min: 1, "aria-label": "row", onchange: jump });
    this.of = make("span", { class: "quiet" });
    this.element = make(
      "details",
      { class: "rows-picker", open: true },
      make("summary", {}, "Rows of the data"),
      this.table,
      make("div", { class: "pager" },
        turn("«", "first page", () => 0),
        turn("‹", "page before", () => this.start - PAGE),
        this.number, this.of,
        turn("›", "next page", () => this.start + PAGE),
        turn("»", "last page", () => this.total - PAGE)),
    );
  }

  async turn(start) {
    this.start = Math.max(0, Math.min(start, this.total - 1));
    await this.studio.attempt(() => this.load());
  }

  async jump(number) {
    if (!Number.isInteger(number) || number < 1) return;
    await this.turn(number - 1 - ((number - 1) % PAGE));
    if (number <= this.total) this.onPick(number - 1);
    else this.studio.tell(`There is no row ${number}; the data has ${this.total}.`, "error");
  }

  /** Look again if rows have come since. */
  refresh() {
    const { rows } = this.studio.state;
    return rows !== this.total ? this.studio.attempt(() => this.load()) : null;
  }

  async load() {
    const page = await this.studio.ask("sample/rows", { start: this.start, count: PAGE });
    this.total = page.total;
    this.element.hidden = !page.total && page.finished;
    const sofar = page.finished ? "" : " so far";
    fill(this.of, ` of ${counted(page.total)}${sofar}`);
    const targets = [...new Set(page.rows.flatMap((row) => Object.keys(row.targets)))];
    const heads = ["row", ...page.columns, ...(page.left ? [`+${page.left}`] : []), ...targets.map((t) => `${t} (given)`)];
    fill(
      this.table,
      make("table", {},
        make("thead", {}, make("tr", {}, heads.map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, page.rows.map((row) => this.line(row, page, targets)))),
    );
    this.mark(this.row);
  }

  line(row, page, targets) {
    const name = [String(row.row + 1), ...Object.values(row.ids)].join(" · ");
    const attributes = { class: "link", "aria-label": `take row ${row.row + 1}`, title: `line ${row.line}` };
    const pick = button(name, () => this.onPick(row.row), attributes);
    const cell = (text, name) => {
      const image = row.images[name];
      return make("td", {}, image ? make("img", { src: image, alt: text, class: "tiny" }) : text);
    };
    return make("tr", { "data-row": row.row },
      make("th", { scope: "row" }, pick),
      row.cells.map((text, i) => cell(text, page.columns[i])),
      page.left ? make("td", {}, "…") : null,
      targets.map((name) => make("td", {}, row.targets[name] ?? "")));
  }

  /** Mark the row that is looked at. */
  mark(row) {
    this.row = row;
    this.number.value = row === null ? "" : row + 1;
    for (const line of this.table.querySelectorAll("tr[data-row]")) {
      line.classList.toggle("chosen", Number(line.dataset.row) === row);
    }
  }
}
