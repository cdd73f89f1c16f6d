// The list of changes, newest first; never longer than it can be read.

import { byId, clock, count, cut, draw, make, margin, say } from "./dom.js";

const MOST = 100;
const FEW = 3; // of more at once the whole list would flicker
const NONE = "none since the worker started";
const SHAPES = {
  planted: "M6 10V4M6 6c-2 0-3-1-3-2.500M6 5c2 0 3-1 3-2.500",
  grew: "M6 10V3M3 6l3-3 3 3",
  branched: "M3 10V7c0-2 6-2 6-4M9 3v0M3 7V2",
  pulled_up: "M3 10V4l-1.500 1.500M3 4l1.500 1.500M9 2v6l-1.500-1.500M9 8l1.500-1.500",
  replaced: "M2 4h7L7 2M10 8H3l2 2",
  relabelled: "M2 6l4-4h4v4l-4 4z",
  folded: "M6 2v7M3 6l3 3 3-3",
  withered: "M2 6h8",
  recut: "M3 2v8M9 2v8M1 6h10",
  retired: "M2 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M4 4l4 4",
  cleared: "M3 3l6 6M9 3l-6 6",
};

export class Changes {
  constructor(onChoice) {
    this.list = byId("changes");
    this.onChoice = onChoice;
    this.passed = 0;
    this.list.addEventListener("click", (event) => {
      const told = event.target.closest("button")?.told;
      if (told) this.onChoice(told);
    });
    this.list.addEventListener("keydown", (event) => this.#key(event));
  }

  clear() {
    this.passed = 0;
    this.list.replaceChildren();
    say(byId("changes-note"), NONE);
  }

  add(changes, skipped) {
    this.passed += skipped;
    const isFirst = !this.list.childElementCount;
    const items = changes.slice(-MOST).reverse().map((one) => this.#item(one, !isFirst && changes.length <= FEW));
    this.list.prepend(...items);
    while (this.list.childElementCount > MOST) this.list.lastElementChild.remove();
    say(byId("changes-note"), this.passed ? `${count(this.passed)} more passed by` : items.length || !isFirst ? "" : NONE);
  }

  mark(version) {
    for (const item of this.list.children) item.classList.toggle("current", item.firstElementChild.told.version === version);
  }

  #item(told, isFresh) {
    const mark = make("span", { class: "mark", "aria-hidden": "true" },
      draw("svg", { viewBox: "0 0 12 12", width: 14, height: 14 }, draw("path", { d: SHAPES[told.kind] ?? SHAPES.relabelled })));
    const where = told.path.map(([attribute, value]) => `${cut(attribute, 30)} = ${cut(value, 30)}`).join(" \u203a ") || "the root";
    const cause = told.cause;
    const record = cause?.id == null ? "a record" : `record ${cut(String(cause.id), 40)}`;
    const origin = cause ? `${record}, ${cause.topic}/${cause.partition} offset ${cause.offset}` : "spare time";
    const by = told.margin === null ? "" : told.margin > 0 ? `, ahead by ${margin(told.margin)}` : ", by the order of ties";
    const button = make("button", { type: "button" }, mark,
      make("span", { class: "what" }, told.what),
      make("span", { class: "why" }, `at ${where}${by}`, make("br"),
        `by ${origin} \u00b7 ${clock(told.at)}`));
    button.told = told;
    return make("li", { class: `k-${told.kind}${isFresh ? " fresh" : ""}` }, button);
  }

  #key(event) {
    const item = event.target.closest("li");
    const next = { ArrowDown: item?.nextElementSibling ?? (item ? null : this.list.firstElementChild), ArrowUp: item?.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    next.firstElementChild.focus();
  }
}
