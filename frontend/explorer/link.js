"use strict";
// What a person sees of the page, kept in its address: #search?find=expand&at=17&open=2.  Each part
// of the page says what it keeps, and how that is restored; what is as at first is not kept.
const address = (() => {
  const parts = new Map(), REST = 250; // milliseconds after a change; browsers limit how often
  let place = "", values = new URLSearchParams(), waiting = 0;
  const parsed = () => {
    const [before, ...after] = location.hash.slice(1).split("?");
    try { place = decodeURIComponent(before); } catch { place = ""; }
    return after.length ? new URLSearchParams(after.join("?")) : null;
  };
  const target = () => (place ? document.getElementById(place) : null);
  // The place that was followed while it can be seen, and else the section that is being read.
  const seen = () => {
    const box = target()?.getBoundingClientRect();
    if (box?.height && box.bottom > 0 && box.top < innerHeight / 2) return place;
    const sections = [...document.querySelectorAll("main > section[id]")];
    return sections.filter((each) => each.getBoundingClientRect().top < innerHeight / 2 && scrollY > 0).pop()?.id ?? "";
  };
  const write = () => {
    clearTimeout(waiting);
    place = seen();
    parts.forEach(({ keep }, name) => { const value = keep(); if (value) values.set(name, value); else values.delete(name); });
    const text = `${values}`, hash = `#${encodeURIComponent(place)}${text && `?${text}`}`;
    // A page in the workbench's sandbox could not be loaded again once it had changed its own address.
    const alone = origin === "null" && location.protocol !== "file:";
    if (!alone && hash !== (location.hash || "#")) history.replaceState(null, "", hash);
    return new URL(hash, location.href).href;
  };
  const note = () => { clearTimeout(waiting); waiting = setTimeout(write, REST); };
  const follow = (event) => {
    const found = parsed();
    if (found || !event) {
      values = found ?? new URLSearchParams();
      parts.forEach(({ restore }, name) => restore(values.get(name) ?? ""));
    }
    for (let e = target(); e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target()?.scrollIntoView();
    note();
  };
  values = parsed() ?? values;
  addEventListener("hashchange", follow);
  addEventListener("scroll", note, { passive: true });
  return {
    note, follow, write,
    // `keep` gives a text, empty at first; `restore` takes one.
    part: (name, keep, restore) => {
      parts.set(name, { keep, restore });
      if (values.has(name)) restore(values.get(name));
    },
  };
})();
const numbers = (text, most) => text.split(".").filter((each) => /^\d{1,9}$/.test(each)).map(Number).filter((each) => each < most);

// Mathematics or text.
address.part("form", () => (document.querySelector(".switch .as-text")?.checked ? "text" : ""), (text) => {
  const [maths, words] = document.querySelectorAll(".switch input");
  if (maths) (text === "text" ? words : maths).checked = true;
});
document.querySelectorAll(".switch input").forEach((each) => each.addEventListener("change", address.note));

// The button that copies the link.  Pages from a file, or alone in a sandbox, may lack a clipboard.
for (const share of document.querySelectorAll(".share")) {
  const field = share.querySelector("input"), said = share.querySelector("[role=status]");
  share.hidden = false;
  share.querySelector("button").addEventListener("click", async () => {
    field.value = address.write();
    let copied = false;
    try { await navigator.clipboard.writeText(field.value); copied = true; } catch {
      field.hidden = false;
      field.select();
      copied = document.execCommand("copy");
    }
    field.hidden = copied;
    said.textContent = copied ? "The link is copied." : "Copy the link from the field.";
    if (!copied) field.select();
  });
}
