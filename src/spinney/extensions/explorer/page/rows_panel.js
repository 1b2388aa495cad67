// The rows behind a node, where the page was made with them.

import { button, element } from "./dom.js";
import { countText, numberText, unpack } from "./numbers.js";

const ROWS_AT_ONCE = 100;

export function rowsPanel(state) {
  const { rows } = state.data;
  const numbers = state.rowsAt(state.selected) ?? [];
  const columns = readColumns(rows);
  const what =
    state.kind === "clusters" ? `cluster ${state.selected}` : `node ${state.selected}`;
  const body = element("tbody");
  let shown = 0;
  const more = button("Show more", () => add(), { class: "small" });
  const add = () => {
    for (const row of numbers.slice(shown, shown + ROWS_AT_ONCE)) {
      body.append(
        element(
          "tr",
          {},
          element("th", { scope: "row" }, String(row + 1)),
          columns.map(({ cell }) => element("td", { title: cell(row) }, cell(row))),
        ),
      );
    }
    shown += ROWS_AT_ONCE;
    more.hidden = shown >= numbers.length;
  };
  add();
  const some =
    rows.rows < rows.of_rows
      ? ` This page holds the first ${countText(rows.rows)} of ${countText(rows.of_rows)} rows.`
      : "";
  return [
    element("h2", {}, "Rows"),
    element(
      "p",
      { class: "quiet" },
      `${countText(numbers.length)} rows come to ${what}.${some}`,
    ),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" },
      element(
        "table",
        { class: "data" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "col" }, "row"),
            columns.map(({ name }) => element("th", { scope: "col" }, name)),
          ),
        ),
        body,
      ),
    ),
    more,
  ];
}

const read = new WeakMap();

export function readColumns(rows) {
  if (!read.has(rows)) {
    read.set(
      rows,
      rows.columns.map(({ name, numbers, codes, levels, cells }) => {
        if (cells) return { name, cell: (row) => cells[row] };
        if (numbers) {
          const values = unpack(numbers);
          return {
            name,
            values,
            cell: (row) => (Number.isNaN(values[row]) ? "" : numberText(values[row])),
          };
        }
        const of = unpack(codes);
        return { name, cell: (row) => (of[row] < 0 ? "" : levels[of[row]]) };
      }),
    );
  }
  return read.get(rows);
}
