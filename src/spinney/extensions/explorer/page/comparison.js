// Two models side by side: sizes, errors, important variables; one linked form.

import { element, plainCell, rowHead, table, tableRow } from "./dom.js";
import { countText, percent, rounded } from "./numbers.js";

const NARROW_PAGE = 760; // pixels

export function comparison(states) {
  if (states.length < 2) return null;
  const facts = [
    ["kind", (state) => state.kind],
    ["recipe", (state) => state.data.recipe ?? state.data.method],
    ["training set", (state) => `${countText(state.data.grown_on.rows)} rows`],
    ["leaves", (state) => (state.kind === "tree" ? countText(state.tree.leaves) : "–")],
    ["depth", (state) => (state.kind === "tree" ? String(state.tree.height) : "–")],
    ["training error", trainingError],
    ["most important variables", mostImportant],
  ];
  return element(
    "section",
    { class: "comparison", "aria-label": "Two models" },
    comparisonTable(states, facts),
  );
}

// A line for each model; on a narrow page, for each fact.
function comparisonTable(states, facts) {
  let lines = states.map((state, at) => [nameOf(state, at), ...facts.map(([, text]) => text(state))]);
  lines.unshift([null, ...facts.map(([name]) => name)]);
  if (window.innerWidth < NARROW_PAGE) lines = lines[0].map((_, at) => lines.map((line) => line[at]));
  const [names, ...rest] = lines;
  return table("data", names, rest.map(([name, ...texts]) => tableRow(rowHead(name), texts.map((text) => plainCell(text)))));
}

function nameOf({ data }, at) {
  const side = at ? "right" : "left";
  return `${side}: ${data.name ?? data.title}`;
}

function trainingError(state) {
  const sequence = state.kind === "tree" ? state.tree.sequence : null;
  if (!sequence) return "–";
  const [error] = sequence.errors;
  if (state.schema.numeric) return `R² ${rounded(1 - error / (sequence.root_error || 1), 3)}`;
  return state.schema.target.costs ? rounded(error) : percent(error);
}

// The three attributes of greatest importance.
function mostImportant(state) {
  if (state.kind === "clusters") return "–";
  const { attributes } = state.schema;
  return state.data.importances.mean
    .map((each, at) => [each, attributes[at].text])
    .sort((one, other) => other[0] - one[0])
    .slice(0, 3)
    .filter(([each]) => each > 0)
    .map(([each, name]) => `${name} ${percent(each)}`)
    .join(", ");
}

// An entry in one form is copied to the other, if it has the field.
export function linkForms(explorers) {
  if (explorers.length < 2) return;
  explorers.forEach((explorer, at) => {
    const other = explorers[1 - at];
    if (!explorer.whatIf || !other.whatIf) return;
    explorer.whatIf.fields.addEventListener(
      "input",
      (event) => {
        const { attribute } = event.target.dataset;
        const { selectedOptions, value } = event.target;
        const text = selectedOptions ? selectedOptions[0].textContent : value;
        other.whatIf.setField(attribute, text);
      },
      true,
    );
  });
}
