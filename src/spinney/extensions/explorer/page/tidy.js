// Where nodes stand beside each other: picture/tidy_layout.py, which has the sources.
//
// `children` is a list of lists of places, a child's greater than its parent's; a
// contour is a list of steps from the deepest level up, and `end`, its deepest edge.

export function tidyLayout(children, breadths, gap) {
  const size = children.length;
  const offsets = new Float64Array(size);
  const left = new Array(size);
  const right = new Array(size);
  for (let node = size - 1; node >= 0; node -= 1) {
    const half = breadths[node] / 2;
    const below = children[node];
    if (!below.length) {
      left[node] = { steps: [-half], end: -half };
      right[node] = { steps: [half], end: half };
      continue;
    }
    const lefts = below.map((child) => left[child]);
    const rights = below.map((child) => right[child]);
    for (const child of below) left[child] = right[child] = null;
    const pairs = siblingDistances(lefts, rights, gap);
    const places = spread(below.length, pairs.distances);
    const middle = (places[0] + places.at(-1)) / 2;
    below.forEach((child, at) => (offsets[child] = places[at] - middle));
    const moved = places.map((across) => across - middle);
    left[node] = crowned(joined(lefts, pairs.seenLeft, moved), -half);
    right[node] = crowned(joined(rights, pairs.seenRight.reverse(), moved), half);
  }
  let first = Infinity;
  for (let node = 0; node < size; node += 1) {
    for (const child of children[node]) offsets[child] += offsets[node];
    first = Math.min(first, offsets[node] - breadths[node] / 2);
  }
  return offsets.map((across) => across - first);
}

function siblingDistances(lefts, rights, gap) {
  const distances = [];
  const seenLeft = [[0, 0]];
  const seenRight = [[0, 0]];
  for (let j = 1; j < lefts.length; j += 1) {
    const inner = lefts[j].steps;
    let innerEdge = 0;
    let level = 0;
    while (seenRight.length && level < inner.length) {
      let [i, edge] = seenRight.pop();
      const other = rights[i].steps;
      let least = -Infinity;
      const shared = Math.min(inner.length, other.length);
      for (let step = level + 1; step <= shared; step += 1) {
        edge += other[other.length - step];
        innerEdge += inner[inner.length - step];
        if (edge - innerEdge > least) least = edge - innerEdge;
      }
      level = shared;
      distances.push([i, j, least + gap]);
      if (level < other.length) seenRight.push([i, edge]);
    }
    if (level < inner.length) seenLeft.push([j, innerEdge]);
    seenRight.push([j, 0]);
  }
  return { distances, seenLeft, seenRight };
}

function spread(size, distances) {
  const near = new Array(size).fill(0);
  const far = new Array(size).fill(Infinity);
  for (const [i, j, distance] of distances) near[j] = Math.max(near[j], near[i] + distance);
  far[size - 1] = near[size - 1];
  for (let at = distances.length - 1; at >= 0; at -= 1) {
    const [i, j, distance] = distances[at];
    far[i] = Math.min(far[i], far[j] - distance);
  }
  return near.map((low, at) => (low + far[at]) / 2);
}

function joined(contours, seen, at) {
  let whole = shifted(contours[seen[0][0]], at[seen[0][0]]);
  for (const [sibling, edge] of seen.slice(1)) {
    const deeper = shifted(contours[sibling], at[sibling]);
    const { steps } = deeper;
    const depth = whole.steps.length;
    const under = steps.length - 1 - depth;
    steps[under] += edge + at[sibling] - whole.end;
    for (let step = 0; step < depth; step += 1) {
      steps[steps.length - depth + step] = whole.steps[step];
    }
    whole = deeper;
  }
  return whole;
}

function shifted(contour, distance) {
  contour.steps[contour.steps.length - 1] += distance;
  contour.end += distance;
  return contour;
}

function crowned(contour, edge) {
  contour.steps[contour.steps.length - 1] -= edge;
  contour.steps.push(edge);
  return contour;
}
