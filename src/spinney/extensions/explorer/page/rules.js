// One rule for each leaf, conditions on the same attribute merged, as leaf_rules.py does.

import { countText, figure, percentText, plainText } from "./numbers.js";

const MAX_SHOWN_VALUES = 6;

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
    conditions.set(index, conjunction(before, test));
  }
  return [...conditions.values()];
}

function branchCondition(tree, node, branch) {
  const attribute = tree.schema.attributes[tree.attribute[node]];
  const missingBranch = tree.missingBranch(node);
  const missing = missingBranch >= 0 && tree.absent[node] > 0 ? missingBranch === branch : null;
  if (tree.isGrouped(node)) {
    const every = new Set(attribute.values.map((_, code) => code));
    const values = [...tree.codesOf(node, branch, every)].sort((one, other) => one - other);
    return { low: -Infinity, high: Infinity, values, missing };
  }
  const [low, high] = tree.boundsOf(node, branch);
  return { low, high, values: null, missing };
}

function conjunction(first, second) {
  let values = second.values ?? first.values;
  if (first.values && second.values) {
    const allowed = new Set(first.values);
    values = second.values.filter((code) => allowed.has(code));
  }
  return {
    attribute: first.attribute,
    low: Math.max(first.low, second.low),
    high: Math.min(first.high, second.high),
    values,
    missing: second.missing === null ? null : Boolean(first.missing) && second.missing,
  };
}

export function conditionText({ attribute, low, high, values, negated, missing }) {
  const text = values
    ? `${attribute.text} ${attribute.membershipText(values, negated)}`
    : attribute.rangeText(low, high);
  const isNumberOrNone = low === Infinity || (low === -Infinity && high === Infinity);
  const saysAll = values ? !values.length : isNumberOrNone;
  return missing && !saysAll ? `${text} or missing` : text;
}

// A condition as it is shown: many values by their shorter side, and the first of them.
export function shortConditionText(condition) {
  const { attribute, values, negated, missing } = condition;
  if (!values || values.length <= MAX_SHOWN_VALUES) return conditionText(condition);
  const text = shortMembership(attribute, values, negated);
  return `${attribute.text} ${text}${missing ? " or missing" : ""}`;
}

export function shortMembership(attribute, values, negated) {
  if (values.length <= MAX_SHOWN_VALUES) return attribute.membershipText(values, negated);
  const others = attribute.values.map((_, code) => code).filter((code) => !values.includes(code));
  const isShorter = others.length && others.length < values.length;
  const [codes, without] = isShorter ? [others, !negated] : [Array.from(values), negated];
  const texts = codes.slice(0, MAX_SHOWN_VALUES).map((code) => attribute.valueText(code));
  const more = codes.length - texts.length;
  if (more) texts.push(`and ${countText(more)} more`);
  return `${without ? "∉" : "∈"} {${texts.join(", ")}}`;
}

export function labelText(tree, node, names = {}) {
  if (names[node]) return names[node];
  const { schema } = tree;
  return schema.numeric ? figure(tree.outputs[node]) : schema.classes[tree.label[node]];
}

export function ruleText(tree, node, names, textOf = conditionText) {
  const conditions = conditionsOf(tree, node).map(textOf);
  const head = conditions.length ? `IF ${conditions.join(" AND ")} THEN ` : "ALWAYS ";
  const { target, numeric } = tree.schema;
  const support = plainText(Number(tree.weight[node].toFixed(6)));
  const facts = numeric
    ? `support ${support}, sd ${Number(tree.moments(node)[1].toPrecision(4))}`
    : classSupport(tree, node, support);
  return `${head}${target.text} = ${labelText(tree, node, names)}  (${facts})`;
}

// A leaf that no row came to has the shares of the node above it.
function classSupport(tree, node, support) {
  const confidence = percentText(tree.confidence(node), 1);
  return tree.weight[node]
    ? `support ${support}, confidence ${confidence}`
    : `support 0; ${confidence} at the nearest node above with rows`;
}

// SQL of the standard: names in double quotes, texts in single ones.
export function ruleSql(tree, node) {
  const conditions = conditionsOf(tree, node).map((condition) => conditionCode(condition, SQL));
  return conditions.length ? conditions.join("\n  AND ") : "TRUE";
}

// A Python expression over `row`, a mapping of values by the names of columns.
export function rulePython(tree, node) {
  const conditions = conditionsOf(tree, node).map((condition) => conditionCode(condition, PYTHON));
  return conditions.length ? conditions.join("\nand ") : "True";
}

const SQL = {
  name: (name) => `"${name.replaceAll('"', '""')}"`,
  value: (value, text) => {
    if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
    return typeof value === "boolean" ? String(value).toUpperCase() : text;
  },
  isMissing: (name) => `${name} IS NULL`,
  isPresent: (name) => `${name} IS NOT NULL`,
  oneOf: (name, values) => `${name} IN (${values.join(", ")})`,
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
  isPresent: (name) => `${name} is not None`,
  oneOf: (name, values) => `${name} in (${values.join(", ")},)`,
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
    conditionCode(
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

function conditionCode({ attribute, low, high, values, missing }, language) {
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
  if (codes) parts.push(language.oneOf(name, codes.map(literal)));
  else if (low === -Infinity && high === Infinity) return language.isPresent(name);
  else {
    const addBound = (signs, number) => {
      const exact = [attribute.formatNumber(number), false];
      const [text, isAbove] = attribute.unit ? attribute.boundText(number) : exact;
      const value = attribute.unit ? language.value(text, text) : text;
      parts.push(`${name} ${signs[Number(isAbove)]} ${value}`);
    };
    if (low > -Infinity) addBound([">", ">="], low);
    if (high < Infinity) addBound(["<=", "<"], high);
  }
  if (!missing) return parts.join(language.and);
  const all = parts.join(language.and);
  return `(${language.isMissing(name)}${language.or}${parts.length > 1 ? `(${all})` : all})`;
}
