// Curves over the run, redrawn whole: there are never more than a few hundred points.

import { brief, draw, percent } from "./dom.js";

const HEIGHT = 92;
const TOP = 16;
const BOTTOM = 76;

function line(points, x, y) {
  let path = "";
  let isPen = false;
  for (const [at, value] of points) {
    if (value === null) {
      isPen = false;
      continue;
    }
    path += `${isPen ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    isPen = true;
  }
  return path;
}

const span = (seconds) =>
  seconds < 90 ? `${Math.round(seconds)} s ago` : seconds < 5_400 ? `${Math.round(seconds / 60)} min ago` : `${(seconds / 3600).toFixed(1)} h ago`;

// `series`: {name, colour, points: [[at, value]], isMain}
function chart(svg, series, { low, high, show, label }) {
  const width = svg.clientWidth || 160;
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const main = series.find((one) => one.isMain);
  const all = series.flatMap((one) => one.points);
  const known = main?.points.filter(([, value]) => value !== null) ?? [];
  if (!known.length) {
    svg.setAttribute("aria-label", `${label}: nothing known yet`);
    svg.replaceChildren(draw("line", { class: "grid", x1: 0, x2: width, y1: BOTTOM, y2: BOTTOM }), draw("text", { x: 0, y: 46 }, "nothing known yet"));
    return;
  }
  const [first, last] = [Math.min(...all.map(([at]) => at)), Math.max(...all.map(([at]) => at))];
  const room = width - 6;
  const x = (at) => (last > first ? (room * (at - first)) / (last - first) : room);
  const y = (value) => BOTTOM - ((BOTTOM - TOP) * (value - low)) / (high - low || 1);
  const parts = [];
  for (const value of [low, (low + high) / 2, high]) {
    parts.push(draw("line", { class: "grid", x1: 0, x2: width, y1: y(value), y2: y(value) }));
  }
  for (const one of [...series].sort((a, b) => Number(a.isMain) - Number(b.isMain))) {
    const path = line(one.points, x, y);
    if (one.isMain && known.length > 1) {
      const area = draw("path", { class: "area", d: `${line(known, x, y)}L${x(known.at(-1)[0]).toFixed(1)} ${BOTTOM}L${x(known[0][0]).toFixed(1)} ${BOTTOM}z` });
      area.style.fill = one.colour;
      parts.push(area);
    }
    const curve = draw("path", { class: one.isMain ? "curve" : "curve other", d: path });
    curve.style.stroke = one.colour;
    parts.push(curve);
  }
  const [at, now] = known.at(-1);
  const dot = draw("circle", { cx: x(at), cy: y(now), r: 3.2 });
  dot.style.fill = main.colour;
  parts.push(dot, draw("text", { x: 0, y: HEIGHT - 3 }, span(last - first)), draw("text", { x: width, y: HEIGHT - 3, "text-anchor": "end" }, "now"));
  parts.push(draw("text", { class: "now", x: width, y: 9, "text-anchor": "end" }, show(now)), draw("text", { x: 0, y: 9 }, show(high)));
  const values = known.map(([, value]) => value);
  svg.setAttribute("aria-label", `${label}: now ${show(now)}, lowest ${show(Math.min(...values))}, highest ${show(Math.max(...values))}`);
  svg.replaceChildren(...parts);
}

const COLOURS = ["var(--accent)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)"];

export function drawCurves(accuracy, lag, curves, agent) {
  const names = Object.keys(curves).slice(0, COLOURS.length);
  if (!names.includes(agent) && agent in curves) names[0] = agent;
  const series = (field) =>
    names.map((name, place) => ({
      name,
      colour: COLOURS[place],
      isMain: name === agent,
      points: curves[name].map((point) => [point[0], point[field]]),
    }));
  const right = series(1);
  const lowest = Math.min(1, ...right.flatMap((one) => one.points.map(([, value]) => value ?? 1)));
  const low = lowest >= 0.9 ? 0.9 : lowest >= 0.5 ? 0.5 : 0;
  chart(accuracy, right, { low, high: 1, show: (value) => percent(value, value === 1 ? 0 : 1), label: "accuracy of the last 1,000 records" });
  const behind = series(2).filter((one) => one.isMain);
  const most = Math.max(10, ...behind.flatMap((one) => one.points.map(([, value]) => value ?? 0)));
  for (const one of behind) one.colour = "var(--c2)";
  chart(lag, behind, { low: 0, high: most, show: brief, label: "lag in records" });
}
