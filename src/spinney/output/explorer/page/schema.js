// What codes mean: attributes, their values as people read them, the target.

import { numberText } from "./numbers.js";

const VALUES_SHOWN = 100;

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

  // The first of ordered values that is beyond a cut between their codes.
  levelAbove(cut) {
    return this.valueText(Math.floor(cut) + 1);
  }

  number(value) {
    return numberText(value, this.unit);
  }

  // "hue = red", "hue ∈ {red, 7}"; `without` turns it round.
  among(codes, without = false) {
    const texts = codes.slice(0, VALUES_SHOWN).map((code) => this.valueText(code));
    if (codes.length === 1) return `${this.text} ${without ? "≠" : "="} ${texts[0]}`;
    if (codes.length > VALUES_SHOWN) texts.push(`and ${codes.length - VALUES_SHOWN} more`);
    return `${this.text} ${without ? "∉" : "∈"} {${texts.join(", ")}}`;
  }

  // How low < number ≤ high reads; an infinite bound is none.
  between(low, high) {
    if (low === Infinity) return `${this.text} is missing`;
    if (high === Infinity) return `${this.text} > ${this.number(low)}`;
    if (low === -Infinity) return `${this.text} ≤ ${this.number(high)}`;
    return `${this.number(low)} < ${this.text} ≤ ${this.number(high)}`;
  }
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
