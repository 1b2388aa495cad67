// What codes mean: attributes, their values as people read them, the target.

import { numberText } from "./numbers.js";

const VALUES_SHOWN = 100;
const SPARED = 8;

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

  number(value) {
    return numberText(value, this.unit);
  }

  // "= red", "∈ {red, 7}"; `without` turns it round.
  among(codes, without = false) {
    if (!codes.length) return "is missing";
    const listed = codes.length > 1;
    const texts = codes
      .slice(0, VALUES_SHOWN)
      .map((code) => writtenValue(this.valueText(code), listed));
    if (!listed) return `${without ? "≠" : "="} ${texts[0]}`;
    if (codes.length > VALUES_SHOWN) texts.push(`and ${codes.length - VALUES_SHOWN} more`);
    return `${without ? "∉" : "∈"} {${texts.join(", ")}}`;
  }

  // How low < value ≤ high reads; an infinite bound is none.
  between(low, high) {
    const answer = this.interval(low, high);
    if (answer === "missing" || answer === "known") return `${this.text} is ${answer}`;
    if (low === -Infinity || high === Infinity) return `${this.text} ${answer}`;
    const [from, isIn] = this.bound(low);
    return `${from} ${isIn ? "≤" : "<"} ${this.text} ${this.upTo(high)}`;
  }

  // The same without the name: "> 6", "(1, 2.5]".
  interval(low, high) {
    if (low === Infinity) return "missing";
    if (low === -Infinity) return high === Infinity ? "known" : this.upTo(high);
    return high === Infinity ? this.above(low) : this.span(low, high);
  }

  above(bound) {
    const [text, beyond] = this.bound(bound);
    return `${beyond ? "≥" : ">"} ${text}`;
  }

  upTo(bound) {
    const [text, beyond] = this.bound(bound);
    return `${beyond ? "<" : "≤"} ${text}`;
  }

  span(low, high) {
    const [[from, isIn], [to, isOut]] = [this.bound(low), this.bound(high)];
    return `${isIn ? "[" : "("}${from}, ${to}${isOut ? ")" : "]"}`;
  }

  // How a bound reads, and whether that is beyond it. A cut between the codes of ordered
  // values reads as the first value above it.
  bound(cut) {
    if (this.kind === "ordinal") return [this.valueText(Math.floor(cut) + 1), true];
    const [number, beyond] = this.reads(cut);
    return [this.number(number), beyond];
  }

  // As `read_bound` of _support/text.py.
  reads(bound) {
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
  return digits(above) + SPARED <= digits(bound) ? above : null;
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
export function labelOf(shares, costs) {
  if (!costs) return lastBest(shares);
  const most = Math.max(...costs.map((line) => Math.max(...line))) || 1;
  return lastBest(
    costs.map((line) => -line.reduce((sum, cost, at) => sum + (shares[at] * cost) / most, 0)),
  );
}
