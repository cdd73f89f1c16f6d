// A tree laid out from left to right, as an espalier is trained along its wires: a row for each leaf.

import { brief, cut, margin } from "./dom.js";

const LEAF_ROW = 33;
const NODE_ROW = 46;
const BRANCH = 40;
const BETWEEN = 5;
const LONGEST_NAME = 26;
const LONGEST_VALUE = 20;
const CLOSE = 0.01;

const pen = document.createElement("canvas").getContext("2d");
const FAMILY = '"Inter", "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", sans-serif';
const widths = new Map();

function width(text, font) {
  const key = font + text;
  let known = widths.get(key);
  if (known === undefined) {
    if (widths.size > 5_000) widths.clear();
    pen.font = `${font} ${FAMILY}`;
    known = pen.measureText(text).width;
    widths.set(key, known);
  }
  return known;
}

export const testName = (test) =>
  test.at_most === undefined ? test.attribute : `${test.attribute} \u2264 ${test.at_most}`;

// A threshold is asked with yes or no.
const ANSWERS = { true: "yes", false: "no" };
export const branchName = (node) =>
  node.up?.test.at_most === undefined ? node.value : ANSWERS[node.value] ?? node.value;

// The nodes of the server's list as linked objects. A node is known by the way to it.
export function linked(list) {
  const nodes = list.map((told, place) => ({
    ...told, place, children: [], key: "", depth: 0, total: sum(told.counts) + (told.others ?? 0),
    below: told.hidden ?? 0,
  }));
  for (const node of nodes) {
    const parent = nodes[node.parent];
    if (parent === undefined) continue;
    node.up = parent;
    node.key = `${parent.key}/${JSON.stringify(node.value)}`;
    node.depth = parent.depth + 1;
    parent.children.push(node);
  }
  for (const node of [...nodes].reverse()) if (node.up) node.up.below += 1 + node.below;
  return nodes;
}

const sum = (counts) => Object.values(counts).reduce((all, n) => all + n, 0);

// Open the upper levels as far as there is room; what somebody has opened or closed stays so, and a lit path is
// open unless it was closed by hand.
export function decideOpen(nodes, choices, lit, rows) {
  let room = rows - 1;
  const passed = new Set(nodes.filter((node) => node.up && lit.has(node.key)).map((node) => node.up.key));
  for (const node of nodes) {
    node.visible = !node.up || (node.up.visible && node.up.open);
    node.open = false;
    if (!node.visible || !node.children.length) continue;
    const choice = choices.get(node.key) ?? (passed.has(node.key) || undefined);
    const more = node.children.length - 1;
    node.open = choice ?? more <= room;
    if (node.open) room -= more;
  }
}

function measure(node) {
  node.name = cut(node.test ? testName(node.test) : node.answer ?? "(no answer)", LONGEST_NAME);
  node.label = cut(branchName(node), LONGEST_VALUE);
  node.amount = brief(node.total);
  node.why = "";
  const evidence = node.evidence;
  if (evidence?.runner_up && evidence.margin !== null) {
    const other = cut(evidence.runner_up, 16);
    node.why = evidence.margin > 0 ? `over ${other} by ${margin(evidence.margin)}` : `a tie with ${other}`;
    node.close = evidence.margin < CLOSE;
  }
  node.more = node.test && !node.open && node.below ? `+${brief(node.below)}` : "";
  const first = width(node.name, "600 13px") + 9 + width(node.amount, "11px");
  const extra = node.more ? 9 + width(node.more, "600 11px") : 0;
  node.width = Math.ceil(Math.max(first + extra, width(node.why, "10.5px")) + 24);
  node.isMixed = Object.values(node.counts).filter((n) => n > 0).length > 1;
  node.height = node.test ? (node.why ? 40 : 31) : node.isMixed ? 28 : 26;
  node.labelWidth = node.up ? width(node.label, "11.5px") : 0;
}

// Give every visible node a place; return them in reading order, with the size of it all.
// `stretch` is added to the length of every branch, where there is room to spare.
export function layOut(nodes, stretch = 0) {
  const order = [];
  const columns = [];
  const labels = [];
  const stack = nodes.length ? [nodes[0]] : [];
  while (stack.length) {
    const node = stack.pop();
    measure(node);
    order.push(node);
    columns[node.depth] = Math.max(columns[node.depth] ?? 0, node.width);
    labels[node.depth] = Math.max(labels[node.depth] ?? 0, node.labelWidth);
    if (node.open) for (const child of [...node.children].reverse()) stack.push(child);
  }
  const lefts = [0];
  for (let depth = 1; depth < columns.length; depth++) {
    lefts[depth] = lefts[depth - 1] + columns[depth - 1] + BRANCH + stretch + labels[depth] + 16;
  }
  let y = 0;
  let last = null;
  for (const node of order) {
    node.x = lefts[node.depth];
    if (node.open) continue;
    if (last && last.up !== node.up) y += BETWEEN;
    const row = node.test ? NODE_ROW : LEAF_ROW;
    node.y = y + row / 2;
    y += row;
    last = node;
  }
  for (const node of [...order].reverse()) {
    if (node.open) node.y = (node.children[0].y + node.children.at(-1).y) / 2;
  }
  const right = columns.length ? lefts.at(-1) + columns.at(-1) : 0;
  return { order, width: right, height: y, levels: columns.length };
}

// ---- shapes

export function edgePath(x0, y0, x1, y1, label) {
  const start = x1 - label - 16;
  const middle = (x0 + start) / 2;
  return `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${start} ${y1}H${x1}`;
}

export const edgeWidth = (share) => (1.3 + 7 * Math.sqrt(Math.max(0, share))).toFixed(2);

// A leaf: two round corners, two pointed ones.
export function leafPath(w, h) {
  const [round, point, top] = [11, 2.5, -h / 2];
  return `M${round} ${top}H${w - point}a${point} ${point} 0 0 1 ${point} ${point}V${-top - round}` +
    `a${round} ${round} 0 0 1 ${-round} ${round}H${point}a${point} ${point} 0 0 1 ${-point} ${-point}` +
    `V${top + round}a${round} ${round} 0 0 1 ${round} ${-round}z`;
}
