// The board that is played on. Python sends `layout_of_board` once and `view` after every change; this side sends what was clicked.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function render({ model, el }) {
  const layout = model.get("layout_of_board");
  const areas = layout.areas.map(([name, x, y, width, height, kind]) => ({ name, x, y, width, height, kind }));
  const middle = (area) => [areas[area].x + areas[area].width / 2, areas[area].y + areas[area].height / 2];
  const px = (value) => layout.margin + layout.cell * value;

  let view = model.get("view");
  let selected = null; // the area of the stone that was chosen, where a move takes two clicks
  let current = null; // the area that the Tab key reaches
  let svg = null;

  // --- the parts of the page -----------------------------------------------------------------------------------------

  const players = make("div", { class: "azlab-players" });
  const meter = make("div", { class: "azlab-meter", role: "meter", "aria-valuemin": "0", "aria-valuemax": "100" });
  const bar = make("div", { class: "azlab-bar", hidden: "" }, meter, make("span"));
  const effects = makeSvg("svg", { class: "azlab-effects", "aria-hidden": "true" });
  const board = make("div", { class: "azlab-board", role: "group", tabindex: "-1", ...NO_SHORTCUTS }, effects);
  const status = make("div", { class: "azlab-status", role: "status", "aria-live": "polite" });
  const message = make("div", { class: "azlab-message", "aria-live": "polite" });
  const error = make("div", { class: "azlab-error", role: "alert" });
  const places = make("div", { class: "azlab-buttons azlab-extra" }); // moves without a place on the board: pass, stop
  const moves = make("div", { class: "azlab-moves", "aria-label": "moves so far" });

  const talk = makeTalk(model, (sentence) => (message.textContent = sentence));
  const command = (label, title, what) => makeButton(label, title, () => talk.say({ what }));
  const buttons = {
    retry: command("Try again", "let the agent choose again", "retry"),
    undo: command("Undo", "take back your last move", "undo"),
    hint: command("Hint", "show what a search thinks of the moves", "hint"),
    swap: command("Swap seats", "change seats with the agent", "swap"),
    fresh: command("New game", "begin again", "new"),
    evaluation: makeButton("Evaluation", "show what perfect play makes of this position", () =>
      talk.say({ what: "evaluate", on: !view.evaluation.on }),
    ),
    save: command("Save", "keep this game in a file", "save"),
    load: makeButton("Load", "go on with a game from a file", () => chooser.click()),
  };
  const chooser = make("input", { type: "file", accept: ".json,.jsonl", hidden: "", "aria-label": "file of a saved game" });
  chooser.addEventListener("change", async () => {
    if (chooser.files.length) talk.say({ what: "load", text: await chooser.files[0].text() });
    chooser.value = "";
  });
  const toolbar = make("div", { class: "azlab-buttons" }, ...Object.values(buttons), chooser);
  const root = make(
    "div",
    { class: "azlab-widget azlab-play", role: "region", "aria-label": `${layout.game} board` },
    players, bar, board, status, message, error, places, toolbar, moves,
  );
  el.append(root);
  const stopFollowing = followTheme(root);

  // --- what can be clicked ---------------------------------------------------------------------------------------------

  // Pairs of an area and what a click on it does: {action} plays, {choose} picks a stone up or puts it down.
  function findTargets() {
    const found = new Map();
    for (const action of view.legal) {
      const [name, path] = layout.actions[action];
      if (path.length === 1) found.set(path[0], { action, label: `play ${name}` });
      if (path.length === 2 && path[0] !== selected && !found.has(path[0]))
        found.set(path[0], { choose: path[0], label: `choose ${areas[path[0]].name}` });
    }
    if (selected !== null) {
      found.set(selected, { choose: null, label: `let go of ${areas[selected].name}` });
      for (const action of view.legal) {
        const [name, path] = layout.actions[action];
        if (path.length === 2 && path[0] === selected) found.set(path[1], { action, label: `play ${name}` });
      }
    }
    return found;
  }

  // The only stone that may move, if there is just one (it goes on capturing).
  function onlyStone() {
    const paths = view.legal.map((action) => layout.actions[action][1]).filter((path) => path.length > 0);
    const first = paths.length && paths[0].length === 2 ? paths[0][0] : null;
    return paths.every((path) => path[0] === first) ? first : null;
  }

  function shapesOf(area) {
    const [x, y, w, h] = [px(area.x), px(area.y), layout.cell * area.width, layout.cell * area.height];
    const [cx, cy, inset] = [x + w / 2, y + h / 2, 2];
    const diamond = { points: `${x},${cy} ${cx},${y} ${x + w},${cy} ${cx},${y + h}` };
    const box = { x: x + inset, y: y + inset, width: w - 2 * inset, height: h - 2 * inset, rx: 6 };
    switch (area.kind) {
      case "point":
        return [makeSvg("rect", { x, y, width: w, height: h }), makeSvg("circle", { cx, cy, r: 0.42 * w })];
      case "across":
        return [makeSvg("polygon", diamond), makeSvg("line", { x1: x + 8, x2: x + w - 8, y1: cy, y2: cy })];
      case "down":
        return [makeSvg("polygon", diamond), makeSvg("line", { x1: cx, x2: cx, y1: y + 8, y2: y + h - 8 })];
      default:
        return [makeSvg("rect", { x, y, width: w, height: h }), makeSvg("rect", box)];
    }
  }

  function drawTargets(keepFocus) {
    svg.querySelector("g.azlab-targets")?.remove();
    const targets = findTargets();
    const layer = makeSvg("g", { class: `azlab-targets azlab-seat${view.to_move}` });
    const order = [...targets.keys()].sort((a, b) => areas[a].y - areas[b].y || areas[a].x - areas[b].x);
    if (!targets.has(current)) current = nearest(order, current);
    for (const area of order) {
      const { label } = targets.get(area);
      const [reach, ghost] = shapesOf(areas[area]);
      reach.setAttribute("class", "azlab-reach");
      ghost.setAttribute("class", "azlab-ghost");
      const attributes = {
        class: area === selected ? "azlab-target azlab-selected" : "azlab-target",
        role: "button",
        tabindex: area === current ? "0" : "-1",
        "aria-label": label,
        "data-area": area,
        ...NO_SHORTCUTS,
      };
      layer.append(makeSvg("g", attributes, reach, ghost));
    }
    svg.append(layer);
    if (keepFocus) focusOn(current);
  }

  function nearest(candidates, area) {
    if (area === null) return candidates.length ? candidates[0] : null;
    const [x, y] = middle(area);
    const distance = (other) => Math.hypot(middle(other)[0] - x, middle(other)[1] - y);
    return candidates.reduce((best, other) => (best === null || distance(other) < distance(best) ? other : best), null);
  }

  function focusOn(area) {
    const target = area === null ? null : svg.querySelector(`[data-area="${area}"]`);
    if (!target) return board.focus({ preventScroll: true });
    svg.querySelectorAll('[data-area][tabindex="0"]').forEach((other) => other.setAttribute("tabindex", "-1"));
    current = area;
    target.setAttribute("tabindex", "0");
    target.focus({ preventScroll: true });
  }

  const chosen = () => `${areas[selected].name} is chosen; now choose where it goes.`;

  function activate(area) {
    const target = findTargets().get(area);
    if (!target) return;
    if (target.action !== undefined) {
      const keepFocus = hasFocus();
      talk.say({ what: "move", action: target.action, ply: view.ply });
      svg.querySelector("g.azlab-targets")?.remove(); // no second click until Python has answered
      if (keepFocus) board.focus({ preventScroll: true });
    } else {
      const last = selected;
      selected = target.choose;
      if (selected === null) current = last;
      setText(message, selected === null ? "" : chosen());
      const [onward] = [...findTargets()].find(([, { action }]) => selected !== null && action !== undefined) ?? [];
      if (onward !== undefined) current = onward;
      drawTargets(hasFocus());
    }
  }

  // --- clicks and keys -----------------------------------------------------------------------------------------------

  function hasFocus() {
    return board.contains(el.getRootNode().activeElement);
  }

  board.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-area]");
    if (target) return activate(Number(target.dataset.area));
    const matrix = svg.getScreenCTM()?.inverse();
    if (!matrix || view.thinking) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    const [x, y] = [(point.x - layout.margin) / layout.cell, (point.y - layout.margin) / layout.cell];
    const hit = areas.find((area) => x >= area.x && x < area.x + area.width && y >= area.y && y < area.y + area.height);
    if (hit) talk.say({ what: "nothing", name: hit.name });
  });

  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const handled = { Enter: 1, " ": 1, Escape: 1, Home: 1, End: 1, ...ARROWS }[event.key];
    if (!handled) return;
    event.preventDefault();
    event.stopPropagation();
    const targets = [...svg.querySelectorAll("[data-area]")].map((target) => Number(target.dataset.area));
    if (event.key === "Enter" || event.key === " ") activate(current);
    else if (event.key === "Escape") selected !== null && activate(selected);
    else if (event.key === "Home") focusOn(targets[0] ?? null);
    else if (event.key === "End") focusOn(targets.at(-1) ?? null);
    else focusOn(neighbour(targets, ARROWS[event.key]));
  });

  // The closest target in the direction of an arrow; where there is none, the current one.
  function neighbour(targets, [dx, dy]) {
    if (current === null) return targets[0] ?? null;
    const [x, y] = middle(current);
    let best = current;
    let least = Infinity;
    for (const area of targets) {
      const [along, across] = [
        (middle(area)[0] - x) * dx + (middle(area)[1] - y) * dy,
        Math.abs((middle(area)[0] - x) * dy) + Math.abs((middle(area)[1] - y) * dx),
      ];
      if (along > 0.1 && along + 2.5 * across < least) [best, least] = [area, along + 2.5 * across];
    }
    return best;
  }

  // --- showing what Python sent ------------------------------------------------------------------------------------------

  function update() {
    const before = view;
    view = model.get("view");
    talk.heard();
    const keepFocus = hasFocus();
    if (before.ply !== view.ply || before.legal.length !== view.legal.length) selected = null;
    selected = onlyStone() ?? selected;
    svg = showPicture(board, view.svg);
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", view.status);
    effects.setAttribute("viewBox", svg.getAttribute("viewBox"));
    effects.style.setProperty("--width", svg.style.getPropertyValue("--width"));
    if (view.captured && before !== view) showCaptured(view.captured);
    drawTargets(keepFocus);
    root.dataset.ply = view.ply;
    root.dataset.heard = view.heard;
    root.dataset.state = view.over ? "over" : view.error ? "failed" : view.thinking ? "thinking" : "ready";
    root.classList.toggle("azlab-is-thinking", Boolean(view.thinking));
    setText(status, view.status);
    setText(message, view.message || (selected === null ? "" : chosen()));
    setText(error, view.error);
    moves.textContent = view.moves.join(" ");
    moves.scrollTop = moves.scrollHeight;
    showPlayers();
    showEvaluation();
    showButtons(keepFocus);
  }

  function showPlayers() {
    const chip = (seat) => {
      const dot = makeSvg("svg", { viewBox: "0 0 20 20", class: "azlab-chip", "aria-hidden": "true" });
      dot.append(makeSvg("circle", { cx: 10, cy: 10, r: 8, class: layout.colours[seat], stroke: "#777" }));
      const turn = !view.over && view.to_move === seat ? " azlab-turn" : "";
      return make("span", { class: `azlab-player${turn}` }, dot, `${layout.seats[seat]}: ${view.players[seat]}`);
    };
    players.replaceChildren(chip(0), chip(1));
  }

  function showEvaluation() {
    buttons.evaluation.hidden = !view.evaluation;
    bar.hidden = !view.evaluation?.on;
    if (!view.evaluation) return;
    buttons.evaluation.setAttribute("aria-pressed", String(view.evaluation.on));
    const percent = Math.round(100 * view.evaluation.share);
    const half = (seat, share) => {
      const part = makeSvg("svg", { class: "azlab-half", "aria-hidden": "true", style: `width:${share}%` });
      part.append(makeSvg("rect", { width: "100%", height: "100%", class: layout.colours[seat] }));
      return part;
    };
    meter.replaceChildren(half(0, percent), half(1, 100 - percent));
    meter.setAttribute("aria-valuenow", percent);
    meter.setAttribute("aria-label", `evaluation: ${view.evaluation.text}`);
    bar.lastChild.textContent = view.evaluation.text;
  }

  function showButtons() {
    buttons.retry.hidden = !view.can.retry;
    buttons.swap.hidden = !view.can.swap;
    buttons.undo.disabled = !view.can.undo;
    buttons.hint.disabled = !view.can.hint;
    const hadFocus = places.contains(el.getRootNode().activeElement);
    const placeless = view.legal.filter((action) => layout.actions[action][1].length === 0);
    places.replaceChildren(
      ...placeless.map((action) =>
        makeButton(layout.actions[action][0], "a move without a place on the board", () =>
          talk.say({ what: "move", action, ply: view.ply }),
        ),
      ),
    );
    if (hadFocus) places.firstChild ? places.firstChild.focus() : board.focus({ preventScroll: true });
  }

  function showCaptured(shapes) {
    const text = `<svg xmlns="${SVG}"><g class="azlab-captured">${shapes}</g></svg>`;
    const group = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement.firstChild, true);
    group.addEventListener("animationend", () => group.remove());
    setTimeout(() => group.remove(), 1000); // where animations are switched off
    effects.append(group);
  }

  function onMessage(content) {
    if (content.what !== "file") return;
    const link = make("a", { href: URL.createObjectURL(new Blob([content.text], { type: "application/json" })), download: content.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  model.on("change:view", update);
  model.on("msg:custom", onMessage);
  update();
  talk.say({ what: "ready" });
  return () => {
    stopFollowing();
    talk.heard();
    model.off("change:view", update);
    model.off("msg:custom", onMessage);
  };
}

export default { render };
