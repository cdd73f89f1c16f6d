// The drawing of a tree, and how it is walked by keys. It draws what is new; elements of nodes that stay are kept.

import { Canvas } from "./canvas.js";
import { byId, count, draw, make, margin, percent, say } from "./dom.js";
import { branchName, decideOpen, edgePath, edgeWidth, layOut, leafPath, linked, testName } from "./layout.js";

const ROW_ROOM = 26;
const FEWEST_ROWS = 10;
const READABLE = 0.82;
const LONGEST_STRETCH = 110;
const MOST_ROWS = 1_500;
const MOVE_MS = 340;
const MOST_MOVING = 400;
const MOST_CHOICES = 2_000;

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class TreeView {
  constructor(palette) {
    this.palette = palette;
    this.svg = byId("tree");
    this.edges = byId("edges");
    this.group = byId("nodes");
    this.canvas = new Canvas(this.svg, byId("world"), (scale) => say(byId("zoom"), percent(scale, 0)));
    this.nodes = [];
    this.choices = new Map();
    this.drawn = new Map();
    this.laid = { order: [], width: 0, height: 0 };
    this.lit = new Set();
    this.focused = "";
    this.rows = null;
    this.group.addEventListener("click", (event) => this.#click(event));
    this.group.addEventListener("keydown", (event) => this.#key(event));
    this.group.addEventListener("focusin", (event) => this.#focus(event));
    this.group.addEventListener("pointerover", (event) => this.#detail(this.#nodeOf(event.target)));
    this.svg.addEventListener("pointerleave", () => this.#detail(null));
    this.group.addEventListener("focusout", () => this.#detail(null));
    byId("zoom-in").addEventListener("click", () => this.canvas.zoom(1.25));
    byId("zoom-out").addEventListener("click", () => this.canvas.zoom(0.8));
    byId("fit").addEventListener("click", () => this.fit());
    byId("open-all").addEventListener("click", () => this.openAll());
    byId("open-some").addEventListener("click", () => this.tidy());
    new ResizeObserver(() => this.#arrange(false)).observe(byId("stage"));
  }

  // Show a tree. `fresh` are the ways to nodes that have changed.
  show(list, fresh = new Set(), moving = true) {
    this.nodes = linked(list);
    byId("empty").hidden = this.nodes.length > 0;
    if (this.choices.size > MOST_CHOICES) this.choices.clear();
    this.#arrange(moving, fresh);
  }

  light(keys) {
    this.lit = new Set(keys);
    this.svg.classList.toggle("lit", this.lit.size > 0);
    this.#arrange(true);
  }

  reset() {
    this.choices.clear();
    this.rows = null;
    this.canvas.isFollowing = true;
    this.focused = "";
    this.light([]);
  }

  fit() {
    this.canvas.isFollowing = true;
    this.canvas.fit(this.laid.width, this.laid.height);
  }

  openAll() {
    this.choices.clear();
    this.rows = MOST_ROWS;
    this.#arrange(false);
    // All of a large tree at once cannot be read: begin at its root.
    if (this.canvas.scale < 0.45) {
      this.canvas.isFollowing = false;
      this.canvas.scale = 0.8;
      this.canvas.x = 26;
      this.canvas.y = this.canvas.room.height / 2 - (this.nodes[0]?.y ?? 0) * 0.8;
      this.canvas.apply();
    }
  }

  tidy() {
    this.choices.clear();
    this.rows = null;
    this.canvas.isFollowing = true;
    this.#arrange(true);
  }

  // ---- drawing

  #arrange(moving, fresh = new Set()) {
    this.laid = this.#laidOut();
    const gone = new Set(this.drawn.keys());
    let previous = null;
    for (const node of this.laid.order) {
      gone.delete(node.key);
      const entry = this.drawn.get(node.key) ?? this.#begin(node);
      entry.node = node;
      this.#fill(entry, node);
      if (fresh.has(node.key)) this.#flash(entry.g);
      // In reading order, for those who read it element by element.
      const next = previous ? previous.nextSibling : this.group.firstChild;
      if (next !== entry.g) this.group.insertBefore(entry.g, next);
      previous = entry.g;
    }
    for (const key of gone) {
      const entry = this.drawn.get(key);
      entry.g.remove();
      entry.edge?.remove();
      this.drawn.delete(key);
    }
    if (!this.drawn.has(this.focused)) this.focused = "";
    this.drawn.get(this.focused)?.g.setAttribute("tabindex", "0");
    if (this.canvas.isFollowing) this.canvas.fit(this.laid.width, this.laid.height);
    this.#settle(moving && !still.matches && this.drawn.size <= MOST_MOVING);
  }

  // Open as many levels as can still be read, and let branches be long where there is room.
  #laidOut() {
    let rows = this.rows ?? Math.max(FEWEST_ROWS, Math.floor(this.canvas.room.height / ROW_ROOM));
    for (;;) {
      decideOpen(this.nodes, this.choices, this.lit, rows);
      const laid = layOut(this.nodes);
      const scale = this.canvas.scaleFor(laid.width, laid.height);
      // Fewer rows do not help where a lit path is what is too wide.
      const isPathWide = this.lit.size > 0 && this.canvas.scaleFor(0, laid.height) >= READABLE;
      if (this.rows !== null || scale >= READABLE || rows <= FEWEST_ROWS || isPathWide) {
        const spare = this.canvas.room.width / Math.max(scale, 0.6) - 60 - laid.width;
        const stretch = Math.min(LONGEST_STRETCH, spare / Math.max(1, laid.levels - 1));
        return stretch > 4 ? layOut(this.nodes, Math.floor(stretch)) : laid;
      }
      rows = Math.min(rows - 1, Math.floor(rows * 0.88));
    }
  }

  #begin(node) {
    const g = draw("g", { class: "node", role: "treeitem", tabindex: "-1" });
    const edge = node.up ? draw("path", { class: "edge" }) : null;
    if (edge) this.edges.append(edge);
    this.group.append(g);
    // A new node comes out of its parent.
    const from = node.up && this.drawn.get(node.up.key);
    const entry = { g, edge, node, x: from ? from.x + from.node.width * 0.6 : node.x, y: from ? from.y : node.y, drawn: "" };
    g.node = entry;
    this.drawn.set(node.key, entry);
    return entry;
  }

  #fill(entry, node) {
    const { g, edge } = entry;
    const isLit = this.lit.has(node.key);
    const sign = JSON.stringify([node.name, node.label, node.amount, node.why, node.more, node.open, node.counts, node.others, isLit, node.depth]);
    if (entry.drawn === sign) return;
    entry.drawn = sign;
    const isLeaf = !node.test;
    g.setAttribute("class", `node${isLeaf ? " leaf" : ""}${isLit ? " lit" : ""}${g.classList.contains("fresh") ? " fresh" : ""}`);
    g.setAttribute("aria-level", node.depth + 1);
    if (isLeaf) g.removeAttribute("aria-expanded");
    else g.setAttribute("aria-expanded", String(node.open));
    g.setAttribute("aria-label", inWords(node));
    const { width: w, height: h } = node;
    const parts = [];
    if (node.up) parts.push(draw("text", { class: "value", x: -9, y: -8 }, node.label));
    if (isLeaf) {
      const colour = this.palette.colour(node.answer);
      const box = draw("path", { class: "box", d: leafPath(w, h) });
      box.style.fill = `color-mix(in srgb, ${colour} 17%, var(--raised))`;
      box.style.stroke = colour;
      parts.push(draw("path", { class: "halo", d: leafPath(w, h) }), box);
      parts.push(draw("text", { class: "name", x: 12, y: node.isMixed ? -2.5 : 0.5 }, node.name));
    } else {
      if (node.more) parts.push(draw("rect", { class: "under", x: 4, y: -h / 2 + 4, width: w, height: h, rx: 9 }));
      const shape = { x: 0, y: -h / 2, width: w, height: h, rx: 9 };
      parts.push(draw("rect", { class: "halo", ...shape }), draw("rect", { class: "box", ...shape }));
      parts.push(draw("text", { class: "name", x: 12, y: node.why ? -10 : -3 }, node.name));
      if (node.why) parts.push(draw("text", { class: node.close ? "why close" : "why", x: 12, y: 4.5 }, node.why));
      if (node.more) parts.push(draw("text", { class: "more", x: w - 12, y: node.why ? -10 : -3, "text-anchor": "end" }, node.more));
    }
    const amountAt = node.more ? w - 21 - 7 * node.more.length : w - 12;
    parts.push(draw("text", { class: "n", x: amountAt, y: isLeaf ? (node.isMixed ? -2.5 : 0.5) : node.why ? -10 : -3, "text-anchor": "end" }, node.amount));
    if (!isLeaf || node.isMixed) parts.push(...this.#bar(node, 12, isLeaf ? h / 2 - 6 : h / 2 - 7, w - 24, isLeaf ? 2.5 : 3.5));
    g.replaceChildren(...parts);
    if (edge) {
      edge.setAttribute("stroke-width", edgeWidth(node.up.total ? node.total / node.up.total : 0));
      edge.setAttribute("class", isLit ? "edge lit" : "edge");
    }
  }

  // The classes at a node, as lengths of a bar.
  #bar(node, x, y, width, height) {
    const parts = [];
    let at = x;
    for (const [name, n] of [...Object.entries(node.counts), ["", node.others ?? 0]]) {
      const length = node.total ? (width * n) / node.total : 0;
      if (length < 0.2) continue;
      const part = draw("rect", { x: at.toFixed(2), y, width: length.toFixed(2), height });
      part.style.fill = name ? this.palette.colour(name) : "var(--faint)";
      parts.push(part);
      at += length;
    }
    return parts;
  }

  #flash(g) {
    g.classList.remove("fresh");
    void g.getBoundingClientRect();
    g.classList.add("fresh");
    clearTimeout(g.freshUntil);
    g.freshUntil = setTimeout(() => g.classList.remove("fresh"), 2_300);
  }

  // Let every node go to its place, all at once or over a moment.
  #settle(moving) {
    cancelAnimationFrame(this.frame);
    const began = performance.now();
    const from = new Map([...this.drawn].map(([key, entry]) => [key, [entry.x, entry.y]]));
    const step = (now) => {
      const time = moving ? Math.min(1, (now - began) / MOVE_MS) : 1;
      const part = 1 - (1 - time) ** 3;
      for (const [key, entry] of this.drawn) {
        const [x, y] = from.get(key);
        entry.x = x + (entry.node.x - x) * part;
        entry.y = y + (entry.node.y - y) * part;
        entry.g.setAttribute("transform", `translate(${entry.x.toFixed(1)} ${entry.y.toFixed(1)})`);
      }
      for (const entry of this.drawn.values()) {
        const { node, edge } = entry;
        const parent = edge && this.drawn.get(node.up.key);
        if (!parent) continue;
        edge.setAttribute("d", edgePath(parent.x + parent.node.width, parent.y, entry.x, entry.y, node.labelWidth));
      }
      if (time < 1) this.frame = requestAnimationFrame(step);
    };
    step(began);
  }

  // ---- by pointer and by keys

  #nodeOf(target) {
    return target.closest?.(".node")?.node?.node ?? null;
  }

  #click(event) {
    const node = this.#nodeOf(event.target);
    if (!node || this.canvas.hasMoved) return;
    this.#goTo(node, false);
    this.#toggle(node);
  }

  #toggle(node, open = !node.open) {
    if (!node.children.length || node.open === open) return;
    this.choices.set(node.key, open);
    this.#arrange(true);
  }

  #focus(event) {
    const node = this.#nodeOf(event.target);
    if (!node) return;
    this.focused = node.key;
    this.#detail(node);
  }

  #goTo(node, inView = true) {
    if (!node) return;
    for (const entry of this.drawn.values()) entry.g.setAttribute("tabindex", "-1");
    const entry = this.drawn.get(node.key);
    entry.g.setAttribute("tabindex", "0");
    entry.g.focus({ preventScroll: true });
    if (inView) this.canvas.show(node.x, node.y, node.width);
  }

  #key(event) {
    const node = this.#nodeOf(event.target);
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const order = this.laid.order;
    const at = order.indexOf(node);
    const done = {
      ArrowDown: () => this.#goTo(order[at + 1]),
      ArrowUp: () => this.#goTo(order[at - 1]),
      ArrowRight: () => (node.open ? this.#goTo(node.children[0]) : this.#toggle(node, true)),
      ArrowLeft: () => (node.open ? this.#toggle(node, false) : this.#goTo(node.up)),
      Home: () => this.#goTo(order[0]),
      End: () => this.#goTo(order.at(-1)),
      Enter: () => this.#toggle(node),
      " ": () => this.#toggle(node),
      "+": () => this.canvas.zoom(1.25),
      "=": () => this.canvas.zoom(1.25),
      "-": () => this.canvas.zoom(0.8),
      0: () => this.fit(),
      Escape: () => this.svg.dispatchEvent(new Event("putout")),
    }[event.key];
    if (!done) return;
    event.preventDefault();
    done();
  }

  // Go to a node by the way to it, opening what is above.
  reveal(key) {
    const node = this.nodes.find((one) => one.key === key);
    if (!node) return;
    for (let up = node.up; up; up = up.up) this.choices.set(up.key, true);
    this.#arrange(false, new Set([key]));
    this.canvas.show(node.x, node.y, node.width);
  }

  // ---- what a node says

  #detail(node) {
    const box = byId("detail");
    box.hidden = !node;
    if (!node) return;
    const way = [];
    for (let one = node; one.up; one = one.up) way.unshift(`${testName(one.up.test)} = ${branchName(one)}`);
    const bar = make("div", { class: "bar" });
    const counts = make("div", { class: "counts" });
    for (const [name, n] of Object.entries(node.counts)) {
      const part = make("i");
      part.style.width = percent(node.total ? n / node.total : 0, 2);
      part.style.background = this.palette.colour(name);
      bar.append(part);
      counts.append(make("span", {}, `${name}: ${count(n)} (${percent(node.total ? n / node.total : 0, 0)})`));
    }
    if (node.others) counts.append(make("span", {}, `others: ${count(node.others)}`));
    const asks = node.test ? `asks ${testName(node.test)}` : node.answer === undefined ? "has no answer" : `answers ${node.answer}`;
    const rows = [make("div", { class: "where" }, way.join(" \u203a ") || "the root"), make("div", { class: "ask" }, asks), bar, counts];
    if (node.evidence) rows.push(make("div", { class: "chosen" }, chosen(node.evidence)));
    box.replaceChildren(...rows);
  }
}

function chosen(evidence) {
  const score = `score ${evidence.score.toFixed(4)}`;
  if (evidence.runner_up === null || evidence.margin === null) return `${score}; there was no other choice`;
  if (evidence.margin === 0) return `${score}; a tie with ${evidence.runner_up}`;
  return `${score}; ${evidence.runner_up} is behind by ${margin(evidence.margin)}`;
}

function inWords(node) {
  const parts = [];
  if (node.up) parts.push(`${testName(node.up.test)} is ${branchName(node)}:`);
  parts.push(node.test ? `asks ${testName(node.test)}.` : node.answer === undefined ? "no answer." : `answers ${node.answer}.`);
  const counts = Object.entries(node.counts).map(([name, n]) => `${name} ${count(n)}`).join(", ");
  parts.push(`${count(node.total)} records${counts ? `: ${counts}` : ""}.`);
  if (node.evidence?.runner_up && node.evidence.margin !== null) {
    const by = node.evidence.margin > 0 ? `by ${margin(node.evidence.margin)}` : "by the order of ties";
    parts.push(`Chosen over ${node.evidence.runner_up} ${by}.`);
  }
  if (node.test && !node.open && node.below) parts.push(`${count(node.below)} nodes below.`);
  return parts.join(" ");
}
