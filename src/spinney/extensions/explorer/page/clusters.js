// Clusters of the page: centroids, sizes, and distances of rows from them.

import { rounded, unpack } from "./numbers.js";
import { theme } from "./theme.js";

// Centroids as arrays, and distances to them as clusters.py measures them.
export function readClusters(state) {
  const { data, schema } = state;
  const numeric = schema.attributes
    .map((_, index) => index)
    .filter((index) => schema.attributes[index].numeric);
  const named = schema.attributes
    .map((_, index) => index)
    .filter((index) => !schema.attributes[index].numeric);
  const centroids = unpack(data.centroids);
  const scale = unpack(data.scale);
  const codes = unpack(data.codes);
  const { sizes } = data;
  const total = sizes.reduce((sum, size) => sum + size, 0) || 1;
  const at = (index, cluster) => centroids[cluster * numeric.length + numeric.indexOf(index)];
  const value = (index, cluster) => at(index, cluster) * scale[numeric.indexOf(index)];
  const code = (index, cluster) => codes[cluster * named.length + named.indexOf(index)];
  const spreads = numeric.map((index) => {
    const present = sizes
      .map((size, cluster) => [size, at(index, cluster)])
      .filter(([, each]) => !Number.isNaN(each));
    const weight = present.reduce((sum, [size]) => sum + size, 0) || 1;
    const mean = present.reduce((sum, [size, each]) => sum + size * each, 0) / weight;
    const square =
      present.reduce((sum, [size, each]) => sum + size * (each - mean) ** 2, 0) / weight;
    return [mean, Math.sqrt(square)];
  });
  const distance = (cluster, rowAt, codeAt) => {
    let sum = 0;
    for (const index of numeric) {
      const difference = rowAt(index) - at(index, cluster);
      if (!Number.isNaN(difference)) sum += difference * difference;
    }
    for (const index of named) {
      const value = codeAt(index);
      if (!Number.isNaN(value) && value !== code(index, cluster)) sum += data.gamma;
    }
    return named.length || data.method === "k-prototypes" ? sum : Math.sqrt(sum);
  };
  const takesMissing = data.method === "k-prototypes";
  return {
    numeric,
    takesMissing,
    sizes,
    total,
    scale,
    colour: (cluster) => theme().classes[cluster % theme().classes.length],
    off: (index, cluster) => {
      if (!schema.attributes[index].numeric) return 0;
      const [mean, deviation] = spreads[numeric.indexOf(index)];
      const off = deviation ? (at(index, cluster) - mean) / deviation : 0;
      return Number.isNaN(off) ? 0 : off;
    },
    text: (index, cluster) => {
      const attribute = schema.attributes[index];
      if (!attribute.numeric)
        return code(index, cluster) < 0 ? "–" : attribute.valueText(code(index, cluster));
      const number = value(index, cluster);
      return Number.isNaN(number)
        ? "–"
        : attribute.unit
          ? attribute.formatNumber(Number(number.toFixed(6)))
          : rounded(number);
    },
    between: (one, other) =>
      distance(
        one,
        (index) => at(index, other),
        (index) => code(index, other),
      ),
    distances: (row) => {
      const hasMissing = numeric.some((index) => Number.isNaN(row[index]));
      if (!takesMissing && hasMissing) return null;
      const rowAt = (index) => row[index] / scale[numeric.indexOf(index)];
      return sizes.map((_, cluster) => distance(cluster, rowAt, (index) => row[index]));
    },
  };
}
