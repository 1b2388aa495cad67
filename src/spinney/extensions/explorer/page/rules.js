// One rule for each leaf, conditions on the same attribute merged, as leaf_rules.py does.

import { figure, percentText, plainText } from "./numbers.js";

// The conditions on the way to a node, merged by attribute, in the order of asking.
export function conditionsOf(tree, node) {
  const conditions = new Map();
  const nodes = tree.path(node);
  for (let at = 0; at + 1 < nodes.length; at += 1) {
    const above = nodes[at];
    const index = tree.attribute[above];
    const before = conditions.get(index) ?? {
      attribute: tree.schema.attributes[index],
      low: -Infinity,
      high: Infinity,
      values: null,
      missing: true,
    };
    const test = branchCondition(tree, above, tree.branch[nodes[at + 1]]);
    conditions.set(index, both(before, test));
  }
  return [...conditions.values()];
}

function branchCondition(tree, node, branch) {
  const attribute = tree.schema.attributes[tree.attribute[node]];
  const goes = tree.readMissing(node);
  const missing = goes >= 0 && tree.absent[node] > 0 ? goes === branch : null;
  if (tree.isGrouped(node)) {
    const every = new Set(attribute.values.map((_, code) => code));
    const values = [...tree.codesOf(node, branch, every)].sort((one, other) => one - other);
    return { low: -Infinity, high: Infinity, values, missing };
  }
  const [low, high] = tree.boundsOf(node, branch);
  return { low, high, values: null, missing };
}

function both(one, other) {
  let values = other.values ?? one.values;
  if (one.values && other.values) {
    const allowed = new Set(one.values);
    values = other.values.filter((code) => allowed.has(code));
  }
  return {
    attribute: one.attribute,
    low: Math.max(one.low, other.low),
    high: Math.min(one.high, other.high),
    values,
    missing: other.missing === null ? null : Boolean(one.missing) && other.missing,
  };
}

export function conditionText({ attribute, low, high, values, without, missing }) {
  const text = values
    ? `${attribute.text} ${attribute.among(values, without)}`
    : attribute.between(low, high);
  const isNumberOrNone = low === Infinity || (low === -Infinity && high === Infinity);
  const saysAll = values ? !values.length : isNumberOrNone;
  return missing && !saysAll ? `${text} or missing` : text;
}

export function labelText(tree, node, names = {}) {
  if (names[node]) return names[node];
  const { schema } = tree;
  return schema.numeric ? figure(tree.outputs[node]) : schema.classes[tree.label[node]];
}

export function ruleText(tree, node, names) {
  const asked = conditionsOf(tree, node).map(conditionText);
  const head = asked.length ? `IF ${asked.join(" AND ")} THEN ` : "ALWAYS ";
  const { target, numeric } = tree.schema;
  const support = plainText(Number(tree.weight[node].toFixed(6)));
  const known = numeric
    ? `support ${support}, sd ${Number(tree.moments(node)[1].toPrecision(4))}`
    : knownOfClasses(tree, node, support);
  return `${head}${target.text} = ${labelText(tree, node, names)}  (${known})`;
}

// A leaf that no row came to has the shares of the node above it.
function knownOfClasses(tree, node, support) {
  const confidence = percentText(tree.confidence(node), 1);
  return tree.weight[node]
    ? `support ${support}, confidence ${confidence}`
    : `support 0; ${confidence} of the rows one question earlier`;
}

// SQL of the standard: names in double quotes, texts in single ones.
export function ruleSql(tree, node) {
  const asked = conditionsOf(tree, node).map((condition) => oneOf(condition, SQL));
  return asked.length ? asked.join("\n  AND ") : "TRUE";
}

// A Python expression over `row`, a mapping of values by the names of columns.
export function rulePython(tree, node) {
  const asked = conditionsOf(tree, node).map((condition) => oneOf(condition, PYTHON));
  return asked.length ? asked.join("\nand ") : "True";
}

const SQL = {
  name: (name) => `"${name.replaceAll('"', '""')}"`,
  value: (value, text) => {
    if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
    return typeof value === "boolean" ? String(value).toUpperCase() : text;
  },
  isMissing: (name) => `${name} IS NULL`,
  isKnown: (name) => `${name} IS NOT NULL`,
  among: (name, values) => `${name} IN (${values.join(", ")})`,
  or: " OR ",
  and: " AND ",
};

const PYTHON = {
  name: (name) => `row[${JSON.stringify(name)}]`,
  value: (value, text) => {
    if (typeof value === "string") return JSON.stringify(value);
    return typeof value === "boolean" ? (value ? "True" : "False") : text;
  },
  isMissing: (name) => `${name} is None`,
  isKnown: (name) => `${name} is not None`,
  among: (name, values) => `${name} in (${values.join(", ")},)`,
  or: " or ",
  and: " and ",
};

// An attribute that is made of columns, written out.
function formulaText({ formula, behind }, language) {
  const names = behind.map((column) => language.name(column.name));
  if (formula.form === "difference") return `(${names.join(" - ")})`;
  if (formula.form === "ratio") return `(${names.join(" / ")})`;
  if (formula.form === "linear") {
    return `(${names.map((name, at) => `${formula.coefficients[at]} * ${name}`).join(" + ")})`;
  }
  const clauses = formula.clauses.map(({ codes, low, high }, at) =>
    oneOf(
      {
        attribute: behind[at],
        low: low ?? -Infinity,
        high: high ?? Infinity,
        values: codes,
        missing: false,
      },
      language,
    ),
  );
  return `(${clauses.join(language.and)})`;
}

function oneOf({ attribute, low, high, values, missing }, language) {
  const name = attribute.formula
    ? formulaText(attribute, language)
    : language.name(attribute.name);
  const literal = (code) => language.value(attribute.values[code], attribute.valueText(code));
  let codes = values;
  if (!codes && attribute.kind === "ordinal" && (low > -Infinity || high < Infinity)) {
    codes = attribute.values
      .map((_, code) => code)
      .filter((code) => code > low && code <= high);
  }
  if (missing && ((codes && !codes.length) || low === Infinity))
    return language.isMissing(name);
  const parts = [];
  if (codes) parts.push(language.among(name, codes.map(literal)));
  else if (low === -Infinity && high === Infinity) return language.isKnown(name);
  else {
    const compared = (signs, number) => {
      const exact = [attribute.number(number), false];
      const [text, beyond] = attribute.unit ? attribute.bound(number) : exact;
      const value = attribute.unit ? language.value(text, text) : text;
      parts.push(`${name} ${signs[Number(beyond)]} ${value}`);
    };
    if (low > -Infinity) compared([">", ">="], low);
    if (high < Infinity) compared(["<=", "<"], high);
  }
  if (!missing) return parts.join(language.and);
  const all = parts.join(language.and);
  return `(${language.isMissing(name)}${language.or}${parts.length > 1 ? `(${all})` : all})`;
}
