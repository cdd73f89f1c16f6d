// The page: what the worker tells, shown as it comes. Nothing is kept but what is on the screen.

import { Changes } from "./changes.js";
import { drawCurves } from "./charts.js";
import { brief, byId, count, make, Palette, percent, say } from "./dom.js";
import { linked } from "./layout.js";
import { TreeView } from "./tree.js";
import { TryIt } from "./tryit.js";
import { Versions } from "./versions.js";

const ANNOUNCE_MS = 5_000;
const MOST_OLD = 20;
const AGAIN_MS = 2_000;
const LEAVE_MS = 20_000;

const palette = new Palette();
const place = { agent: null, model: null };
const tree = new TreeView(palette);
const versions = new Versions(showVersion, showLive);
const changes = new Changes((told) => {
  versions.goTo(told.version);
  toReveal = keyOf(told.path);
});
const tryIt = new TryIt(ask, (said) => tree.light(said.places.map((one) => keys[one]).filter((key) => key !== undefined)), () => tree.light([]), palette);

let source = null;
let state = { agents: [] };
let live = null; // the latest tree
let shown = null; // the tree on the screen
let keys = []; // of its nodes, by their place
let curves = {};
let fresh = new Set();
let toReveal = null;
let wanted = 0;
const old = new Map();

const keyOf = (path) => path.map(([, value]) => `/${JSON.stringify(value)}`).join("");

// ---- the worker's news

function connect() {
  source?.close();
  const parameters = new URLSearchParams();
  if (place.agent !== null) parameters.set("agent", place.agent);
  if (place.model !== null) parameters.set("model", place.model);
  source = new EventSource(`/api/events?${parameters}`);
  const on = (name, take) => source.addEventListener(name, (event) => take(JSON.parse(event.data)));
  source.addEventListener("open", () => {
    // Everything is told again, perhaps by another worker.
    link("live", "live");
    changes.clear();
    old.clear();
  });
  source.addEventListener("error", () => {
    link("lost", "reconnecting");
    // A browser gives up where it is refused; a worker that starts may take it in again.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => document.hidden || connect(), AGAIN_MS);
  });
  on("state", takeState);
  on("tree", (told) => {
    live = told;
    soon("tree");
  });
  on("changes", takeChanges);
  on("versions", (stops) => {
    newest.stops = stops;
    soon("versions");
  });
  on("curves", (told) => {
    curves = told;
    soon("curves");
  });
}

function link(state, words) {
  byId("link").dataset.state = state;
  say(byId("link"), words);
}

// What is new is drawn with the next frame, and only as it is then. A page that is not seen draws nothing.
const newest = { stops: null };
const due = new Set();
let isDrawing = false;

function soon(what) {
  due.add(what);
  if (isDrawing || document.hidden) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    if (due.delete("versions") && newest.stops) versions.take(newest.stops);
    if (due.delete("tree") && versions.isLive && live) showTree(live, fresh);
    if (due.delete("curves")) drawCurves(byId("accuracy-curve"), byId("lag-curve"), curves, place.agent);
  });
}

// A page that nobody has looked at for a while leaves, and comes back when it is looked at: a browser has room for
// few open connections, and the worker counts trees less often for nobody.
let leaving = null;
document.addEventListener("visibilitychange", () => {
  clearTimeout(leaving);
  if (document.hidden) {
    leaving = setTimeout(() => source.close(), LEAVE_MS);
  } else if (source.readyState === EventSource.CLOSED) {
    connect();
  } else if (due.size) {
    soon("curves");
  }
});

function takeState(told) {
  state = told;
  const agent = state.agents.find((one) => one.name === place.agent) ?? state.agents[0];
  if (!agent) return;
  place.agent ??= agent.name;
  showAgents();
  showModels(agent);
  showFigures(agent);
}

function takeChanges({ changes: news, skipped }) {
  const isFirst = !byId("changes").childElementCount;
  changes.add(news, skipped);
  if (isFirst || !news.length) return;
  fresh = new Set(news.map((told) => keyOf(told.path)));
  announce(news.at(-1));
}

let announced = 0;
function announce(told) {
  const now = Date.now();
  if (now - announced < ANNOUNCE_MS) return;
  announced = now;
  say(byId("announce"), `Version ${told.version}: ${told.what}, by ${told.cause ? `record ${told.cause.id ?? "without an id"}` : "spare time"}.`);
}

// ---- the tree, now or then

function showTree(told, changed = new Set()) {
  const names = told.nodes.flatMap((node) => [...Object.keys(node.counts), ...(node.answer === undefined ? [] : [node.answer])]);
  palette.learn(new Set(names));
  shown = told;
  keys = linked(told.nodes).map((node) => node.key);
  tree.show(told.nodes, changed);
  fresh = new Set();
  byId("tree").dataset.version = told.version;
  byId("tree").dataset.digest = told.digest;
  // For whoever measures: how old the tree was when it was drawn, and how often one was.
  byId("tree").dataset.age = (Date.now() / 1000 - told.at).toFixed(3);
  byId("tree").dataset.drawn = Number(byId("tree").dataset.drawn ?? 0) + 1;
  showLegend(told);
  tryIt.show(told.nodes);
  if (toReveal !== null) {
    tree.reveal(toReveal);
    toReveal = null;
  }
}

async function showVersion(version) {
  const mine = ++wanted;
  changes.mark(version);
  const told = old.get(version) ?? (await get("tree", { version })).told;
  if (mine !== wanted || versions.isLive || !told?.nodes) return;
  old.set(version, told);
  if (old.size > MOST_OLD) old.delete(old.keys().next().value);
  byId("old").hidden = false;
  say(byId("old"), `version ${count(told.version)}${live ? ` of ${count(live.version)}` : ""}`);
  const before = new Map((shown?.nodes ?? []).map((node, one) => [keys[one], node.test?.attribute ?? node.answer]));
  const next = linked(told.nodes);
  showTree(told, new Set(next.filter((node) => before.get(node.key) !== (node.test?.attribute ?? node.answer)).map((node) => node.key)));
}

