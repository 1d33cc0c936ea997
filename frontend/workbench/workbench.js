"use strict";
// The server writes all HTML here, with every text escaped; this asks for it and puts it in place.
const $ = (id) => document.getElementById(id);
const WAIT = 150; // milliseconds after a key

const send = async (address, data, signal) => {
  const answer = await fetch(address, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(data), signal,
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
};
const asked = () => Object.fromEntries(new FormData($("asked")));
const say = (place, words) => {
  const said = document.createElement("p");
  said.className = "bad";
  said.textContent = words;
  place.replaceChildren(said);
};

// The formula, read again after each key.
let waiting, reading;
const read = async () => {
  reading?.abort();
  reading = new AbortController();
  const { signal } = reading;
  try {
    const found = await send("formula", asked(), signal);
    if (signal.aborted) return;
    $("reading").innerHTML = found.html;
    reachable($("reading"));
    $("formula").setAttribute("aria-invalid", String(!found.ready));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    say($("reading"), problem instanceof TypeError ? "The server does not answer: start einderive explore again." : problem.message);
  }
  $("reading").classList.remove("stale");
};
$("asked").addEventListener("input", () => {
  address.note();
  clearTimeout(waiting);
  waiting = setTimeout(read, WAIT);
  $("reading").classList.add("stale");
});
$("asked").addEventListener("submit", (event) => {
  event.preventDefault();
  begin("derive", asked());
});
$("reading").addEventListener("click", ({ target }) => {
  const { from, to, sizes } = target.dataset ?? {};
  if (from !== undefined) {
    $("formula").focus();
    $("formula").setSelectionRange(Number(from), Number(to));
  }
  if (sizes !== undefined) {
    $("sizes").value = `${$("sizes").value} ${sizes}`.trim();
    $("sizes").focus();
    address.note();
    read();
  }
});
const fill = (formula, sizes, dtypes) => {
  $("formula").value = formula;
  $("sizes").value = sizes;
  $("asked").elements.dtypes.value = dtypes;
  $("formula").focus();
  address.note();
  read();
};
// The fields in the page's address, where they are not as at first.
for (const field of $("asked").elements) {
  if (!field.name) continue;
  const first = field.value;
  address.part(field.name, () => (field.value === first ? "" : field.value || " "), (text) => {
    field.value = (text || first).trim();
    $("asked").dispatchEvent(new Event("input"));
  });
}
read();

// The one job of the server, whichever tab began it: the server tells it after each change.
let job = 0, over = true;
const grow = growing($("tree"), $("grown").querySelector(".told"));
const begin = async (kind, data) => {
  $("refused").textContent = "";
  try {
    await send(kind, data);
  } catch (problem) {
    $("refused").textContent = problem.message;
    $("refused").scrollIntoView({ block: "nearest" });
  }
};
// What is unfolded stays so where its section is written anew.
const unfolded = new Set();
const unfold = () => document.querySelectorAll("details[id]").forEach((each) => { each.open = unfolded.has(each.id); });
document.addEventListener("toggle", ({ target }) => {
  if (!target.id) return;
  if (target.open) unfolded.add(target.id); else unfolded.delete(target.id);
  address.note();
}, true);
address.part("open", () => [...unfolded].join("."), (text) => {
  unfolded.clear();
  text.split(".").filter(Boolean).forEach((each) => unfolded.add(each));
  unfold();
});
const put = (place, html) => { if (place.shown !== html) { place.shown = html; place.innerHTML = html; unfold(); reachable(place); } };
const follow = ({ data }) => {
  const told = JSON.parse(data);
  const section = $(`${told.kind}-job`);
  const part = (name) => section.querySelector(`.${name}`);
  if (told.kind === "derive") $("compile-job").hidden = true;
  if (told.kind === "derive" && job && told.number !== job) [...unfolded].filter((each) => each.startsWith("candidate-")).forEach((each) => unfolded.delete(each));
  section.hidden = false;
  const words = told.said + (told.state === "failed" ? "" : ".");
  if (part("said").textContent !== words) part("said").textContent = words;
  part("said").classList.toggle("bad", told.state === "failed");
  put(part("progress"), told.progress);
  put(part("found"), told.html);
  if (told.kind === "derive") grow(told.tree);
  part("stop").hidden = told.over;
  part("stop").disabled = told.state !== "running";
  for (const button of document.querySelectorAll("#derive, [data-compile]")) button.disabled = !told.over;
  if (told.number !== job && !told.over) section.scrollIntoView();
  if (told.over && !over) list();
  over = told.over;
  job = told.number;
};
new EventSource("events").addEventListener("message", follow);
document.addEventListener("click", ({ target }) => {
  if (target.classList.contains("stop")) send("stop", { number: job }).catch(() => {}); // it was over
  const record = target.dataset?.compile;
  if (record) begin("compile", { record, seconds: target.parentElement.querySelector(".effort")?.value ?? 3 });
});
