// What the boards have in common: making elements, following the notebook's theme, showing a picture that Python drew.
// The files of a widget are joined to one module, so this one exports nothing.

const SVG = "http://www.w3.org/2000/svg";

// Widths of boards in pixels: small ones are easier to hit when they grow, a large one should fit on a screen.
const SMALLEST = 300;
const LARGEST = 640;

// Jupyter's own shortcuts reach whatever has the focus, unless it carries this attribute.
const NO_SHORTCUTS = { "data-lm-suppress-shortcuts": "true" };

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function makeSvg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Change a text only if it is another one: what is set anew is read aloud anew.
function setText(where, text) {
  if (where.textContent !== text) where.textContent = text;
}

function makeButton(label, title, action) {
  const button = make("button", { type: "button", title, ...NO_SHORTCUTS }, label);
  button.addEventListener("click", action);
  return button;
}

function isDark() {
  const body = document.body;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (body.classList.contains("vscode-light")) return false;
  if (body.classList.contains("vscode-dark") || document.documentElement.getAttribute("theme") === "dark") return true;
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

// Keep the class of `root` in step with the theme; the function returned ends that.
function followTheme(root) {
  const update = () => {
    root.classList.toggle("azlab-dark", isDark());
    root.classList.toggle("azlab-light", !isDark());
  };
  const watcher = new MutationObserver(update);
  const attributeFilter = ["data-jp-theme-light", "class", "theme"];
  watcher.observe(document.body, { attributes: true, attributeFilter });
  watcher.observe(document.documentElement, { attributes: true, attributeFilter });
  update();
  return () => watcher.disconnect();
}

// Put a picture into `holder` and return its svg element. Its own style sheet and tooltip are left out.
function showPicture(holder, text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const svg = document.importNode(parsed, true);
  svg.querySelectorAll(":scope > style, :scope > title").forEach((part) => part.remove());
  const width = Math.min(Math.max(Number(svg.getAttribute("width")), SMALLEST), LARGEST);
  svg.style.setProperty("--width", `${width}px`);
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  holder.querySelector(":scope > svg.azlab-picture")?.remove();
  svg.classList.add("azlab-picture");
  holder.prepend(svg);
  return svg;
}

// Say something to Python. If nothing comes back for some seconds, `complain` gets a sentence.
function makeTalk(model, complain) {
  let timer = null;
  const silence = () => complain("The kernel does not answer: it is busy, or it was restarted. In the latter case run the cell again.");
  return {
    say(message) {
      clearTimeout(timer);
      timer = setTimeout(silence, 5000);
      try {
        model.send(message);
      } catch {
        silence();
      }
    },
    heard() {
      clearTimeout(timer);
    },
  };
}
