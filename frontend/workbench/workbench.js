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
    $("formula").setAttribute("aria-invalid", String(!found.ready));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    say($("reading"), problem instanceof TypeError ? "The server does not answer: start einderive explore again." : problem.message);
  }
  $("reading").classList.remove("stale");
};
$("asked").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(read, WAIT);
  $("reading").classList.add("stale");
});
$("asked").addEventListener("submit", async (event) => {
  event.preventDefault();
  $("derive").disabled = true;
  try {
    await send("derive", asked());
  } catch (problem) {
    shown();
    say($("said"), problem.message);
  }
  $("derive").disabled = running;
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
    read();
  }
});
read();

// The one job of the server, whichever tab began it: the server tells it after each change.
let running = false, job = 0;
const shown = () => { $("job").hidden = false; };
const follow = ({ data }) => {
  const told = JSON.parse(data);
  const began = told.number !== job;
  job = told.number;
  running = !told.over;
  shown();
  const words = told.said + (told.state === "failed" ? "" : ".");
  if ($("said").textContent !== words) $("said").textContent = words;
  $("said").className = told.state === "failed" ? "bad" : "";
  $("progress").innerHTML = told.progress;
  $("found").innerHTML = told.html;
  $("derive").disabled = running;
  $("stop").disabled = told.state !== "running";
  if (began && running) $("job").scrollIntoView({ block: "nearest" });
};
const events = new EventSource("events");
events.addEventListener("message", follow);
$("stop").addEventListener("click", () => send("stop", { number: job }).catch((problem) => say($("said"), problem.message)));
