// The state of the page in its address: view, panel, node and filters of each model.
//
// "#view=icicle&node=12&class=2"; of the second model "view2=icicle" and so on.

const FILTERS = { class: "label", attribute: "attribute", support: "support", confidence: "confidence" };

export function readAddress(states) {
  const words = new URLSearchParams(window.location.hash.slice(1));
  states.forEach((state, at) => {
    if (state.kind === "clusters") return;
    const read = (name) => words.get(`${name}${at ? at + 1 : ""}`);
    state.view = read("view") ?? state.view;
    state.panel = read("panel") ?? state.panel;
    const filters = {};
    for (const [name, key] of Object.entries(FILTERS)) {
      const number = Number(read(name) ?? NaN);
      if (Number.isFinite(number)) filters[key] = number;
    }
    if (Object.keys(filters).length) state.filter(filters);
    const node = Number(read("node") ?? NaN);
    if (Number.isInteger(node) && node >= 0 && node < state.tree.size) state.selected = node;
  });
}

export function writeAddress(states) {
  const words = new URLSearchParams();
  states.forEach((state, at) => {
    if (state.kind === "clusters") return;
    const write = (name, value) => words.set(`${name}${at ? at + 1 : ""}`, value);
    write("view", state.view);
    write("panel", state.panel);
    write("node", state.selected);
    for (const [name, key] of Object.entries(FILTERS)) {
      const value = state.filters[key];
      if (key === "label" || key === "attribute" ? value >= 0 : value > 0) write(name, value);
    }
  });
  try {
    window.history.replaceState(null, "", `#${words}`);
  } catch {
    // A page in a frame has no address of its own.
  }
}
