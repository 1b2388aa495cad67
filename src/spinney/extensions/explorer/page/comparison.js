// Two models side by side: sizes, errors, important variables; one linked form.

import { element, plainCell, rowHead, table, tableRow } from "./dom.js";
import { countText, percent, rounded } from "./numbers.js";

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
    table(
      "data",
      [null, ...facts.map(([name]) => name)],
      states.map((state, at) =>
        tableRow(
          rowHead(`${at ? "right" : "left"}: ${state.data.title}`),
          facts.map(([, text]) => plainCell(text(state))),
        ),
      ),
    ),
  );
}

function trainingError(state) {
  const sequence = state.kind === "tree" ? state.tree.sequence : null;
  if (!sequence) return "–";
  const [error] = sequence.errors;
  if (state.schema.numeric) return `R² ${rounded(1 - error / (sequence.root_error || 1), 3)}`;
  return state.schema.target.costs ? rounded(error) : percent(error);
}

// The three attributes of greatest importance, by weight times gain.
function mostImportant(state) {
  if (state.kind === "clusters") return "–";
  const { attributes } = state.schema;
  let importances = state.data.importances?.mean;
  if (!importances) {
    const { tree } = state;
    importances = new Array(attributes.length).fill(0);
    for (let node = 0; node < tree.size; node += 1) {
      if (!tree.isLeaf(node))
        importances[tree.attribute[node]] += tree.weight[node] * Math.max(tree.gain[node], 0);
    }
    const total = importances.reduce((sum, each) => sum + each, 0) || 1;
    importances = importances.map((each) => each / total);
  }
  return importances
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
