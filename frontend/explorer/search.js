"use strict";
// The search as a drawn tree.  What a click or a key changes is the state below; `draw` shows it.
const MOST_RESULTS = 40, MOST_FOLDS = 1000, FEW = 10;
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

  // A folded state shows of its children those that lead to the chosen path, and how many are below the rest.
  const hidden = children.map((list) => list.reduce((total, c) => (holds[c] ? total : total + 1 + below[c]), 0));
  const foldable = (i) => hidden[i] > 0;
  const folded = new Set(), visible = (i) => (folded.has(i) ? children[i].filter((c) => holds[c]) : children[i]);
  const firstFolds = new Set(order.filter(foldable));
  // Where hardly anything was chosen, the first steps are shown too.
  if (order.filter((i) => holds[i]).length < FEW) roots.forEach((i) => firstFolds.delete(i));
  const foldToChosen = () => { folded.clear(); firstFolds.forEach((i) => folded.add(i)); };
  let hits = new Set(), at = roots[0] ?? 0, until = last, across = "steps", shown = [];

  const canvas = byId("canvas");
  const drawing = treeDrawing(canvas, {
    parents: data.parents, ways: data.ways, chosen, label: (i) => label[i],
    rule: (i) => data.rules[i] || (data.ways[i] === "read" ? "" : `(${data.ways[i]})`),
    hidden: (i) => (folded.has(i) ? hidden[i] : 0),
  });
  const { view } = drawing;
  const LONG = 8 * COLUMN;  // of the axis of time, at full size
  const column = (i) => (across === "steps" ? depth[i] * COLUMN : (s.found[i] / last) * LONG + depth[i] * 6);
  const layout = () => {
    const known = (i) => s.found[i] <= until, found = rowsOf(roots, (i) => visible(i).filter(known), known);
    ({ shown } = found);
    drawing.layout(found, column);
    canvas.style.setProperty("--tall", `${drawing.tallest()}px`);
  };
  const ticks = () => (across === "steps" ? [] : Array.from({ length: 9 }, (_, n) => [(n / 8) * LONG, n ? seconds((n / 8) * last) : "0"]));
  const draw = () => drawing.draw({ marked: at, hits, ticks: ticks() });
  let waiting = 0;
  const redraw = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); address.note(); };
  const relayout = () => {
    const before = drawing.place(at);
    layout();
    const after = drawing.place(at);
    if (before && after) { view.left += before.x - after.x; view.top += before.y - after.y; }
    told();
    redraw();
  };
  const told = () => {
    const found = byId("find").value.trim() ? `${hits.size} found; ` : "";
    byId("count").textContent = `${found}${shown.length} of ${count} expressions drawn`;
    byId("when").textContent = seconds(until);
    byId("until").setAttribute("aria-valuetext", seconds(until));
  };
  const fit = () => { drawing.fit(); redraw(); };
  const home = () => { drawing.home(); redraw(); };
  const near = () => {
    const p = drawing.place(at);
    if (!p) return;
    if (p.x < 20) view.left += 20 - p.x; else if (p.x > canvas.clientWidth - 120) view.left -= p.x - canvas.clientWidth + 120;
    if (p.y < 24) view.top += 24 - p.y; else if (p.y > canvas.clientHeight - 24) view.top -= p.y - canvas.clientHeight + 24;
  };
  const zoom = (factor, x, y) => { drawing.zoom(factor, x, y); redraw(); };
  const select = (i, opening = true) => {
    // Its parents are unfolded as far as they hide it.
    let changed = false;
    for (let c = i, p = data.parents[i]; opening && p >= 0; c = p, p = data.parents[p]) if (!holds[c] && folded.delete(p)) changed = true;
    if (s.found[i] > until) { until = last; byId("until").value = 1000; changed = true; }
    at = i;
    if (changed) { layout(); told(); }
    near(); redraw();
    detail(i);
    byId("said").textContent = spoken(i);
  };
  // What a screen reader says of the expression that was gone to.
  const spoken = (i) => [
    label[i], data.rules[i] ? `by ${data.rules[i]}, ${data.ways[i]}` : data.ways[i], chosen.has(i) ? "on the chosen path" : "",
    s.operator[i] || (s.nearest[i] && `distance ${s.distance[i]} to ${s.nearest[i]}`), `${seconds(s.best[i])} at best`,
    folded.has(i) ? `folded, ${hidden[i]} below` : "",
  ].filter(Boolean).join("; ");

  // What is known of one expression.
  const button = (i, after = "") => {
    const item = element("li"), go = element("button", label[i], { type: "button", class: "go" });
    go.addEventListener("click", () => select(i));
    item.append(go, after);
    return item;
  };
  const listed = (title, items, look = "") => {
    if (!items.length) return [];
    const list = element("ul", "", look && { class: look });
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
      ...listed("Equal to it by one step", gives[i].map((n) => step(n, e.after[n]))),
      ...listed("Steps that lead to it", comes[i].map((n) => step(n, e.before[n]))),
      ...listed("It reads", s.reads[i].map((j) => button(j)), "short"),
      ...listed("Read by", readBy[i].map((j) => button(j)), "short"),
      ...listed("Refused here", said));
    reachable(panel);
  };

  // Input.
  const toggle = (i) => { if (foldable(i)) { if (!folded.delete(i)) folded.add(i); relayout(); byId("said").textContent = spoken(i); } };
  const hit = (event) => {
    const box = canvas.getBoundingClientRect();
    return drawing.nearest(event.clientX - box.left, event.clientY - box.top);
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
    } else { view.left += event.clientX - before.clientX; view.top += event.clientY - before.clientY; redraw(); }
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
    const line = shown.indexOf(at), kids = visible(at).filter((c) => s.found[c] <= until);
    const keys = {
      ArrowLeft: () => data.parents[at] >= 0 && select(data.parents[at], false),
      ArrowRight: () => { if (kids.length) select(kids[0], false); else if (folded.has(at)) toggle(at); },
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
  byId("open").addEventListener("click", () => { folded.clear(); layout(); told(); fit(); });
  byId("fold").addEventListener("click", () => { foldToChosen(); layout(); told(); home(); });
  byId("across").addEventListener("change", (event) => { across = event.target.value; layout(); home(); });
  byId("until").addEventListener("input", (event) => { until = event.target.value >= 1000 ? last : (last * event.target.value) / 1000; relayout(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawing.colours(); redraw(); });
  new ResizeObserver(redraw).observe(canvas);

  document.getElementById("searched").hidden = false;
  drawing.colours(); foldToChosen(); layout(); home(); told(); detail(at);

  // The view in the page's address.  Folds are those that differ from the first ones, or after "all"
  // those that are shut.
  const looked = () => `${view.across} ${view.down} ${view.left} ${view.top}`, start = looked();
  const field = (name, first, event) => address.part(name, () => (byId(name).value === first ? "" : byId(name).value), (text) => {
    byId(name).value = text || first;
    byId(name).dispatchEvent(new Event(event));
  });
  field("across", "steps", "change");
  field("until", "1000", "input");
  field("find", "", "input");
  address.part("folds", () => {
    const all = order.filter(foldable);
    const near = all.filter((i) => folded.has(i) !== firstFolds.has(i)), shut = all.filter((i) => folded.has(i));
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
    const [wide, tall, x, y] = text.split(" ").map(Number);
    if (!(wide > 0 && tall > 0 && Number.isFinite(x + y))) { home(); return; }
    Object.assign(view, { across: Math.min(WIDEST, wide), down: Math.min(WIDEST, tall), left: x, top: y });
    redraw();
  });
};

const packed = document.getElementById("s-data").content.textContent.trim();
unpacked(packed).then(explore).catch((problem) => {
  document.getElementById("s-data").replaceWith(element("p", `The search cannot be drawn in this browser: ${problem.message}`));
});
