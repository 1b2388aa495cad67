// A histogram of the split's number over the given rows: bars by class,
// or by the mean of each bin, and marks at the cuts.

import { element, svg, svgLine, svgText } from "./dom.js";
import { countText, figure, plural, rounded, weightText } from "./numbers.js";
import { theme } from "./theme.js";
import { meanAndDeviation } from "./tree.js";

const BARS = { left: 34, wide: 320, tall: 84, below: 20, gap: 1 };

export function histogramFigure(state, node) {
  const { tree, schema } = state;
  const histogram = tree.histograms?.of(node);
  if (!histogram) return null;
  const attribute = schema.attributes[tree.attribute[node]];
  const sizeOf = (weights) =>
    schema.numeric ? weights[0] : weights.reduce((sum, each) => sum + each, 0);
  const sizes = histogram.bins.map(sizeOf);
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  const cuts = tree.cutsOf(node).filter(Number.isFinite);
  const picture = svg("svg", {
    viewBox: `0 0 ${BARS.wide} ${BARS.tall + BARS.below}`,
    class: "histogram",
    role: "img",
    "aria-label": `Histogram of ${attribute.text}, split point ${cuts.map((cut) => attribute.boundText(cut)[0]).join(", ")}`,
  });
  const most = Math.max(...sizes);
  const wide = (BARS.wide - BARS.left) / histogram.bins.length;
  histogram.bins.forEach((weights, at) => {
    if (!sizes[at]) return;
    const [low, high] = [at, at + 1].map((edge) => histogram.low + edge * histogram.step);
    const span = attribute.unit
      ? attribute.spanText(low, high)
      : `(${endText(attribute, low)}, ${endText(attribute, high)}]`;
    const bar = svg("g", {}, svg("title", {}, `${span}: ${binText(state, weights)}`));
    let base = BARS.tall;
    for (const [colour, opacity, size] of partsOf(state, weights)) {
      const height = (size / most) * (BARS.tall - 6);
      base -= height;
      bar.append(
        svg("rect", {
          x: BARS.left + at * wide,
          y: base,
          width: Math.max(wide - BARS.gap, 0.6),
          height,
          fill: colour,
          "fill-opacity": opacity,
        }),
      );
    }
    picture.append(bar);
  });
  const { axis, note, text } = theme();
  picture.append(svgLine([BARS.left, BARS.tall], [BARS.wide, BARS.tall], axis));
  picture.append(svgLine([BARS.left, 6], [BARS.left, BARS.tall], axis));
  const reach = histogram.step * histogram.bins.length;
  for (const cut of cuts) {
    const x = BARS.left + ((BARS.wide - BARS.left) * (cut - histogram.low)) / reach;
    if (x < BARS.left || x > BARS.wide) continue;
    picture.append(
      svgLine([x, 0], [x, BARS.tall], text, { "stroke-dasharray": "4 3" }),
      svg("path", { d: `M${x} ${BARS.tall}l-5 6h10Z`, fill: text }),
    );
  }
  const label = (x, anchor, number) =>
    svgText([x, BARS.tall + 17], endText(attribute, number), note, anchor);
  for (const [y, count] of [[14, most], [BARS.tall, 0]])
    picture.append(svgText([BARS.left - 4, y], countText(count), note, "end"));
  picture.append(label(BARS.left, "start", histogram.least), label(BARS.wide, "end", histogram.greatest));
  const nMissing = sizeOf(histogram.missing);
  return element(
    "figure",
    {},
    picture,
    element(
      "figcaption",
      { class: "quiet" },
      `${plural(rows, "row")} of the given table`,
      nMissing > 0 && `; ${countText(nMissing)} more with ${attribute.text} missing`,
    ),
  );
}

function partsOf(state, weights) {
  const { schema, colours } = state;
  if (schema.numeric) {
    const [colour, distance] = colours.distance(meanAndDeviation(weights, schema)[0]);
    return [[colour, 0.3 + 0.7 * distance, weights[0]]];
  }
  return weights
    .map((weight, code) => [colours.of(code), 1, weight])
    .filter(([, , weight]) => weight > 0);
}

function binText(state, weights) {
  const { schema } = state;
  if (schema.numeric) {
    const [mean, deviation] = meanAndDeviation(weights, schema);
    return `${countText(weights[0])} rows, mean ${figure(mean)} ± ${rounded(deviation)}`;
  }
  return weights
    .map((weight, code) => (weight ? `${schema.classes[code]} ${weightText(weight)}` : ""))
    .filter(Boolean)
    .join(", ");
}

// A place in a picture, in a few digits.
function endText(attribute, number) {
  return attribute.unit ? attribute.formatNumber(number) : rounded(number, 4);
}
