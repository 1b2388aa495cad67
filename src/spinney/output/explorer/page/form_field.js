// A field of a row that is filled in by hand: a number, a date, or one of some values.

import { element } from "./dom.js";
import { numberOf } from "./numbers.js";

const [MISSING, OTHER] = ["missing", "something else"];
const MOST_OPTIONS = 1000;

// `set` is told the cell whenever it changes, NaN where it is missing.
export function formField(attribute, index, set) {
  const listed = !attribute.numeric && attribute.values.length <= MOST_OPTIONS;
  const control = listed ? choices(attribute, set) : typed(attribute, set);
  control.name = `field-${index}`;
  control.dataset.attribute = attribute.name;
  return element(
    "label",
    {},
    element("span", { title: attribute.text }, attribute.text),
    control,
  );
}

function choices(attribute, set) {
  const select = element("select", {
    oninput: () => {
      const { value } = select;
      // A value that no training row had is none that a code stands for.
      set(value === "" || value === "other" ? NaN : Number(value.slice(1)));
    },
  });
  select.append(element("option", { value: "" }, MISSING));
  attribute.values.forEach((_, code) =>
    select.append(element("option", { value: `=${code}` }, attribute.valueText(code))),
  );
  select.append(element("option", { value: "other" }, OTHER));
  return select;
}

function typed(attribute, set) {
  const numeric = attribute.numeric;
  const kind = attribute.unit
    ? { placeholder: attribute.unit.startsWith("days") ? "2026-12-31" : "2026-12-31T12:00:00" }
    : { placeholder: MISSING, inputmode: "decimal" };
  const input = element("input", {
    type: "text",
    autocomplete: "off",
    ...kind,
    oninput: () => {
      const code = numeric
        ? numberOf(input.value, attribute.unit)
        : attribute.values.findIndex((_, at) => attribute.valueText(at) === input.value);
      const bad = input.value.trim() !== "" && (Number.isNaN(code) || (code < 0 && !numeric));
      input.setAttribute("aria-invalid", String(bad && numeric));
      set(numeric ? code : code < 0 ? NaN : code);
    },
  });
  return input;
}
