// A game to step through: board, slider, curve of values, list of moves. Python sends `story` once, `view` for each step, and
// `review` as it grows.

const CURVE = { width: 420, height: 120, left: 8, right: 8, top: 10, bottom: 10 };
const SIGNS = { mistake: "??", slip: "?" };

function render({ model, el }) {
  const story = model.get("story");
  const last = story.moves.length;
  let view = model.get("view");
  let wanted = view.step; // the newest step asked for; while one is on its way, no other is sent
  let isAsking = false;

  const note = make("div", { class: "azlab-message", "aria-live": "polite" });
  const talk = makeTalk(model, (sentence) => {
    note.textContent = sentence;
    isAsking = false;
  });
  const board = make("div", { class: "azlab-board" });
  const status = make("div", { class: "azlab-status", role: "status", "aria-live": "polite" });
  const slider = make("input", { type: "range", min: 0, max: last, "aria-label": "move", ...NO_SHORTCUTS });
  const buttons = {
    first: makeButton("|◀", "to the start", () => go(0)),
    back: makeButton("◀", "one move back", () => go(wanted - 1)),
    next: makeButton("▶", "one move on", () => go(wanted + 1)),
    end: makeButton("▶|", "to the end", () => go(last)),
  };
  for (const button of Object.values(buttons)) button.setAttribute("aria-label", button.title);
  const toolbar = make("div", { class: "azlab-buttons azlab-steps" }, buttons.first, buttons.back, slider, buttons.next, buttons.end);
  const legend = make("div", { class: "azlab-legend" });
  const curve = makeSvg("svg", { class: "azlab-curve", viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, role: "img" });
  const moves = make("ol", { class: "azlab-list", "aria-label": "moves" });
  const side = make("div", { class: "azlab-side" }, legend, curve, note, moves);
  const root = make(
    "div",
    { class: "azlab-widget azlab-replay", role: "region", "aria-label": `replay of a game of ${story.game}` },
    make("div", {}, board, status, toolbar),
    side,
  );
  el.append(root);
  const stopFollowing = followTheme(root);

  // --- steps -----------------------------------------------------------------------------------------------------------

  function go(step) {
    wanted = Math.min(Math.max(0, step), last);
    if (isAsking || wanted === view.step) return;
    isAsking = true;
    talk.say({ what: "step", step: wanted });
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  root.addEventListener("keydown", (event) => {
    const target = { ArrowLeft: wanted - 1, ArrowRight: wanted + 1, Home: 0, End: last }[event.key];
    if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(target);
  });

  function showStep() {
    view = model.get("view");
    talk.heard();
    const svg = showPicture(board, view.svg);
    svg.setAttribute("aria-label", view.status);
    const played = view.step ? `Move ${view.step} of ${last}, ${story.moves[view.step - 1]}. ` : `Start, ${last} moves follow. `;
    setText(status, played + view.status + ".");
    slider.value = view.step;
    slider.setAttribute("aria-valuetext", status.textContent);
    buttons.first.disabled = buttons.back.disabled = view.step === 0;
    buttons.next.disabled = buttons.end.disabled = view.step === last;
    root.dataset.step = view.step;
    for (const [number, item] of [...moves.children].entries()) {
      const isShown = number + 1 === view.step;
      item.firstChild.toggleAttribute("aria-current", isShown);
      if (isShown) moves.scrollTop = item.offsetTop - moves.offsetTop - moves.clientHeight / 2;
    }
    curve.querySelector(".azlab-cursor")?.setAttribute("transform", `translate(${x(view.step)} 0)`);
    isAsking = false;
    if (wanted !== view.step) go(wanted);
  }

  // --- curve and list ----------------------------------------------------------------------------------------------------

  const x = (step) => CURVE.left + ((CURVE.width - CURVE.left - CURVE.right) * step) / Math.max(1, last);
  const y = (value) => {
    const height = CURVE.height - CURVE.top - CURVE.bottom;
    return CURVE.top + (height * (1 - Math.min(1, Math.max(-1, value)))) / 2;
  };

  // The known stretches of a curve as one path.
  function trace(values) {
    let path = "";
    values.forEach((value, step) => {
      if (value !== null) path += `${step > 0 && values[step - 1] !== null ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    return path;
  }

  function showReview() {
    const review = model.get("review");
    const isEmpty = review.curves.length === 0;
    curve.toggleAttribute("hidden", isEmpty);
    legend.replaceChildren(
      ...review.curves.map((one, number) => make("span", { class: `azlab-name azlab-curve${number % 5}` }, one.name)),
    );
    curve.setAttribute("aria-label", `values for ${story.seats[0]}, move by move`);
    const parts = [-1, 0, 1].map((value) =>
      makeSvg("line", { x1: CURVE.left, x2: CURVE.width - CURVE.right, y1: y(value), y2: y(value), class: "azlab-axis" }),
    );
    for (const [seat, value] of [[0, 1], [1, -1]]) {
      const name = makeSvg("text", { x: CURVE.left + 2, y: y(value) + (seat ? -4 : 12), class: "azlab-end" });
      name.textContent = `${story.seats[seat]} wins`;
      parts.push(name);
    }
    review.curves.forEach((one, number) => {
      parts.push(makeSvg("path", { d: trace(one.values), class: `azlab-path azlab-curve${number % 5}` }));
    });
    for (const { number, kind, move } of review.mistakes) {
      const value = review.curves.find((one) => one.exact)?.values[number] ?? 0;
      const dot = makeSvg("circle", { cx: x(number), cy: y(value), r: kind === "mistake" ? 5 : 3, class: `azlab-${kind}` });
      dot.append(makeSvg("title"));
      dot.firstChild.textContent = `${number}. ${move}: ${kind}`;
      parts.push(dot);
    }
    parts.push(
      makeSvg("line", { class: "azlab-cursor", x1: 0, x2: 0, y1: 2, y2: CURVE.height - 2, transform: `translate(${x(view.step)} 0)` }),
    );
    curve.replaceChildren(...parts);
    const isWorking = review.done < review.total;
    const progress = isWorking ? `Looking at the game: ${review.done} of ${review.total} positions.` : review.note;
    note.setAttribute("aria-live", isWorking ? "off" : "polite"); // nobody wants to hear every step
    setText(note, progress);
    root.dataset.review = isWorking ? "working" : "done";
    showMoves(new Map(review.mistakes.map((mistake) => [mistake.number, mistake])));
  }

  curve.addEventListener("click", (event) => {
    const box = curve.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * CURVE.width;
    go(Math.round(((at - CURVE.left) / (CURVE.width - CURVE.left - CURVE.right)) * last));
  });

  function showMoves(mistakes) {
    if (moves.children.length === 0) {
      story.moves.forEach((_, number) => moves.append(make("li", {}, makeButton("", "", () => go(number + 1)))));
    }
    [...moves.children].forEach((item, number) => {
      const found = mistakes.get(number + 1);
      const button = item.firstChild;
      const seat = story.seats[story.movers[number]];
      button.textContent = `${story.moves[number]}${found ? " " + SIGNS[found.kind] : ""}`;
      button.className = found ? `azlab-found-${found.kind}` : "";
      button.title = `${seat}${found ? `: ${found.kind}, loses ${found.loss}` : ""}`;
      button.toggleAttribute("aria-current", number + 1 === view.step);
    });
  }

  if (story.players) {
    root.firstChild.prepend(
      make("div", { class: "azlab-message" }, story.players.map((name, seat) => `${story.seats[seat]}: ${name}`).join(", ")),
    );
  }
  showReview();
  showStep();
  model.on("change:view", showStep);
  model.on("change:review", showReview);
  talk.say({ what: "ready" });
  return () => {
    stopFollowing();
    talk.heard();
    model.off("change:view", showStep);
    model.off("change:review", showReview);
  };
}

export default { render };
