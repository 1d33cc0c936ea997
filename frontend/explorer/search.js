"use strict";
// The search as a drawn tree.  What a click or a key changes is the state below; `draw` shows it.
const COLUMN = 190, ROW = 26, MOST_RESULTS = 40, MOST_FOLDS = 1000;
const byId = (id) => document.getElementById(`s-${id}`);
const element = (tag, text = "", given = {}) => {
  const made = document.createElement(tag);
  if (text !== "") made.textContent = text;
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  return made;
};
const unpacked = async (text) => {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};

const explore = (data) => {
  const s = data.states, count = s.text.length;
  const label = s.text.map((text) => /^[^[ ]*/.exec(text)[0]);
  const chosen = new Set(data.programs[0] ?? []);
  const children = Array.from({ length: count }, () => []);
  const roots = [];
  data.parents.forEach((parent, i) => (parent < 0 ? roots : children[parent]).push(i));
  // The chosen path leads along the top, so its states come first.
  const rank = (i) => (chosen.has(i) ? 0 : 1);
  for (const list of [...children, roots]) list.sort((a, b) => rank(a) - rank(b) || s.found[a] - s.found[b] || a - b);
  const below = new Array(count).fill(0), holds = new Array(count).fill(false), depth = new Array(count).fill(0);
  const order = [], stack = [...roots].reverse();
  while (stack.length) {
    const i = stack.pop();
    order.push(i);
    for (let c = children[i].length - 1; c >= 0; c--) { depth[children[i][c]] = depth[i] + 1; stack.push(children[i][c]); }
  }
  for (const i of [...order].reverse()) {
    holds[i] = chosen.has(i) || children[i].some((c) => holds[c]);
    below[i] = children[i].reduce((total, c) => total + 1 + below[c], 0);
  }
  const reasons = s.mismatches.map((list) => list.map((n) => data.reasons[n]));
  const hay = s.text.map((text, i) =>
    [text, data.rules[i], data.ways[i], s.operator[i] || "generated kernel", s.nearest[i], ...reasons[i]].join(" ").toLowerCase());
  const last = Math.max(...s.found, 1e-9);
  const gives = Array.from({ length: count }, () => []), comes = Array.from({ length: count }, () => []);
  data.equalities.before.forEach((i, e) => { gives[i].push(e); comes[data.equalities.after[e]].push(e); });
  const readBy = Array.from({ length: count }, () => []);
  s.reads.forEach((list, i) => list.forEach((read) => readBy[read].push(i)));
  const refused = Array.from({ length: count }, () => []);
  data.refused.state.forEach((i, r) => refused[i].push(r));

  const folded = new Set();
  const foldsAtFirst = () => { const found = new Set(); for (let i = 0; i < count; i++) if (children[i].length && !holds[i]) found.add(i); return found; };
  const foldToChosen = () => { folded.clear(); foldsAtFirst().forEach((i) => folded.add(i)); };
  let hits = new Set(), at = roots[0] ?? 0, scale = 1, left = 0, top = 0, until = last, across = "steps";
  let shown = [], height = 0, place = new Map();

  const layout = () => {
    const known = (i) => s.found[i] <= until, found = rowsOf(roots, children, folded, known);
    ({ shown, height } = found);
    place = new Map(shown.map((i, k) => {
      const x = across === "steps" ? depth[i] * COLUMN : (s.found[i] / last) * COLUMN * 8 + depth[i] * 6;
      return [i, { x, y: found.rows[k] * ROW }];
    }));
  };

  const canvas = byId("canvas"), pen = canvas.getContext("2d");
  let colours = {};
  const readColours = () => { colours = coloursOf(); };
  const link = (from, to, way, strong) => {
    pen.beginPath();
    pen.strokeStyle = strong ? colours.accent : way === "read" ? colours.rule : colours.muted;
    pen.lineWidth = strong ? 3 : 1;
    pen.setLineDash(way === "explorative" ? [5, 3] : way === "read" ? [1, 3] : []);
    const trunk = from.x + (to.y === from.y ? 6 : 0);
    pen.moveTo(trunk, from.y + (to.y === from.y ? 0 : 6));
    pen.lineTo(trunk, to.y);
    pen.lineTo(to.x - 6, to.y);
    pen.stroke();
    pen.setLineDash([]);
  };
  const node = (i) => {
    const { x, y } = place.get(i), way = data.ways[i];
    if (hits.has(i)) { pen.fillStyle = colours["bar-2"]; pen.beginPath(); pen.arc(x, y, 10, 0, 7); pen.fill(); }
    pen.beginPath();
    if (way === "read") pen.rect(x - 4, y - 4, 8, 8); else pen.arc(x, y, 5, 0, 7);
    const colour = chosen.has(i) ? colours.accent : way === "converging" ? colours.good : colours.muted;
    pen.fillStyle = way === "explorative" ? colours.paper : colour;
    pen.strokeStyle = colour; pen.lineWidth = 1.6;
    pen.fill(); pen.stroke();
    if (i === at) { pen.strokeStyle = colours.ink; pen.lineWidth = 2; pen.strokeRect(x - 10, y - 10, 20, 20); }
    if (scale < 0.45) return;
    const more = folded.has(i) && below[i] ? ` +${below[i]}` : "";
    const said = `${label[i]} ${data.rules[i] || (way === "read" ? "" : `(${way})`)}`;
    pen.fillStyle = chosen.has(i) ? colours.ink : colours.muted;
    pen.font = `${chosen.has(i) ? "600 " : ""}12px ${colours.font}`;
    pen.fillText(said + more, x + 9, y - 7, COLUMN - 24);
  };
  const draw = () => {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, tall = canvas.clientHeight;
    if (canvas.width !== width * ratio || canvas.height !== tall * ratio) { canvas.width = width * ratio; canvas.height = tall * ratio; }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, tall);
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
    const low = -top / scale - ROW, high = (tall - top) / scale + ROW;
    const right = (width - left) / scale + 12, start = -left / scale - COLUMN;
    const near = (p) => p.y >= low && p.y <= high && p.x >= start && p.x <= right;
    const strong = [], trunks = new Set();
    for (const i of shown) {
      const from = place.get(data.parents[i]);
      let to = place.get(i);
      if (!from || to.y < low || from.y > high || from.x > right || to.x < start) continue;
      if (to.y > high) {  // of links that end below, one trunk for each parent and way is seen
        const trunk = `${data.parents[i]} ${data.ways[i]} ${chosen.has(i)}`;
        if (trunks.has(trunk)) continue;
        trunks.add(trunk);
        to = { x: to.x, y: high };
      }
      if (chosen.has(i) && chosen.has(data.parents[i])) strong.push([from, to, data.ways[i], true]);
      else link(from, to, data.ways[i], false);
    }
    for (const each of strong) link(...each);
    for (const i of shown) if (near(place.get(i))) node(i);
    byId("when").textContent = seconds(until);
  };
  let waiting = 0;
  const redraw = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); address.note(); };
  const relayout = () => {
    const before = place.get(at);
    layout();
    const after = place.get(at);
    if (before && after) { left += (before.x - after.x) * scale; top += (before.y - after.y) * scale; }
    told();
    redraw();
  };
  const told = () => {
    const found = byId("find").value.trim() ? `${hits.size} found; ` : "";
    byId("count").textContent = `${found}${shown.length} of ${count} expressions drawn`;
  };
  const fit = () => {
    const width = Math.max(...shown.map((i) => place.get(i).x)) + COLUMN;
    scale = Math.max(0.02, Math.min(1, canvas.clientWidth / (width + 20), canvas.clientHeight / ((height + 2) * ROW)));
    left = 16; top = 24 * Math.max(scale, 0.5);
    redraw();
  };
  const home = () => { scale = canvas.clientWidth < 500 ? 0.75 : 1; left = 20; top = 32; redraw(); };
  const near = () => {
    const p = place.get(at);
    if (!p) return;
    const x = p.x * scale + left, y = p.y * scale + top;
    if (x < 20) left += 20 - x; else if (x > canvas.clientWidth - 120) left -= x - canvas.clientWidth + 120;
    if (y < 24) top += 24 - y; else if (y > canvas.clientHeight - 24) top -= y - canvas.clientHeight + 24;
  };
  const zoom = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    const to = Math.min(3, Math.max(0.02, scale * factor));
    left = x - ((x - left) * to) / scale; top = y - ((y - top) * to) / scale; scale = to;
    redraw();
  };
  const select = (i, opening = true) => {
    for (let p = data.parents[i]; opening && p >= 0; p = data.parents[p]) folded.delete(p);
    if (s.found[i] > until) { until = last; byId("until").value = 1000; }
    at = i;
    layout(); near(); told(); redraw();
    detail(i);
  };

  // What is known of one expression.
  const button = (i, after = "") => {
    const item = element("li"), go = element("button", label[i], { type: "button", class: "go" });
    go.addEventListener("click", () => select(i));
    item.append(go, after);
    return item;
  };
  const listed = (title, items) => {
    if (!items.length) return [];
    const list = element("ul");
    list.append(...items.slice(0, MOST_RESULTS));
    if (items.length > MOST_RESULTS) list.append(element("li", `and ${items.length - MOST_RESULTS} more`));
    return [element("h4", title), list];
  };
  const statement = (i) => {
    const line = element("div", "", { class: "line" });
    const ranges = new Map(s.iterators[i].map(([name, lo, hi]) => [name, [lo, hi]]));
    const maths = formula(s.text[i], ranges);
    const loops = s.iterators[i].slice(0, s.loops[i]).map(([name, lo, hi]) => `${name} in ${lo}:${hi}`);
    const code = element("code", `${s.text[i]}${loops.length ? ` where ${loops.join(", ")}` : ""}`, maths ? { class: "text" } : {});
    if (maths) { const span = element("span", "", { class: "math" }); span.append(maths); line.append(span); }
    line.append(code);
    return line;
  };
  const program = (i) => {
    // What it reads, each once, producers first.
    const seen = new Set(), found = [];
    const visit = (j, deep) => {
      if (seen.has(j) || found.length > 60 || deep > 200) return;
      seen.add(j);
      s.reads[j].forEach((r) => visit(r, deep + 1));
      found.push(j);
    };
    visit(i, 0);
    return found;
  };
  const table = (i) => {
    const name = s.operator[i] || s.nearest[i], operator = data.operators[name];
    const fits = Boolean(s.operator[i]);
    const wide = element("div", "", { class: "wide", tabindex: "0", role: "region", "aria-label": "Iterators" });
    const made = element("table");
    made.append(element("caption", operator
      ? `Iterators beside those of ${name}: ${operator.definition}`
      : "Iterators"));
    const head = element("tr");
    for (const text of ["iterator", "range", "kind", "held by", `plays in ${name || "no operator"}`]) head.append(element("th", text, { scope: "col" }));
    const body = element("tbody");
    const compared = operator && operator.table.length && s.iterators[i].some(([, , , held, roles]) => held.length || roles.length);
    s.iterators[i].forEach(([iterator, lo, hi, held, roles], n) => {
      const line = element("tr"), missing = compared && !roles.length && hi - lo > 1;
      if (missing) line.className = "missing";
      line.append(element("th", iterator, { scope: "row" }), element("td", `${lo}:${hi}`), element("td", n < s.loops[i] ? "loop" : "summed"),
        element("td", compared ? held.map((o) => operator.operands[o]).join(", ") || "no operand" : "—"),
        element("td", missing ? "✗ no role" : roles.join(" or ") || "—"));
      body.append(line);
    });
    const thead = element("thead");
    thead.append(head);
    made.append(thead, body);
    wide.append(made);
    const parts = [wide];
    if (!fits && reasons[i].length) parts.push(...listed(`Why it is no ${name}`, reasons[i].map((text) => element("li", text))));
    return parts;
  };
  const detail = (i) => {
    const panel = byId("detail"), facts = element("dl", "", { class: "facts" });
    const parent = data.parents[i];
    const fact = (name, text) => facts.append(element("dt", name), element("dd", text));
    fact("why", data.why[i]);
    fact("reached", data.ways[i] === "given" ? "part of the given program" : data.ways[i] === "assembled" || parent < 0 ? "made of others while programs were put together" : data.ways[i] === "read" ? `read by ${label[parent]}` : `from ${label[parent]} by ${data.rules[i]}, ${data.ways[i]}`);
    fact("found", `after ${seconds(s.found[i])}${s.expanded[i] ? `, expanded as number ${s.expanded[i]}` : ", not expanded"}`);
    fact("distance", s.operator[i] ? `0, ${s.operator[i]}` : s.nearest[i] ? `${s.distance[i]} to ${s.nearest[i]}` : "no operator");
    fact("predicted", `${seconds(s.seconds[i])} alone, ${seconds(s.total[i])} with what it reads, ${seconds(s.best[i])} at best`);
    const e = data.equalities;
    const step = (n, j) => button(j, ` by ${e.rule[n]}, ${e.converging[n] ? "converging" : "explorative"}: ${e.witness[n]}`);
    const said = refused[i].map((r) => element("li", `${data.refused.rule[r]}: ${data.reasons[data.refused.reason[r]]}${data.refused.count[r] > 1 ? ` (${data.refused.count[r]} times)` : ""}`));
    panel.replaceChildren(
      element("h3", `${label[i]}${chosen.has(i) ? ", on the chosen path" : ""}`),
      ...program(i).map(statement), facts, ...table(i),
      ...listed("Equal to it by a step from it", gives[i].map((n) => step(n, e.after[n]))),
      ...listed("It comes from", comes[i].map((n) => step(n, e.before[n]))),
      ...listed("It reads", s.reads[i].map((j) => button(j))),
      ...listed("Read by", readBy[i].map((j) => button(j))),
      ...listed("Refused here", said));
    reachable();
  };

  // Input.
  const toggle = (i) => { if (children[i].length) { if (!folded.delete(i)) folded.add(i); relayout(); } };
  const hit = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - left) / scale, y = (event.clientY - box.top - top) / scale;
    let best = -1, least = (14 / Math.min(1, scale)) ** 2;
    for (const i of shown) {
      const p = place.get(i), dx = x < p.x ? p.x - x : Math.max(0, x - p.x - (scale < 0.45 ? 0 : COLUMN * 0.6)), far = dx ** 2 + (p.y - y) ** 2;
      if (far < least) { least = far; best = i; }
    }
    return best;
  };
  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); pointers.set(event.pointerId, event); moved = 0; });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers.values()].filter((p) => p.pointerId !== event.pointerId);
    if (others.length) {
      const far = (p) => Math.hypot(p.clientX - others[0].clientX, p.clientY - others[0].clientY);
      const box = canvas.getBoundingClientRect();
      zoom(far(event) / Math.max(1, far(before)), others[0].clientX - box.left, others[0].clientY - box.top);
    } else { left += event.clientX - before.clientX; top += event.clientY - before.clientY; redraw(); }
    moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    pointers.set(event.pointerId, event);
  });
  const lift = (event) => {
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && moved < 6) {
      const i = hit(event);
      if (i >= 0) { if (i === at) toggle(i); else select(i, false); }
    }
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;  // the page scrolls
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const line = shown.indexOf(at), kids = children[at].filter((c) => place.has(c));
    const keys = {
      ArrowLeft: () => data.parents[at] >= 0 && select(data.parents[at], false),
      ArrowRight: () => { if (folded.has(at)) toggle(at); else if (kids.length) select(kids[0], false); },
      ArrowDown: () => line + 1 < shown.length && select(shown[line + 1], false),
      ArrowUp: () => line > 0 && select(shown[line - 1], false),
      Enter: () => toggle(at), " ": () => toggle(at), Home: () => select(roots[0], false),
      "+": () => zoom(1.25), "-": () => zoom(0.8), 0: fit,
    };
    if (event.key in keys && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); }
  });
  const find = () => {
    const wanted = byId("find").value.trim().toLowerCase();
    const found = [];
    if (wanted) for (let i = 0; i < count; i++) if (hay[i].includes(wanted)) found.push(i);
    hits = new Set(found);
    byId("results").replaceChildren(...found.slice(0, MOST_RESULTS).map((i) => {
      const item = button(i);
      item.append(element("code", ` ${s.text[i].length > 90 ? `${s.text[i].slice(0, 89)}…` : s.text[i]}`));
      return item;
    }));
    told(); redraw();
    return found;
  };
  byId("find").addEventListener("input", find);
  byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter" && hits.size) select([...hits][0]); });
  byId("in").addEventListener("click", () => zoom(1.3));
  byId("out").addEventListener("click", () => zoom(1 / 1.3));
  byId("fit").addEventListener("click", fit);
  byId("open").addEventListener("click", () => { folded.clear(); relayout(); });
  byId("fold").addEventListener("click", () => { foldToChosen(); layout(); told(); home(); });
  byId("across").addEventListener("change", (event) => { across = event.target.value; layout(); home(); });
  byId("until").addEventListener("input", (event) => { until = event.target.value >= 1000 ? last : (last * event.target.value) / 1000; relayout(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); redraw(); });
  new ResizeObserver(redraw).observe(canvas);

  document.getElementById("searched").hidden = false;
  readColours(); foldToChosen(); layout(); home(); told(); detail(at);

  // The view in the page's address.  Folds are those that differ from the first ones, or after "all"
  // those that are shut.
  const looked = () => `${scale} ${left} ${top}`, start = looked();
  const field = (name, first, event) => address.part(name, () => (byId(name).value === first ? "" : byId(name).value), (text) => {
    byId(name).value = text || first;
    byId(name).dispatchEvent(new Event(event));
  });
  field("across", "steps", "change");
  field("until", "1000", "input");
  field("find", "", "input");
  address.part("folds", () => {
    const first = foldsAtFirst(), all = order.filter((i) => children[i].length);
    const near = all.filter((i) => folded.has(i) !== first.has(i)), shut = all.filter((i) => folded.has(i));
    if (!near.length) return "";
    return (shut.length < near.length ? ["all", ...shut] : near).slice(0, MOST_FOLDS).join(".");
  }, (text) => {
    foldToChosen();
    if (text.startsWith("all")) folded.clear();
    for (const i of numbers(text, count)) if (!folded.delete(i)) folded.add(i);
    relayout();
  });
  address.part("at", () => (at === (roots[0] ?? 0) ? "" : `${at}`), (text) => { at = numbers(text, count)[0] ?? roots[0] ?? 0; relayout(); detail(at); });
  address.part("view", () => (looked() === start ? "" : looked()), (text) => {
    const [size, x, y] = text.split(" ").map(Number);
    if (size > 0 && Number.isFinite(x + y)) { scale = Math.min(3, Math.max(0.02, size)); left = x; top = y; redraw(); } else home();
  });
};

const packed = document.getElementById("s-data").content.textContent.trim();
unpacked(packed).then(explore).catch((problem) => {
  document.getElementById("s-data").replaceWith(element("p", `The search cannot be drawn in this browser: ${problem.message}`));
});