function showLive() {
  wanted += 1;
  byId("old").hidden = true;
  changes.mark(null);
  if (live) showTree(live);
}

async function get(what, parameters) {
  const query = new URLSearchParams({ agent: place.agent, ...parameters });
  if (place.model !== null) query.set("model", place.model);
  const response = await fetch(`/api/${what}?${query}`);
  return { told: response.ok ? await response.json() : null };
}

async function ask(values) {
  const question = { agent: place.agent, values };
  if (place.model !== null) question.model = place.model;
  if (!versions.isLive && shown) question.version = shown.version;
  const response = await fetch("/api/answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
  const told = await response.json();
  if (!response.ok) throw new Error(told.error);
  return told;
}

// ---- agents and figures

function choose(agent, model) {
  if (place.agent === agent && place.model === model) return;
  Object.assign(place, { agent, model });
  [live, shown, keys] = [null, null, []];
  old.clear();
  versions.reset();
  changes.clear();
  tryIt.reset();
  tree.reset();
  tree.show([]);
  showLegend({ nodes: [] });
  takeState(state);
  drawCurves(byId("accuracy-curve"), byId("lag-curve"), curves, agent);
  connect();
}

function showAgents() {
  const tabs = byId("agents");
  while (tabs.childElementCount > state.agents.length) tabs.lastElementChild.remove();
  state.agents.forEach((agent, one) => {
    let tab = tabs.children[one];
    if (!tab) {
      tab = make("button", { type: "button", role: "tab" }, make("span"), make("small"));
      tab.addEventListener("click", () => choose(tab.agent, null));
      tab.addEventListener("keydown", (event) => {
        const next = { ArrowRight: tab.nextElementSibling, ArrowLeft: tab.previousElementSibling }[event.key];
        if (next) next.click(), next.focus();
      });
      tabs.append(tab);
    }
    tab.agent = agent.name;
    const isChosen = agent.name === place.agent;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    say(tab.children[0], agent.name);
    say(tab.children[1], `${agent.learner}${agent.recent === null ? "" : `, ${percent(agent.recent)}`}`);
  });
}

function showModels(agent) {
  byId("model-choice").hidden = agent.models.length < 2;
  const select = byId("model");
  const names = agent.models.map((one) => one.model).sort();
  if (JSON.stringify(names) === select.dataset.names) return;
  select.dataset.names = JSON.stringify(names);
  select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  if (place.model !== null) select.value = place.model;
}

byId("model").addEventListener("change", (event) => choose(place.agent, event.target.value));

const WAITS = {
  away: "This worker has no part of the input: it is starting, or it stands by for another one.",
  restoring: "The tree is being restored.",
  empty: "No tree yet. It is planted with the first record that has a class.",
};

// Why there is no tree. One that has gone to another worker is not shown as if it were here.
function showAbsence(agent, model) {
  const why = !model ? "away" : model.version === null ? "restoring" : "empty";
  say(byId("empty"), WAITS[why]);
  if (why !== "away" || !live) return;
  live = null;
  if (versions.isLive) showTree({ version: 0, digest: "", at: 0, nodes: [] });
}

function showFigures(agent) {
  const model = agent.models.find((one) => one.model === place.model) ?? agent.models[0];
  say(byId("f-recent"), agent.recent === null ? "\u2013" : percent(agent.recent));
  say(byId("f-accuracy"), agent.accuracy === null ? "no record had a class yet" : `${percent(agent.accuracy)} since the start`);
  say(byId("f-records"), count(agent.answered));
  say(byId("f-rate"), `${brief(Math.round(agent.rate))} a second${agent.dead_letters ? `, ${count(agent.dead_letters)} dead letters` : ""}`);
  say(byId("f-lag"), agent.lag === null ? "\u2013" : brief(agent.lag));
  say(byId("f-lag-words"), agent.lag === null ? "not known yet" : agent.lag ? "records wait" : "nothing waits");
  showAbsence(agent, model);
  const isKnown = model && model.version !== null;
  say(byId("f-nodes"), isKnown ? `${count(model.nodes)} nodes` : "\u2013");
  say(byId("f-shape"), isKnown ? `${count(model.leaves)} leaves, depth ${model.depth}, of ${count(model.retained)} records` : "waiting for the first record");
  say(byId("f-changes"), isKnown ? count(model.version) : "\u2013");
  say(byId("f-digest"), isKnown ? `digest ${model.digest.slice(0, 12)}` : "");
  document.title = `${agent.name} \u00b7 Espalier`;
}

function showLegend(told) {
  const root = told.nodes[0];
  const names = Object.entries(root?.counts ?? {}).sort(([, a], [, b]) => b - a).slice(0, 6);
  byId("legend").replaceChildren(
    ...names.map(([name, n]) => {
      const leaf = make("i");
      leaf.style.background = palette.colour(name);
      return make("li", {}, leaf, name, make("b", {}, brief(n)));
    }),
  );
}

// ---- light and dark

const THEME = "espalier-theme";
function theme(name) {
  if (name === "light" || name === "dark") document.documentElement.dataset.theme = name;
}
byId("theme").addEventListener("click", () => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  theme(isDark ? "light" : "dark");
  localStorage.setItem(THEME, document.documentElement.dataset.theme);
});
theme(localStorage.getItem(THEME));

byId("tree").addEventListener("putout", () => tryIt.clear());

connect();
