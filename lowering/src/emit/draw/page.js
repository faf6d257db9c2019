// Opens the row that a link leads to, and shows what the step under the pointer waits for.
const open = () => {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (row && row.tagName === "DETAILS") { row.open = true; row.scrollIntoView({ block: "nearest" }); }
};
addEventListener("hashchange", open);
open();
for (const step of document.querySelectorAll("[data-step]")) {
  const mine = document.querySelectorAll(`[data-to="${CSS.escape(step.dataset.step)}"]`);
  const head = step.querySelector("a");
  const show = (is) => {
    step.classList.toggle("hot", is);
    for (const line of mine) line.classList.toggle("hot", is);
  };
  head.addEventListener("mouseenter", () => show(true));
  head.addEventListener("mouseleave", () => show(false));
}
