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

// All packed arrays of a part of the data, however deep they are in it.
export function unpackAll(part) {
  if (typeof part === "string") return unpack(part);
  if (part === null || typeof part !== "object") return part;
  const pairs = Object.entries(part).map(([name, each]) => [name, unpackAll(each)]);
  return Object.fromEntries(pairs);
}

// Of lists that are too long to be arguments.
export function minimum(numbers, start = Infinity) {
  return numbers.reduce((low, each) => (each < low ? each : low), start);
}

export function maximum(numbers, start = -Infinity) {
  return numbers.reduce((high, each) => (each > high ? each : high), start);
}

// Where each of some counted runs begins, and where the last one ends.
export function offsetsOf(counts) {
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

const DAY = /^\d{4}-\d\d-\d\d$/;
const CLOCK = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?$/;
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// The number behind a text, NaN where it is none; undo numberText. An instant is its day
// where days are counted, as `converted` of data/times.py has it.
export function numberOf(text, unit) {
  const trimmed = text.trim();
  if (!unit || !unit.includes(" since ")) {
    const number = PLAIN.test(trimmed) ? Number(trimmed) : NaN;
    return Number.isFinite(number) ? number : NaN;
  }
  if (!isTime(trimmed, unit)) return NaN;
  const [step, start] = unit.split(" since ");
  const midnight = start === "midnight";
  const whole = midnight ? `1970-01-01T${trimmed}` : trimmed;
  const moment = Date.parse(whole.length > 10 ? `${whole.replace(" ", "T")}Z` : whole);
  const origin = midnight ? 0 : Date.parse(start.length > 10 ? `${start}Z` : start);
  const since = moment - origin;
  return step === "days" ? Math.floor(since / 86400000) : since / 1000;
}

// Whether a text is a time of ISO 8601 that the calendar has.
function isTime(text, unit) {
  if (unit.endsWith("midnight")) return CLOCK.test(text);
  const [day, clock = "00:00", ...more] = text.split(/[T ]/);
  if (!DAY.test(day) || !CLOCK.test(clock) || more.length) return false;
  const moment = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
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

// A share in percent: below ten with a digit after the point, unless it is whole.
export function percent(share) {
  const billionths = Math.round(share * 1e11);
  return percentText(share, billionths % 1e9 && billionths < 9.95e9 ? 1 : 0);
}

// As `percent_text` of _support/text.py: what lies in the middle becomes even, found in
// whole billionths of a percent; only nothing reads as 0, and only all as 100.
export function percentText(share, digits = 0) {
  if (!Number.isFinite(share)) return "–";
  const [whole, step] = [Math.round(share * 1e11), 10 ** (9 - digits)];
  let steps = Math.floor(whole / step);
  const rest = 2 * (whole - steps * step);
  if (rest > step || (rest === step && steps % 2)) steps += 1;
  const text = (number) => `${(number / 10 ** digits).toFixed(digits)} %`;
  const hundred = 10 ** (digits + 2);
  if (steps === 0 && share > 0) return `< ${text(1)}`;
  if (steps === hundred && whole < 1e11) return `> ${text(hundred - 1)}`;
  return text(steps);
}

export function plural(count, one, many = `${one}s`) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

// Round numbers from low to high, about as many as asked for.
export function roundTicks(low, high, count = 4) {
  const rough = (high - low) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const size = Math.max(last - first + 1, 0);
  return Array.from({ length: size }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

// 1, 2, 5, 10, 20 … between two positive numbers.
export function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    for (const step of [1, 2, 5]) ticks.push(Number((step * 10 ** power).toPrecision(2)));
  }
  return ticks.filter((each) => each >= low && each <= high);
}
