// The browser's side of azlab.show.search. Python draws the tree, the board and the table; this file puts them on the screen,
// asks for other steps and nodes, and plays. At most one step is asked for at a time, so a fast slider cannot flood the kernel.

const SPEEDS = [
  [2, "2 a second"],
  [5, "5 a second"],
  [20, "20 a second"],
  [100, "100 a second"],
];
const MOST_FRAMES = 10; // a second; faster play takes several steps at once

function element(tag, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

function render({ model, el }) {
  const root = element("div", { class: "azlab-search" });
  const controls = element("div", { class: "azlab-controls", role: "group", "aria-label": "Steps of the search" });
  const focusable = { "data-lm-suppress-shortcuts": "true" };

  function button(symbol, label, action) {
    const made = element("button", { ...focusable, type: "button", title: label, "aria-label": label }, symbol);
    made.addEventListener("click", action);
    controls.append(made);
    return made;
  }

  button("⇤", "First step", () => manual(0));
  button("←", "One step back", () => manual(wanted - 1));
  const playButton = button("▶", "Play", () => (timer ? pause() : play()));
  playButton.classList.add("azlab-play");
  button("→", "One step on", () => manual(wanted + 1));
  button("⇥", "Last step", () => manual(model.get("total")));
  const slider = element("input", {
    ...focusable, type: "range", min: 0, max: model.get("total"), step: 1, "aria-label": "Simulation",
  });
  slider.addEventListener("input", () => manual(Number(slider.value)));
  const speed = element("select", { ...focusable, "aria-label": "Speed", title: "Speed" });
  for (const [value, label] of SPEEDS) speed.append(element("option", { value }, label));
  speed.value = 5;
  speed.addEventListener("change", () => timer && play());
  controls.append(slider, speed);

  const status = element("div", { class: "azlab-status", role: "status" });
  const columns = element("div", { class: "azlab-columns" });
  const tree = element("div", {
    ...focusable, class: "azlab-tree", tabindex: 0, role: "group",
    "aria-label": "Search tree; arrow keys move, Enter shows or hides moves, Space plays",
  });
  const side = element("div", { class: "azlab-side" });
  const board = element("div", { class: "azlab-board" });
  const heading = element("div", { class: "azlab-heading", role: "status" });
  const table = element("div", { class: "azlab-table" });
  side.append(board, heading, table);
  columns.append(tree, side);
  const help = element(
    "div", { class: "azlab-help" },
    "Boxes: move, visits N, mean value Q for who made the move; the bar is the first player's share. Green: the last simulation. " +
      "▸: what the next simulation through here would take. Click a box to see its board, +3 to see three more moves. " +
      "In the tree: arrow keys, Enter, Space; Page Up and Page Down for ten steps.",
  );
  root.append(controls, status, columns, help);
  el.append(root);

  // --- steps: `wanted` is where the reader wants to be, the model's view is where the kernel is -------------------
  let wanted = model.get("step");
  let waiting = false;
  let timer = null;

  function goTo(step) {
    wanted = Math.min(Math.max(0, step), model.get("total"));
    slider.value = wanted;
    if (waiting || wanted === model.get("view").step) return;
    waiting = true;
    model.set("step", wanted);
    model.save_changes();
  }

  function manual(step) {
    pause();
    goTo(step);
  }

  function play() {
    clearInterval(timer);
    if (wanted >= model.get("total")) goTo(0);
    const aSecond = Number(speed.value);
    const frames = Math.min(aSecond, MOST_FRAMES);
    timer = setInterval(() => {
      if (waiting) return; // the kernel sets the pace if it is slower
      if (wanted >= model.get("total")) pause();
      else goTo(wanted + Math.round(aSecond / frames));
    }, 1000 / frames);
    playButton.textContent = "‖";
    playButton.setAttribute("aria-label", "Pause");
    playButton.title = "Pause";
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    playButton.textContent = "▶";
    playButton.setAttribute("aria-label", "Play");
    playButton.title = "Play";
  }

  // --- nodes ------------------------------------------------------------------------------------------------------
  function select(node) {
    model.set("selected", node);
    model.save_changes();
  }

  function toggle(node) {
    const expanded = new Set(model.get("expanded"));
    const folded = new Set(model.get("folded"));
    const hidden = tree.querySelector(`[data-toggle="${node}"]`)?.textContent.startsWith("+");
    (hidden ? folded : expanded).delete(node);
    (hidden ? expanded : folded).add(node);
    if (!hidden) expanded.add(node); // so that the sign to show the moves again stays
    model.set("expanded", [...expanded]);
    model.set("folded", [...folded]);
    model.save_changes();
  }

  function clicked(event) {
    const target = event.target.closest("[data-toggle], [data-node]");
    if (!target) return;
    if (target.dataset.toggle !== undefined) toggle(Number(target.dataset.toggle));
    else select(Number(target.dataset.node));
  }
  tree.addEventListener("click", clicked);
  table.addEventListener("click", clicked);

  // Where an arrow leads: left to the parent, right to the nearest box of the next column, up and down within the column.
  function neighbour(key) {
    const boxes = [...tree.querySelectorAll("[data-node]")].map((box) => {
      const { x, y, width, height } = box.getBBox();
      return { node: Number(box.dataset.node), x: x + width / 2, y: y + height / 2 };
    });
    const view = model.get("view");
    const here = boxes.find((box) => box.node === view.selected);
    if (!here) return 0;
    if (key === "ArrowLeft") return view.parent < 0 ? here.node : view.parent;
    const same = (box) => Math.abs(box.x - here.x) < 20;
    const there = boxes.filter((box) => {
      if (key === "ArrowUp") return same(box) && box.y < here.y - 1;
      if (key === "ArrowDown") return same(box) && box.y > here.y + 1;
      return box.x > here.x + 20 && box.x < here.x + 250;
    });
    there.sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y));
    return there.length ? there[0].node : here.node;
  }

  const stepKeys = { PageUp: -10, PageDown: 10 };
  tree.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) select(neighbour(event.key));
    else if (event.key === "Enter") toggle(model.get("view").selected);
    else if (event.key === " ") playButton.click();
    else if (event.key === "Home") manual(0);
    else if (event.key === "End") manual(model.get("total"));
    else if (event.key in stepKeys) manual(wanted + stepKeys[event.key]);
    else return;
    event.preventDefault();
  });
  root.addEventListener("keydown", (event) => event.stopPropagation()); // the notebook has shortcuts for the same keys

  // --- what Python drew -------------------------------------------------------------------------------------------
  function show() {
    const view = model.get("view");
    if (!waiting) wanted = view.step; // nobody here asked: Python set it
    waiting = false;
    status.textContent = view.status;
    tree.innerHTML = view.tree;
    board.innerHTML = view.board;
    heading.textContent = view.heading;
    table.innerHTML = view.table;
    root.dataset.step = view.step;
    slider.value = wanted;
    bringIntoView(tree.querySelector(`[data-node="${view.selected}"]`));
    if (wanted !== view.step) goTo(wanted); // the reader has gone on meanwhile
  }

  function bringIntoView(box) {
    if (!box || document.activeElement !== tree) return;
    const { x, y, width, height } = box.getBBox();
    if (x < tree.scrollLeft) tree.scrollLeft = x - 10;
    if (x + width > tree.scrollLeft + tree.clientWidth) tree.scrollLeft = x + width + 10 - tree.clientWidth;
    if (y < tree.scrollTop) tree.scrollTop = y - 10;
    if (y + height > tree.scrollTop + tree.clientHeight) tree.scrollTop = y + height + 10 - tree.clientHeight;
  }

  model.on("change:view", show);
  show();
  return () => {
    pause();
    model.off("change:view", show);
  };
}

export default { render };
