"use strict";
// The list of records; every tab asks for it again when a job is over.
const list = async () => {
  const answer = await fetch("records");
  if (answer.ok) $("records").innerHTML = await answer.text();
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
$("add").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  if (file.size > 15e6) kept("That file is too large for a record: at most 15 MB are read.", true);
  else await change("records", { text: await file.text() }, `${file.name} is kept.`);
  target.value = "";
});
list();
