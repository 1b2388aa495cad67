// What an exported module says beside its tables: parts by name, with their blank lines.

//// missing
// null and NaN are missing values.
//
//// about
// A node asks [column, upper bounds, nodes] or [column, nodes by text], in this order
// until one of them knows the next node. Other rows go "else", or "divide" by shares.

//// numeric

/** Return the number that is predicted of a row, an object of values by column. */
export function predict(row) {
  return says(row)[0];
}

//// classes

/** Return the class of a row, an object of values by column. */
export function predict(row) {
  let merits = says(row);
  if (COSTS) {
    const shares = merits;
    const cost = (line) => line.reduce((sum, each, at) => sum + shares[at] * each, 0);
    merits = COSTS.map((line) => -cost(line));
  }
  return CLASSES[best(merits)];
}

//// labels

/** Return the class of a row, an object of values by column. */
export function predict(row) {
  const cells = cellsOf(row);
  let node = NODES[ROOTS[0]];
  while (node.ask) node = NODES[following(cells, node)];
  return CLASSES[node.label];
}

//// shares

/** Return the share of each class for a row, as a Map. */
export function probabilities(row) {
  const shares = says(row);
  return new Map(CLASSES.map((label, at) => [label, shares[at]]));
}

//// walk

/** Return the last of the best, within 1e-12: rounding decides nothing. */
function best(merits) {
  const most = Math.max(...merits);
  const least = most - 1e-12 * Math.max(1, Math.abs(most));
  return merits.findLastIndex((merit) => merit >= least);
}

/** Return the mean of what the trees say of a row, or of their votes. */
function says(row) {
  const cells = cellsOf(row);
  let totals = null;
  for (const root of ROOTS) {
    let said = treeSays(cells, root);
    if (MAJORITY) {
      const winner = best(said);
      said = said.map((_, at) => (at === winner ? 1 : 0));
    }
    totals = totals === null ? said : totals.map((total, at) => total + said[at]);
  }
  return totals.map((total) => total / ROOTS.length);
}

/** Return what the leaves of a tree say of a row, each by its part of the row. */
function treeSays(cells, root) {
  let totals = new Array(CLASSES.length || 1).fill(0);
  let here = [[root, 1]];
  while (here.length) {
    const whole = [];
    const divided = [];
    for (const [number, weight] of here) {
      const node = NODES[number];
      if (!node.ask) {
        const said = node.say ?? [line(cells, node)];
        totals = totals.map((total, at) => total + said[at] * weight);
        continue;
      }
      const next = following(cells, node);
      if (next !== undefined) {
        whole.push([next, weight]);
        continue;
      }
      for (const [child, share] of node.divide) {
        if (weight * share > 0) divided.push([child, weight * share]);
      }
    }
    here = [...whole, ...divided];
  }
  return totals;
}

/** Return the node that comes next, undefined where the row is divided. */
function following(cells, node) {
  for (const [column, asks, nodes] of node.ask) {
    const cell = cells.get(column);
    if (cell === null) continue;
    if (nodes) return nodes[asks.filter((bound) => cell > bound).length];
    if (asks.has(cell)) return asks.get(cell);
  }
  return node.else;
}

/** Return what the linear model of a leaf says. */
function line(cells, node) {
  let total = 0;
  for (const [column, factor, missing, texts] of node.line) {
    const cell = texts ? texts.get(cells.get(column)) : cells.get(column);
    total += factor * (cell ?? missing);
  }
  return total + node.plus;
}

/** Return the cells of a row, and those that are made of them. */
function cellsOf(row) {
  const cells = read(row);
  for (const [name, formula] of FORMULAS) cells.set(name, made(cells, formula));
  return cells;
}

//// centres

/** Return the cluster of a row, an object of values by column. */
export function predict(row) {
  const cells = read(row);
  let totals = new Array(CENTRES.clusters).fill(0);
  let others = [...totals];
  const numbers = [];
  for (const [name, scale, centres] of CENTRES.numbers) {
    const cell = cells.get(name);
    if (cell === null && CENTRES.missing) continue;
    const column = JSON.stringify(name);
    if (cell === null) throw new TypeError(`column ${column} is missing`);
    if (!Number.isFinite(cell / scale)) {
      throw new TypeError(`column ${column} holds ${cell}, too large to measure`);
    }
    numbers.push([cell / scale, ...centres]);
  }
  // Squares of very large numbers are those of a part of them.
  const largest = Math.max(0, ...numbers.flat().map(Math.abs));
  let part = 1;
  while (largest / part >= 2 ** 400) part *= 2;
  for (const [cell, ...centres] of numbers) {
    const parts = centres.map((centre) => cell / part - centre / part);
    totals = totals.map((total, at) => total + parts[at] * parts[at]);
  }
  for (const [name, byText] of CENTRES.texts) {
    const cell = cells.get(name);
    if (cell === null) continue;
    const parts = byText.get(cell);
    others = others.map((other, at) => other + (parts ? parts[at] : 1));
  }
  const gamma = CENTRES.gamma / part / part;
  totals = totals.map((total, at) => total + gamma * others[at]);
  return totals.indexOf(Math.min(...totals));
}

//// read

