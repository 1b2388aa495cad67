// A field of the what-if form: a number, a date, or one of a list of values.

import { breakable, chooser, element, replace } from "./dom.js";
import { numberOf } from "./numbers.js";

const [MISSING, OTHER] = ["missing", "something else"];
const MAX_OPTIONS = 1000;

// `set` receives the cell whenever it changes, NaN if it is missing.
export function formField(attribute, index, set) {
  const listed = !attribute.numeric && attribute.values.length <= MAX_OPTIONS;
  const problem = element("small", { class: "problem", role: "status" });
  const showProblem = (text) => replace(problem, text);
  const control = listed ? choices(attribute, set) : typed(attribute, set, showProblem);
  control.name = `field-${index}`;
  control.dataset.attribute = attribute.name;
  return element(
    "label",
    {},
    element("span", { title: attribute.text }, breakable(attribute.text)),
    control,
    problem,
  );
}

function choices(attribute, set) {
  const options = attribute.values.map((_, code) => [`=${code}`, attribute.valueText(code)]);
  // A value absent from the training set has no code.
  return chooser([["", MISSING], ...options, ["other", OTHER]], "", (value) =>
    set(value.startsWith("=") ? Number(value.slice(1)) : NaN),
  );
}

// The name of a unit of time, and an example.
function timeOf(unit) {
  if (unit.startsWith("days")) return ["date", "2026-12-31"];
  return unit.endsWith("midnight")
    ? ["time of day", "12:00:00"]
    : ["date and time", "2026-12-31T12:00:00"];
}

function typed(attribute, set, showProblem) {
  const { numeric, unit } = attribute;
  const [what, example] = unit ? timeOf(unit) : ["number", "3.5"];
  const kind = unit ? { placeholder: example } : { placeholder: MISSING };
  if (numeric && !unit) kind.inputmode = "decimal";
  const input = element("input", {
    type: "text",
    autocomplete: "off",
    ...kind,
    oninput: () => {
      const code = numeric
        ? numberOf(input.value, attribute.unit)
        : attribute.values.findIndex((_, at) => attribute.valueText(at) === input.value);
      const isInvalid = input.value.trim() !== "" && (numeric ? Number.isNaN(code) : code < 0);
      input.setAttribute("aria-invalid", String(isInvalid && numeric));
      const problem = numeric ? `not a ${what} such as ${example}` : "value not in the training set";
      showProblem(isInvalid ? `${problem}: counts as missing` : "");
      set(numeric ? code : code < 0 ? NaN : code);
    },
  });
  return input;
}
