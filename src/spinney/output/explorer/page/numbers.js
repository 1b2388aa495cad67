// Numbers: out of the packed arrays of the page, and as people read them.

const TYPES = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};

// Undo `packed` of packed_numbers.py: "u2:" and bytes in base64.
export function unpack(text) {
  const bytes = atob(text.slice(3));
  const buffer = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) buffer[at] = bytes.charCodeAt(at);
  return new TYPES[text.slice(0, 2)](buffer.buffer);
}

export function unpackAll(fields, names) {
  const arrays = {};
  for (const name of names) arrays[name] = unpack(fields[name]);
  return arrays;
}

// Of lists that are too long to be arguments.
export function least(numbers, start = Infinity) {
  return numbers.reduce((low, each) => (each < low ? each : low), start);
}

export function most(numbers, start = -Infinity) {
  return numbers.reduce((high, each) => (each > high ? each : high), start);
}

// Where each of some counted runs begins, and where the last one ends.
export function startsOf(counts) {
  const starts = new Int32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at += 1) starts[at + 1] = starts[at] + counts[at];
  return starts;
}

// In as many digits as it takes to read it back; dates as dates.
export function numberText(number, unit) {
  if (!unit || !unit.includes(" since ")) return plainText(number);
  const [step, start] = unit.split(" since ");
  const milliseconds = number * (step === "days" ? 86400000 : 1000);
  const origin = start === "midnight" ? 0 : Date.parse(start.length > 10 ? `${start}Z` : start);
  const moment = new Date(origin + milliseconds);
  if (Number.isNaN(moment.getTime())) return plainText(number);
  const text = moment
    .toISOString()
    .replace(/(\.000)?Z$/, "")
    .replace(/(\.\d{3})$/, "$1000");
  if (start === "midnight") return text.slice(11);
  return step === "days" && Number.isInteger(number) ? text.slice(0, 10) : text;
}

// The number behind a text, NaN where it is none; undo numberText.
export function numberOf(text, unit) {
  const trimmed = text.trim();
  if (!unit || !unit.includes(" since ")) return trimmed === "" ? NaN : Number(trimmed);
  const [step, start] = unit.split(" since ");
  const midnight = start === "midnight";
  const whole = midnight ? `1970-01-01T${trimmed}` : trimmed;
  const moment = Date.parse(whole.length > 10 ? `${whole}Z` : whole);
  const origin = midnight ? 0 : Date.parse(start.length > 10 ? `${start}Z` : start);
  return (moment - origin) / (step === "days" ? 86400000 : 1000);
}

export function plainText(number) {
  const text = String(number);
  // Python writes 1e-05 where a browser has 0.00001.
  if (Math.abs(number) >= 1e-4 || number === 0 || text.includes("e")) {
    return text.replace(/e([+-])(\d)$/, "e$10$2");
  }
  return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

// In six digits, for a person.
export function figure(number) {
  return plainText(Number(number.toPrecision(6)));
}

// In some digits, 4 if not said.
export function rounded(number, digits = 4) {
  return plainText(Number(number.toPrecision(digits)));
}

// A weight in at most four decimals, whole ones without any.
export function weightText(weight) {
  if (!(Math.abs(weight) < 1e16)) return String(weight);
  if (Number.isInteger(weight)) return String(weight);
  const text = weight.toFixed(4).replace(/0+$/, "").replace(/\.$/, "");
  return Number(text) ? text : plainText(Number(weight.toPrecision(3)));
}

// A count with thin spaces between its thousands, for headings.
export function countText(count) {
  return weightText(count).replace(/\B(?=(\d{3})+(?!\d))/g, (all, _, at, text) =>
    text.includes(".") && at > text.indexOf(".") ? "" : "\u2009",
  );
}

export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value < 10 && value % 1 ? value.toFixed(1) : value.toFixed(0)} %`;
}

// A share with one digit after the point, rounded as Python rounds: a tie, which only
// .25 and .75 can be, to the even digit.
export function exactPercent(share) {
  const value = 100 * share;
  return `${(value % 1 === 0.25 ? value - 0.05 : value).toFixed(1)} %`;
}

export function plural(count, one, many = `${one}s`) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}