/** Return the cells of a row: numbers and texts, null where missing. */
function read(row) {
  const cells = new Map();
  for (const [name, form] of COLUMNS) {
    if (!Object.hasOwn(row, name) && !form.optional) {
      throw new TypeError(`the row has no column ${JSON.stringify(name)}`);
    }
    const value = Object.hasOwn(row, name) ? row[name] : null;
    cells.set(name, cellOf(name, value, form));
  }
  return cells;
}

function cellOf(name, value, form) {
  if (value === null || value === undefined || value === "") return null;
  if (Number.isNaN(value)) return null;
  if (form.time) return numberOf(name, timeOf(name, value, form.time), form.number);
  if (form.number) return numberOf(name, value, form.number);
  if (typeof value === "boolean") return form.words[Number(value)];
  const text = typeof value === "number" ? numberText(value) : String(value);
  return form.small ? text.toLowerCase() : text;
}

/** Return a number, null where it stands for a missing one. */
function numberOf(name, value, missing) {
  const text = typeof value === "string" ? value.trim() : "";
  if (text.toLowerCase() === "nan") return null;
  const wellFormed = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  const number = typeof value === "string" && !wellFormed ? NaN : Number(value);
  if (!Number.isFinite(number)) {
    const column = JSON.stringify(name);
    throw new TypeError(`column ${column} holds ${value}, which is no finite number`);
  }
  return missing.includes(number) ? null : number;
}

/** Return a number as text, as Python writes it. */
function numberText(number) {
  if (Number.isInteger(number)) return BigInt(number).toString();
  if (Math.abs(number) >= 1e-4) return String(number);
  return number.toExponential().replace(/e-(\d)$/, "e-0$1");
}

//// make

/** Return a cell that is made of others; null where one of them is missing. */
function made(cells, formula) {
  let number;
  if (formula.both) {
    const held = formula.both.map(([column, ...asks]) =>
      holds(cells.get(column), ...asks),
    );
    return held.includes(null) ? null : String(held.every(Boolean));
  }
  if (formula.ratio) {
    const [first, second] = formula.ratio.map((column) => cells.get(column));
    if (first === null || !second) return null;
    number = first / second;
  } else {
    const parts = formula.sum.map(([column, factor]) => [cells.get(column), factor]);
    if (parts.some(([cell]) => cell === null)) return null;
    number = parts.map(([cell, factor]) => cell * factor).reduce((sum, x) => sum + x);
  }
  return Number.isFinite(number) ? number : null;
}

/** Return whether a cell satisfies a clause; null where it is missing. */
function holds(cell, asks, missing) {
  const byText = asks instanceof Map;
  if (cell === null || (byText && !asks.has(cell))) return missing || null;
  if (byText) return asks.get(cell);
  const [low, high] = asks;
  return (low === null || cell > low) && (high === null || cell <= high);
}

//// times

/** Return a date or time as the number that it stands for: days or seconds. */
function timeOf(name, value, kind) {
  const isDate = value instanceof Date;
  if (typeof value !== "string" && !isDate) return value;
  const text = isDate && !Number.isNaN(value.getTime()) ? value.toISOString() : value;
  const micros = isDate && kind === "clock" ? null : microsOf(String(text), kind);
  if (micros === null) {
    const column = JSON.stringify(name);
    const such = kind === "clock"
      ? "time of day such as 09:30:00"
      : "date such as 2026-11-18";
    throw new TypeError(`column ${column} holds ${value}, which is no ${such}`);
  }
  if (kind !== "day") return Number(micros) / 1e6;
  const day = 86400000000n;
  return Number((micros - (((micros % day) + day) % day)) / day);
}

/** Return the microseconds of a text of ISO 8601, null where it is none. */
function microsOf(text, kind) {
  const day = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](.+))?$/.exec(text);
  if ((day === null) !== (kind === "clock")) return null;
  const clock = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-].+)?$/;
  const time = clock.exec((day ? day[4] : text) ?? "00:00");
  if (time === null || (time[5] && !day)) return null;
  const [hour, minute, second] = time.slice(1, 4).map((each) => Number(each ?? 0));
  const [year, month, date] = day ? day.slice(1, 4).map(Number) : [1970, 1, 1];
  const start = new Date(0);
  start.setUTCFullYear(year, month - 1, date);
  const real = start.getUTCMonth() === month - 1 && start.getUTCDate() === date;
  if (!real || !year || hour > 23 || minute > 59 || second > 59) return null;
  const zone = zoneOf(time[5] ?? "Z");
  if (zone === null) return null;
  const seconds = start.getTime() / 1000 + (hour * 60 + minute) * 60 + second - zone;
  const fraction = BigInt((time[4] ?? "").padEnd(6, "0").slice(0, 6));
  return BigInt(seconds) * 1000000n + fraction;
}

/** Return the seconds that a zone is ahead of UTC: Z, +01, +0100, +01:00, +01:00:00. */
function zoneOf(text) {
  if (text === "Z") return 0;
  const zone = /^([+-])(\d\d)(?:(\d\d)|:(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (zone === null) return null;
  const [hours, minutes, seconds] = [zone[2], zone[3] ?? zone[4], zone[5]].map((each) =>
    Number(each ?? 0),
  );
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  return Number(`${zone[1]}1`) * ((hours * 60 + minutes) * 60 + seconds);
}

//// end
