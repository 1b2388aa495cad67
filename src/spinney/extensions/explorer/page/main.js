// The page: one model, or two side by side.

import { readAddress, writeAddress } from "./address.js";
import { ClusterExplorer } from "./cluster_explorer.js";
import { comparison, linkForms } from "./comparison.js";
import { button, element, replace } from "./dom.js";
import { Explorer } from "./explorer.js";
import { State } from "./state.js";
import { resetTheme } from "./theme.js";

const data = JSON.parse(document.getElementById("spinney-data").textContent);
const root = document.getElementById("explorer");
const notice = element("output", { class: "notice", role: "status" });
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const explorers = [];

const page = {
  madeBy: data.made_by,
  notice(text) {
    notice.textContent = text;
    notice.classList.add("shown");
    setTimeout(() => notice.classList.remove("shown"), 2500);
  },
};

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

function repaint() {
  resetTheme();
  for (const explorer of explorers) explorer.repaint();
}

function themeButton() {
  const text = () => (isDark() ? "Light" : "Dark");
  const made = button(
    text(),
    () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      made.textContent = text();
      repaint();
    },
    { class: "small theme", title: "Light or dark" },
  );
  dark.addEventListener("change", () => {
    made.textContent = text();
    repaint();
  });
  return made;
}

// Printed pages are light and show the whole picture.
for (const [event, on] of [
  ["beforeprint", true],
  ["afterprint", false],
]) {
  window.addEventListener(event, () => {
    repaint();
    for (const explorer of explorers) explorer.paper?.(on);
  });
}

// On a telephone a tree of some size is a list. A frame has width 0 at first.
function prefersList(state) {
  const width = window.innerWidth || window.screen.width;
  return state.kind !== "clusters" && width < 560 && state.tree.leaves > 4;
}

function start() {
  const hosts = data.models.map(() => element("div", { class: "explorer" }));
  document.body.classList.toggle("two", hosts.length > 1);
  const states = data.models.map((model) => new State(model));
  for (const state of states) if (prefersList(state)) state.view = "list";
  readAddress(states);
  replace(root, comparison(states), element("div", { class: "explorers" }, hosts), notice);
  states.forEach((state, at) => {
    const services = { ...page, themeButton: at === hosts.length - 1 ? themeButton : null };
    const Kind = state.kind === "clusters" ? ClusterExplorer : Explorer;
    explorers.push(new Kind(hosts[at], state, services));
  });
  linkForms(explorers);
  for (const state of states) state.subscribe(() => writeAddress(states));
  root.explorers = explorers;
  root.dataset.ms = String(Math.round(performance.now()));
  root.dataset.ready = "yes";
}

start();
