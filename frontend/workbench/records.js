"use strict";
// The list of records; every tab asks for it again when a job is over.
const list = async () => {
  const answer = await fetch("records");
  if (!answer.ok) return;
  const html = await answer.text();
  if (wanted === null) wanted = chosen();
  $("records").innerHTML = html;
  choose();
};
let wanted = null; // the records to choose in the next list: those of the page's address at first
const choose = () => {
  for (const each of document.querySelectorAll("#records .chosen")) each.checked = wanted.includes(each.value);
  wanted = null;
  chosen();
};
const chosen = () => {
  const found = [...document.querySelectorAll("#records .chosen:checked")].map((each) => each.value);
  $("compare").disabled = found.length !== 2;
  return found;
};
const kept = (words, wrong = false) => {
  $("kept").textContent = words;
  $("kept").classList.toggle("bad", wrong);
};
const change = async (address, data, words) => {
  try {
    await send(address, data);
    kept(words);
  } catch (problem) {
    kept(problem.message, true);
  }
  list();
};
$("records").addEventListener("click", ({ target }) => {
  const { forget, formula, size, dtypes } = target.dataset;
  if (forget && confirm("Delete this record?")) change("forget", { record: forget }, "The record is deleted.");
  if (formula !== undefined) fill(formula, size, dtypes);
});
$("records").addEventListener("change", () => { chosen(); address.note(); });
$("compare").addEventListener("click", () => open(`compare?${new URLSearchParams(chosen().map((each) => ["record", each]))}`, "_blank", "noopener"));
$("add").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  if (file.size > 15e6) kept("That file is too large for a record: at most 15 MB are read.", true);
  else await change("records", { text: await file.text() }, `${file.name} is kept.`);
  target.value = "";
});
address.part("compare", () => (wanted ?? chosen()).join(" "), (text) => { wanted = text.split(" "); if ($("records").hasChildNodes()) choose(); });
list();
address.follow();
