// Attributes and the target: codes, values, and their texts.

import { numberText } from "./numbers.js";

const MAX_VALUES = 100;
const MIN_SAVED_DIGITS = 8;

export class Attribute {
  constructor(data) {
    Object.assign(this, data);
    this.text = data.text ?? data.name;
    this.values = data.values ?? [];
    this.numeric = data.kind === "numeric";
  }

  valueText(code) {
    return this.texts ? this.texts[code] : this.values[code];
  }

  get valueTexts() {
    return this.texts ?? this.values;
  }

  formatNumber(value) {
    return numberText(value, this.unit);
  }

  // "= red", "∈ {red, 7}"; `negated` is the complement.
  membershipText(codes, negated = false) {
    if (!codes.length) return "is missing";
    const listed = codes.length > 1;
    const texts = codes
      .slice(0, MAX_VALUES)
      .map((code) => writtenValue(this.valueText(code), listed));
    if (!listed) return `${negated ? "≠" : "="} ${texts[0]}`;
    if (codes.length > MAX_VALUES) texts.push(`and ${codes.length - MAX_VALUES} more`);
    return `${negated ? "∉" : "∈"} {${texts.join(", ")}}`;
  }

  // How low < value ≤ high reads; an infinite bound is none.
  rangeText(low, high) {
    const text = this.intervalText(low, high);
    if (text === "missing" || text === "known") return `${this.text} is ${text}`;
    if (low === -Infinity || high === Infinity) return `${this.text} ${text}`;
    const [from, isClosed] = this.boundText(low);
    return `${from} ${isClosed ? "≤" : "<"} ${this.text} ${this.upperText(high)}`;
  }

  // The same without the name: "> 6", "(1, 2.5]".
  intervalText(low, high) {
    if (low === Infinity) return "missing";
    if (low === -Infinity) return high === Infinity ? "known" : this.upperText(high);
    return high === Infinity ? this.lowerText(low) : this.spanText(low, high);
  }

  lowerText(bound) {
    const [text, isAbove] = this.boundText(bound);
    return `${isAbove ? "≥" : ">"} ${text}`;
  }

  upperText(bound) {
    const [text, isAbove] = this.boundText(bound);
    return `${isAbove ? "<" : "≤"} ${text}`;
  }

  spanText(low, high) {
    const [[from, isClosed], [to, isOpen]] = [this.boundText(low), this.boundText(high)];
    return `${isClosed ? "[" : "("}${from}, ${to}${isOpen ? ")" : "]"}`;
  }

  // How a bound reads, and whether that is above it. A cut between the codes of ordered
  // values reads as the first value above it.
  boundText(cut) {
    if (this.kind === "ordinal") return [this.valueText(Math.floor(cut) + 1), true];
    const [number, isAbove] = this.readBound(cut);
    return [this.formatNumber(number), isAbove];
  }

  // As `read_bound` of _support/text.py.
  readBound(bound) {
    if (!Number.isFinite(bound)) return [bound, false];
    if (this.unit?.startsWith("days since ")) {
      return [Math.ceil(bound), !Number.isInteger(bound)];
    }
    const above = roundAbove(bound);
    return above === null ? [bound, false] : [above, true];
  }
}

// As `written_value` of _support/text.py: in quotes where it could be misread.
function writtenValue(text, listed) {
  const plain = text !== "" && text === text.trim() && !"\"'{".includes(text[0]);
  if (plain && !(listed && /[{},]|(?<![\p{L}\p{N}])["']/u.test(text))) return text;
  const quote = text.includes('"') && !text.includes("'") ? "'" : '"';
  return `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
}

// The next number above one, if it takes far fewer digits.
function roundAbove(bound) {
  if (!Number.isFinite(bound) || bound === 0) return null;
  const bits = new BigInt64Array(new Float64Array([bound]).buffer);
  bits[0] += bound > 0 ? 1n : -1n;
  const [above] = new Float64Array(bits.buffer);
  const digits = (number) => numberText(number).length + 2 * Number.isInteger(number);
  return digits(above) + MIN_SAVED_DIGITS <= digits(bound) ? above : null;
}

export class Schema {
  constructor(data) {
    this.attributes = data.attributes.map((each) => new Attribute(each));
    for (const each of this.attributes) {
      if (each.formula)
        each.behind = each.formula.places.map((index) => this.attributes[index]);
    }
    this.target = { ...data.target, text: data.target.text ?? data.target.name };
    this.numeric = data.target.numeric;
    this.classes = this.numeric ? [] : (data.target.texts ?? data.target.values);
    this.width = this.numeric ? 3 : this.classes.length;
    this.outputs = this.numeric ? 1 : this.classes.length;
  }

  // The columns that attributes are read from, rising.
  behind(attributes) {
    const places = new Set();
    for (const index of attributes) {
      const { formula } = this.attributes[index];
      for (const column of formula ? formula.places : [index]) places.add(column);
    }
    return [...places].sort((one, other) => one - other);
  }

  // The cell of an attribute in a row of columns, NaN where it is missing.
  cell(row, index) {
    const { formula } = this.attributes[index];
    if (!formula) return row[index];
    const cells = formula.places.map((column) => row[column]);
    return formulaCell(formula, cells);
  }
}

function formulaCell(formula, cells) {
  if (cells.some(Number.isNaN)) return NaN;
  if (formula.form === "conjunction") {
    const holds = formula.clauses.every(({ codes, low, high }, at) =>
      codes
        ? codes.includes(cells[at])
        : cells[at] > (low ?? -Infinity) && cells[at] <= (high ?? Infinity),
    );
    return holds ? 1 : 0;
  }
  let number;
  if (formula.form === "difference") number = cells[0] - cells[1];
  else if (formula.form === "ratio") number = cells[0] / cells[1];
  else {
    number = formula.coefficients[0] * cells[0];
    for (let at = 1; at < cells.length; at += 1) number += formula.coefficients[at] * cells[at];
  }
  return Number.isFinite(number) ? number + 0 : NaN;
}

// The last of the greatest, equal within a relative 1e-12: see _support/ties.py.
export function lastBest(merits) {
  const best = Math.max(...merits);
  const least = best - 1e-12 * Math.max(1, Math.abs(best));
  let last = 0;
  for (let at = 0; at < merits.length; at += 1) if (merits[at] >= least) last = at;
  return last;
}

// The label of class shares: of the greatest share, or of the least expected cost.
export function predictedLabel(shares, costs) {
  if (!costs) return lastBest(shares);
  const most = Math.max(...costs.map((line) => Math.max(...line))) || 1;
  return lastBest(
    costs.map((line) => -line.reduce((sum, cost, at) => sum + (shares[at] * cost) / most, 0)),
  );
}
