// Zoom and pan: by wheel, drag, pinch, buttons and keys.

const NEAREST = 2.5;
const FURTHEST = 0.06;
const FAR = 0.5;
const LARGEST_FIT = 1.15;
const PAD_X = 26;
const PAD_Y = 18;

export class Canvas {
  constructor(svg, world, onZoom) {
    this.svg = svg;
    this.world = world;
    this.onZoom = onZoom;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.isFollowing = true; // until somebody moves the drawing, it is kept in view
    this.pointers = new Map();
    svg.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, (event) => this.#up(event));
  }

  get room() {
    return { width: this.svg.clientWidth || 800, height: this.svg.clientHeight || 500 };
  }

  apply() {
    this.world.setAttribute("transform", `translate(${this.x.toFixed(1)} ${this.y.toFixed(1)}) scale(${this.scale.toFixed(4)})`);
    this.svg.classList.toggle("far", this.scale < FAR);
    this.onZoom(this.scale);
  }

  zoom(factor, x = this.room.width / 2, y = this.room.height / 2) {
    this.isFollowing = false;
    const scale = Math.min(NEAREST, Math.max(FURTHEST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.apply();
  }

  scaleFor(width, height) {
    const room = this.room;
    const scale = Math.min((room.width - 2 * PAD_X) / Math.max(1, width), (room.height - 2 * PAD_Y) / Math.max(1, height));
    return Math.min(LARGEST_FIT, Math.max(FURTHEST, scale));
  }

  fit(width, height) {
    const room = this.room;
    this.scale = this.scaleFor(width, height);
    this.x = Math.max(PAD_X, (room.width - width * this.scale) / 2);
    this.y = (room.height - height * this.scale) / 2;
    this.apply();
  }

  // Bring a place of the drawing into view, if it is not.
  show(x, y, width) {
    const room = this.room;
    const [left, top] = [x * this.scale + this.x, y * this.scale + this.y];
    const right = left + width * this.scale;
    const before = [this.x, this.y];
    if (left < 20) this.x += 20 - left;
    else if (right > room.width - 20) this.x -= right - room.width + 20;
    if (top < 40) this.y += 40 - top;
    else if (top > room.height - 40) this.y -= top - room.height + 40;
    if (before[0] !== this.x || before[1] !== this.y) {
      this.isFollowing = false;
      this.apply();
    }
  }

  #wheel(event) {
    event.preventDefault();
    const box = this.svg.getBoundingClientRect();
    if (event.shiftKey) {
      this.isFollowing = false;
      this.x -= event.deltaX || event.deltaY;
      this.apply();
      return;
    }
    const step = Math.max(-60, Math.min(60, event.deltaY * (event.deltaMode ? 20 : 1)));
    this.zoom(Math.exp(-step * 0.004), event.clientX - box.left, event.clientY - box.top);
  }

  #down(event) {
    if (event.button > 0) return;
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, fromX: event.clientX, fromY: event.clientY });
    this.hasMoved = false;
  }

  #move(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return;
    const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId);
    if (others.length) {
      const other = others[0][1];
      const before = Math.hypot(pointer.x - other.x, pointer.y - other.y);
      const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      const box = this.svg.getBoundingClientRect();
      this.hasMoved = true;
      if (before > 0) this.zoom(after / before, (event.clientX + other.x) / 2 - box.left, (event.clientY + other.y) / 2 - box.top);
    } else {
      if (!this.hasMoved && Math.hypot(event.clientX - pointer.fromX, event.clientY - pointer.fromY) < 5) return;
      if (!this.hasMoved) this.svg.setPointerCapture(event.pointerId);
      this.hasMoved = true;
      this.isFollowing = false;
      this.svg.classList.add("moving");
      this.x += event.clientX - pointer.x;
      this.y += event.clientY - pointer.y;
      this.apply();
    }
    pointer.x = event.clientX;
    pointer.y = event.clientY;
  }

  #up(event) {
    this.pointers.delete(event.pointerId);
    this.svg.classList.remove("moving");
  }
}
