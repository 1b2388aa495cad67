// The rows at a node, if the page contains rows.

import { button, element, quiet, rowHead, scrolling, table, tableRow } from "./dom.js";
import { countText, numberText, unpack } from "./numbers.js";

const ROWS_AT_ONCE = 100;

export function rowsPanel(state) {
  const { rows } = state.data;
  const numbers = state.rowsAt(state.selected) ?? [];
  const columns = [...readColumns(rows)];
  const key = columns.findIndex(({ name }) => name === rows.key);
  if (key > 0) columns.unshift(...columns.splice(key, 1));
  const what =
    state.kind === "clusters" ? `cluster ${state.selected}` : `node ${state.selected}`;
  const listed = table("data", ["row", ...columns.map(({ name }) => name)], []);
  let shown = 0;
  const more = button("Show more", () => add(), { class: "small" });
  const add = () => {
    for (const row of numbers.slice(shown, shown + ROWS_AT_ONCE)) {
      const texts = columns.map(({ textOf }) => textOf(row));
      listed.tBodies[0].append(
        tableRow(
          rowHead(String(row + 1)),
          texts.map((text) => element("td", { title: text }, text)),
        ),
      );
    }
    shown += ROWS_AT_ONCE;
    more.hidden = shown >= numbers.length;
  };
  add();
  const some =
    rows.rows < rows.of_rows
      ? ` The page contains the first ${countText(rows.rows)} of ${countText(rows.of_rows)} rows.`
      : "";
  return [
    element("h2", {}, "Rows"),
    quiet(`${countText(numbers.length)} rows at ${what}.${some}`),
    scrolling("scroll", "Rows", listed),
    more,
  ];
}

const read = new WeakMap();

export function readColumns(rows) {
  if (!read.has(rows)) {
    read.set(
      rows,
      rows.columns.map(({ name, numbers, codes, levels, cells }) => {
        if (cells) return { name, textOf: (row) => cells[row] };
        if (numbers) {
          const values = unpack(numbers);
          return {
            name,
            values,
            textOf: (row) => (Number.isNaN(values[row]) ? "" : numberText(values[row])),
          };
        }
        const of = unpack(codes);
        return { name, textOf: (row) => (of[row] < 0 ? "" : levels[of[row]]) };
      }),
    );
  }
  return read.get(rows);
}
