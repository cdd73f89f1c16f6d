// A form with the attributes that the tree asks for, and the answer to what is put in.

import { byId, count, make, percent } from "./dom.js";

const MOST_FIELDS = 60;
const MOST_VALUES = 60;
const MISSING = "?";
const OTHER = "\u0000other";
const WAIT_MS = 150;
const FLAGS = {
  missing: "a value is missing there: most records at that node say so",
  unseen_value: "that value was never seen there: most records at that node say so",
  no_answer: "the tree has nothing to say",
};

export class TryIt {
  constructor(ask, onAnswer, onClear, palette) {
    this.ask = ask;
    this.onAnswer = onAnswer;
    this.onClear = onClear;
    this.palette = palette;
    this.fields = byId("fields");
    this.known = "";
    this.values = new Map();
    this.chosen = new Set();
    this.isAsked = false;
    byId("try").addEventListener("submit", (event) => {
      event.preventDefault();
      this.isAsked = true;
      this.answer();
    });
    byId("clear").addEventListener("click", () => this.clear());
    this.fields.addEventListener("input", (event) => this.#changed(event.target));
    this.show([]);
  }

  reset() {
    this.values.clear();
    this.chosen.clear();
    this.known = "";
    this.show([]);
    this.clear();
  }

  clear() {
    this.isAsked = false;
    clearTimeout(this.timer);
    byId("clear").hidden = true;
    byId("answer").replaceChildren();
    for (const label of this.fields.children) label.classList.remove("asked");
    this.onClear();
  }

  // Offer what the tree asks for. What has been put in stays.
  show(nodes) {
    const attributes = new Map();
    nodes.forEach((node) => {
      if (!node.test) return;
      const known = attributes.get(node.test.attribute) ?? { values: new Map(), numeric: node.test.at_most !== undefined };
      attributes.set(node.test.attribute, known);
    });
    for (const node of nodes) {
      const test = nodes[node.parent]?.test;
      const known = test && attributes.get(test.attribute);
      if (!known || known.numeric || node.value === MISSING) continue;
      const total = Object.values(node.counts).reduce((all, n) => all + n, 0);
      if (known.values.has(node.value) || known.values.size < MOST_VALUES) {
        known.values.set(node.value, (known.values.get(node.value) ?? 0) + total);
      }
    }
    const shown = [...attributes].slice(0, MOST_FIELDS);
    const sign = JSON.stringify(shown.map(([name, known]) => [name, known.numeric, [...known.values.keys()].sort()]));
    if (sign === this.known || this.fields.contains(document.activeElement)) {
      if (this.isAsked) this.soon();
      return;
    }
    this.known = sign;
    const rows = shown.map(([name, known]) => this.#field(name, known));
    this.fields.replaceChildren(...(rows.length ? rows : [make("p", {}, nodes.length ? "The tree asks nothing yet: it answers every record alike." : "There is nothing to ask yet.")]));
    byId("try").querySelector("button.main").disabled = !nodes.length;
    if (this.isAsked) this.soon();
  }

  #field(name, known) {
    const values = [...known.values.keys()].sort();
    // Something to begin with: what comes most often. What somebody has chosen stays, also if it is nothing.
    if (!this.values.has(name) && !this.chosen.has(name) && values.length) {
      this.values.set(name, values.reduce((best, one) => (known.values.get(one) > known.values.get(best) ? one : best)));
    }
    const value = this.values.get(name) ?? "";
    const isListed = !known.numeric && values.length <= 30 && (value === "" || values.includes(value));
    const label = make("label", {}, make("span", { title: name }, name), isListed ? this.#select(values, value) : this.#input(known, value));
    label.lastChild.setAttribute("aria-label", name);
    label.attribute = name;
    return label;
  }

  #select(values, value) {
    const select = make("select", {}, make("option", { value: "" }, "\u2013 missing"));
    for (const one of values) select.append(make("option", { value: one }, one));
    select.append(make("option", { value: OTHER }, "another value \u2026"));
    select.value = value;
    return select;
  }

  #input(known, value) {
    const input = make("input", { type: "text", inputmode: known.numeric ? "decimal" : null, placeholder: "missing", maxlength: 1000 });
    input.value = value;
    return input;
  }

  #changed(control) {
    const label = control.closest("label");
    this.chosen.add(label.attribute);
    if (control.value === OTHER) {
      const input = this.#input({ numeric: false }, "");
      input.setAttribute("aria-label", label.attribute);
      control.replaceWith(input);
      input.focus();
      this.values.delete(label.attribute);
      return;
    }
    if (control.value === "") this.values.delete(label.attribute);
    else this.values.set(label.attribute, control.value);
    if (this.isAsked) this.soon();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.isAsked && this.answer(), WAIT_MS);
  }

  async answer() {
    const box = byId("answer");
    let said;
    try {
      said = await this.ask(Object.fromEntries(this.values));
    } catch (error) {
      box.replaceChildren(error.message);
      return;
    }
    if (!this.isAsked) return;
    const asked = new Set(said.path.map((step) => step.attribute));
    for (const label of this.fields.children) label.classList.toggle("asked", asked.has(label.attribute));
    const total = Object.values(said.counts).reduce((all, n) => all + n, 0);
    const right = said.counts[said.answer] ?? 0;
    const name = make("b", {}, said.answer ?? "no answer");
    if (said.answer !== null) name.style.color = this.palette.colour(said.answer);
    const reason = said.flags.map((flag) => FLAGS[flag] ?? flag).join("; ");
    const words = said.answer === null ? "" : `${percent(total ? right / total : 0, 0)} of ${count(total)} such records`;
    const next = [name, words, reason ? ` \u2013 ${reason}` : ""];
    if (box.textContent !== next.map((part) => part.textContent ?? part).join("")) box.replaceChildren(...next.filter((part) => part !== ""));
    byId("clear").hidden = false;
    this.onAnswer(said);
  }
}
