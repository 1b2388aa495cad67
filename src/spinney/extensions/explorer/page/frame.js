// What every explorer has: a head with its views, a stage, and panels beside it.

import { element, replace, tabs } from "./dom.js";

export class Frame {
  constructor(state, page) {
    this.state = state;
    this.page = page;
    this.facts = element("p", { class: "quiet facts-line" });
    this.viewTabs = element("div", { class: "view-tabs" });
    this.stage = element("div", { class: "host" });
    this.panelTabs = element("div", { class: "panel-tabs" });
    this.panel = element("div", {
      class: "panel-body",
      tabindex: "0",
      role: "region",
      "aria-label": "Details",
    });
  }

  // Put it together: the stage stands between what is above and what is below it.
  fill(host, { title, label, actions = [], more = null, bar = null, above = [], below = [] }) {
    replace(
      host,
      element(
        "header",
        { class: "top" },
        element("div", { class: "title" }, element("h1", { title }, title), this.facts),
        this.viewTabs,
        element("div", { class: "row actions" }, actions, this.page.themeButton?.()),
        more,
      ),
      bar,
      element(
        "div",
        { class: "work" },
        element("section", { class: "main", "aria-label": label }, above, this.stage, below),
        element(
          "aside",
          { class: "panel", "aria-label": "Details" },
          this.panelTabs,
          this.panel,
        ),
      ),
    );
  }

  showViewTabs(views) {
    this.stage.dataset.view = this.state.view;
    this.showTabs(this.viewTabs, views, "view", "Views");
  }

  showPanelTabs(panels) {
    this.showTabs(this.panelTabs, panels, "panel", "Panels");
  }

  // What is chosen is kept in the state, which says that it has changed.
  showTabs(host, names, key, label) {
    const { state } = this;
    const choose = (name) => {
      state[key] = name;
      state.notify(key);
    };
    replace(host, tabs(names.filter(Boolean), state[key], choose, label));
  }
}
