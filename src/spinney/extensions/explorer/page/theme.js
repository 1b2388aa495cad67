// Colours: those of the page, and those of nodes by what they predict.

const NAMES = ["page", "text", "note", "frame", "branch", "axis", "empty", "accent"];
const N_COLOURS = 8; // the last of them is grey
// For classes beyond the seven most frequent; mid-tones, for light and dark pages.
const MORE_COLOURS = [
  ...["#8e5bc9", "#a0612b", "#8bb33d", "#e0405f", "#12b5b0", "#4b57c8", "#d98fd0"],
  ...["#7a7a1f", "#f58a7c", "#3f8f5f", "#b3265f", "#9aa7f0", "#c9a227"],
];
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

// The colour of each class: of many, the most frequent have the colours of pictures.
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
        return rank < 0 ? -1 : rank;
      });
      let next = N_COLOURS - 1;
      this.index = this.index.map((place) => (place < 0 ? next++ : place));
    }
  }

  // The colour of a class by the theme.
  of(code) {
    const place = this.index[code];
    const { classes } = theme();
    if (this.index.length <= N_COLOURS || place < N_COLOURS - 1) return classes[place];
    const more = place - N_COLOURS + 1;
    if (more < MORE_COLOURS.length) return MORE_COLOURS[more];
    return `hsl(${(more * 137) % 360},55%,${[40, 62, 51][more % 3]}%)`;
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
