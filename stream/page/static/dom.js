// Making elements. Text is only ever set as text: names and values come from records that anybody may write.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export const make = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

export const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// ---- figures

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const count = (n) => whole.format(n);
export const brief = (n) => (n < 10_000 ? whole.format(n) : short.format(n));
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;
export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");
export const margin = (n) => (n >= 0.001 ? n.toFixed(3) : "under 0.001");
export const cut = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`);

// ---- classes and their colours: by name, so that a class keeps its colour

const COLOURS = 8;

export class Palette {
  #places = new Map();

  learn(names) {
    for (const name of [...names].sort()) {
      if (!this.#places.has(name) && this.#places.size < 256) this.#places.set(name, this.#places.size);
    }
  }

  get names() {
    return [...this.#places.keys()];
  }

  colour(name) {
    const place = this.#places.get(name);
    return place === undefined ? "var(--c8)" : `var(--c${place % COLOURS})`;
  }
}
