// Colours: those of the page, and those of nodes by what they predict.

const NAMES = ["page", "text", "note", "frame", "branch", "axis", "empty", "accent"];
const N_COLOURS = 8;
const [MIN_OPACITY, MAX_OPACITY] = [0.07, 0.42];
const REACH = 2;

let colours = null;

export function theme() {
  if (!colours) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    colours = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
    colours.classes = Array.from({ length: N_COLOURS }, (_, at) => read(`k${at}`));
    colours.fonts = getComputedStyle(document.body).fontFamily;
  }
  return colours;
}

export function resetTheme() {
  colours = null;
}

export function opacityOf(strength) {
  return MIN_OPACITY + (MAX_OPACITY - MIN_OPACITY) * Math.min(Math.max(strength, 0), 1);
}

// Which colour each class has: of many, the rarer ones share the last, grey.
export class ClassColours {
  constructor(schema, weights) {
    const size = schema.classes.length;
    this.chance = 1 / Math.max(size, 2);
    this.index = Array.from({ length: size }, (_, code) => code);
    if (size > N_COLOURS) {
      const heaviest = [...this.index]
        .sort((one, other) => weights[other] - weights[one] || one - other)
        .slice(0, N_COLOURS - 1)
        .sort((one, other) => one - other);
      this.index = this.index.map((code) => {
        const rank = heaviest.indexOf(code);
        return rank < 0 ? N_COLOURS - 1 : rank;
      });
    }
  }

  // The colour of a class by the theme.
  of(code) {
    return theme().classes[this.index[code]];
  }

  node(tree, node) {
    const label = tree.label[node];
    if (this.tree !== tree) {
      this.tree = tree;
      this.strengths = new Float32Array(tree.size).fill(-1);
    }
    if (this.strengths[node] < 0) {
      const share = tree.classProportions(node)[label];
      this.strengths[node] = opacityOf((share - this.chance) / (1 - this.chance));
    }
    return [this.of(label), this.strengths[node]];
  }
}

// Blue below the mean of all rows and orange above, the stronger the farther.
export class NumberColours {
  constructor(tree) {
    const [mean, deviation] = tree.moments(0);
    let [low, high] = [Infinity, -Infinity];
    for (const value of tree.outputs) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    this.mean = mean;
    this.low = Math.min(Math.max(low, mean - REACH * deviation), mean);
    this.high = Math.max(Math.min(high, mean + REACH * deviation), mean);
  }

  place(number) {
    const range = this.high - this.low;
    return range > 0 ? Math.min(Math.max((number - this.low) / range, 0), 1) : 0.5;
  }

  // The colour of a number, and its distance from the mean, from 0 to 1.
  distance(number) {
    const above = number > this.mean;
    const end = above ? this.high : this.low;
    const distance =
      end === this.mean ? 0 : Math.abs(number - this.mean) / Math.abs(end - this.mean);
    return [theme().classes[above ? 5 : 0], Math.min(distance, 1)];
  }

  at(number) {
    const [colour, distance] = this.distance(number);
    return [colour, opacityOf(distance)];
  }

  node(tree, node) {
    return this.at(tree.outputs[node]);
  }
}
