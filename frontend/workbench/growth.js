"use strict";
// The tree of a search while it grows.  The server sends what is new: [parent, way, rule, operator, seconds, distance].
const GIVEN = 0, READ = 1, CONVERGING = 2, EXPLORATIVE = 3;
const WAYS = ["given", "read by the one before", "converging", "explorative"];
const growing = (canvas, said) => {
  const pen = canvas.getContext("2d");
  let states = [], children = [], depth = [], roots = [], chosen = new Set();
  let laid = { shown: [], rows: [], height: 0 }, colours = coloursOf(), waiting = 0, places = [], deepest = 1;

  const add = ({ from, rows, chosen: path }) => {
    if (!rows.length && path.length === chosen.size) return;
    if (from < states.length) { states = []; children = []; depth = []; roots = []; deepest = 1; }
    for (const row of rows) {
      const i = states.push(row) - 1, parent = row[0];
      children.push([]);
      depth.push(parent < 0 ? 0 : depth[parent] + 1);
      deepest = Math.max(deepest, depth[i]);
      (parent < 0 ? roots : children[parent]).push(i);
    }
    chosen = new Set(path);
    if (path.length) {  // the chosen path leads along the top
      const holds = states.map((_, i) => chosen.has(i));
      for (let i = states.length - 1; i >= 0; i--) if (holds[i] && states[i][0] >= 0) holds[states[i][0]] = true;
      for (const list of [...children, roots]) list.sort((a, b) => holds[b] - holds[a] || a - b);
    }
    laid = rowsOf(roots, (i) => children[i]);
    canvas.parentElement.hidden = !states.length;
    canvas.setAttribute("aria-label", `Tree of the search: ${states.length} expressions, ${states.filter((s) => s[1] === CONVERGING).length} of them by converging steps`);
    canvas.dataset.count = states.length;
    redraw();
  };
  const draw = () => {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, tall = canvas.clientHeight;
    if (canvas.width !== width * ratio || canvas.height !== tall * ratio) { canvas.width = width * ratio; canvas.height = tall * ratio; }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, tall);
    const across = Math.min(120, (width - 24) / deepest), down = Math.min(22, (tall - 24) / Math.max(1, laid.height));
    const size = Math.max(1, Math.min(4.5, down / 2, across / 3));
    places = new Array(states.length);
    laid.shown.forEach((i, k) => { places[i] = { x: 12 + depth[i] * across, y: 12 + laid.rows[k] * down }; });
    const colour = (way) => (way === CONVERGING ? colours.good : way === READ ? colours.rule : colours.muted);
    const path = (want, stroke, thick, dash = []) => {  // one stroke for all links of a kind
      pen.beginPath();
      pen.strokeStyle = stroke; pen.lineWidth = thick; pen.setLineDash(dash);
      states.forEach(([parent, way], i) => {
        if (parent < 0 || !want(i, parent, way)) return;
        const from = places[parent], to = places[i];
        pen.moveTo(from.x, from.y); pen.lineTo(from.x + across / 3, to.y); pen.lineTo(to.x, to.y);
      });
      pen.stroke();
      pen.setLineDash([]);
    };
    for (const way of [READ, EXPLORATIVE, CONVERGING]) path((i, p, w) => w === way, colour(way), down < 3 ? 0.5 : 1, way === EXPLORATIVE && down > 6 ? [5, 3] : []);
    path((i, p) => chosen.has(i) && chosen.has(p), colours.accent, 3);
    const dots = (want, fill, wide) => {
      pen.beginPath();
      pen.fillStyle = fill;
      states.forEach(([, way], i) => {
        if (!want(i, way)) return;
        const { x, y } = places[i];
        pen.moveTo(x + wide, y);
        if (wide < 2) pen.rect(x - wide, y - wide, 2 * wide, 2 * wide); else pen.arc(x, y, wide, 0, 7);
      });
      pen.fill();
    };
    for (const way of [READ, EXPLORATIVE, CONVERGING, GIVEN]) dots((i, w) => w === way && !chosen.has(i), way === GIVEN ? colours.ink : colour(way), size);
    dots((i) => chosen.has(i), colours.accent, Math.max(size, 3.5));
    canvas.dataset.drawn = states.length;
  };
  const redraw = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = 400;
    places.forEach((p, i) => { const far = (p.x - x) ** 2 + (p.y - y) ** 2; if (far < least) { least = far; best = i; } });
    if (best < 0) return;
    const [, way, rule, operator, time, distance] = states[best];
    const near = operator ? (distance ? `, ${distance} from ${operator}` : `, ${operator}`) : "";
    said.textContent = `${rule || (way === READ ? "read" : "the formula as given")}${way > READ ? `, ${WAYS[way]}` : ""}${near}; ${seconds(time)} predicted as one stage`;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours = coloursOf(); redraw(); });
  new ResizeObserver(redraw).observe(canvas);
  return add;
};
