// One slide per screen: arrow keys, space, Home, End, buttons, and the address.

const slides = [...document.querySelectorAll(".slide")];
let current = -1;

function show(number, focus = true) {
  const next = Math.min(Math.max(number, 0), slides.length - 1);
  if (next === current) return;
  current = next;
  slides.forEach((slide, at) => slide.classList.toggle("shown", at === current));
  previousButton.disabled = current === 0;
  nextButton.disabled = current === slides.length - 1;
  const address = `#${current + 1}`;
  if (location.hash !== address) history.replaceState(null, "", address);
  slides[current].scrollTop = 0;
  if (focus) slides[current].focus();
}

function arrowButton(text, label, step) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", () => show(current + step));
  return button;
}

const bar = document.createElement("nav");
const previousButton = arrowButton("←", "Previous slide", -1);
const nextButton = arrowButton("→", "Next slide", 1);
bar.append(previousButton, nextButton);
document.body.append(bar);
document.body.classList.add("stepping");
slides.forEach((slide) => slide.setAttribute("tabindex", "-1"));

const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (STEPS[event.key] && !scrolls(event.key)) show(current + STEPS[event.key]);
  else return;
  event.preventDefault();
});

// Up and down scroll a slide that is longer than the screen, until its end.
function scrolls(key) {
  const slide = slides[current];
  const rest = slide.scrollHeight - slide.clientHeight - slide.scrollTop;
  if (key === "ArrowDown" || key === "PageDown" || key === " ") return rest > 2;
  if (key === "ArrowUp" || key === "PageUp") return slide.scrollTop > 2;
  return false;
}

window.addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1 || 0));
show(Number(location.hash.slice(1)) - 1 || 0, false);
