// The slider through the versions of the tree.

import { byId, clock, count, draw, say } from "./dom.js";

const PLAY_MS = 350;
const FORWARD = "M5 3l12 7-12 7z";
const PAUSE = "M5 3h3.500v14H5zM11.500 3H15v14h-3.500z";

export class Versions {
  constructor(onVersion, onLive) {
    this.onVersion = onVersion;
    this.onLive = onLive;
    this.stops = [];
    this.isLive = true;
    this.slider = byId("slider");
    this.slider.addEventListener("input", () => this.#slid());
    byId("live").addEventListener("click", () => (this.isLive ? this.hold() : this.goLive()));
    byId("play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
  }

  reset() {
    this.pause();
    this.stops = [];
    this.isLive = true;
    this.#show();
  }

  // The server thins the versions out as they get old; the one that is looked at stays where it is.
  take(stops) {
    const held = this.stops[Number(this.slider.value)]?.[0];
    this.stops = stops;
    if (!this.isLive && held !== undefined) {
      let place = stops.findIndex(([version]) => version >= held);
      if (place < 0) place = stops.length - 1;
      this.slider.max = String(Math.max(0, stops.length - 1));
      this.slider.value = String(place);
    }
    this.#show();
  }

  goLive() {
    this.pause();
    if (this.isLive) return;
    this.isLive = true;
    this.#show();
    this.onLive();
  }

  // Stay with the tree of this moment.
  hold() {
    if (this.stops.length) this.#choose();
  }

  // Go to a version, or to the one before it that was kept.
  goTo(version) {
    let place = this.stops.findLastIndex(([one]) => one <= version);
    if (place < 0) place = 0;
    if (!this.stops.length) return;
    this.slider.value = String(place);
    this.#slid();
  }

  play() {
    if (this.stops.length < 2) return;
    let place = this.isLive || Number(this.slider.value) >= this.stops.length - 1 ? 0 : Number(this.slider.value);
    byId("play-shape").setAttribute("d", PAUSE);
    byId("play").setAttribute("aria-label", "Stop playing");
    const step = () => {
      if (place >= this.stops.length - 1) {
        this.goLive();
        return;
      }
      this.slider.value = String(place);
      this.#choose();
      place += 1;
    };
    this.timer = setInterval(step, PLAY_MS);
    step();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    byId("play-shape").setAttribute("d", FORWARD);
    byId("play").setAttribute("aria-label", "Play the versions");
  }

  #slid() {
    this.pause();
    this.#choose();
  }

  #choose() {
    const place = Number(this.slider.value);
    const stop = this.stops[place];
    if (!stop) return;
    this.isLive = false;
    this.#show();
    this.onVersion(stop[0]);
  }

  #show() {
    const last = Math.max(0, this.stops.length - 1);
    this.slider.max = String(last);
    if (this.isLive) this.slider.value = String(last);
    this.slider.disabled = this.stops.length < 2;
    byId("play").disabled = this.stops.length < 2;
    byId("live").setAttribute("aria-pressed", String(this.isLive));
    const stop = this.stops[Number(this.slider.value)];
    const words = stop ? `version ${count(stop[0])} \u00b7 ${count(stop[2])} nodes \u00b7 ${clock(stop[1])}` : "no versions yet";
    say(byId("when"), words);
    this.slider.setAttribute("aria-valuetext", this.isLive ? `live, ${words}` : words);
    this.#ticks();
  }

  #ticks() {
    const svg = byId("ticks");
    const width = svg.clientWidth || 600;
    const knob = 16; // the slider's own: its value is the middle of it
    svg.setAttribute("viewBox", `0 0 ${width} 12`);
    const last = Math.max(1, this.stops.length - 1);
    svg.replaceChildren(
      ...this.stops.map(([, , , kind, changes], place) => {
        const x = knob / 2 + ((width - knob) * place) / last;
        const height = Math.min(11, 4 + 2 * Math.log2(1 + changes));
        return draw("line", { class: kind ? `k-${kind}` : "", x1: x, x2: x, y1: 12 - height, y2: 12 });
      }),
    );
  }
}
