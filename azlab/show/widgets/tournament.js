// Steps through the games of a tournament's page. A board is a list of numbers of shapes; each move says which part of the list
// it replaces: [shapes kept at the beginning, shapes kept at the end, new ones ...].
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dialog = document.getElementById("replay");
  const place = (name) => document.getElementById(`replay-${name}`);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${data.size[0]} ${data.size[1]}`);
  svg.setAttribute("role", "img");
  place("board").append(svg);

  let game = null;
  let boards = [];
  let step = 0;
  let timer = null;

  const after = (board, [begin, end, ...added]) => [...board.slice(0, begin), ...added, ...board.slice(board.length - end)];

  function status() {
    if (step === 0) {
      return "The start.";
    }
    const seat = game.movers[step - 1];
    const who = step <= game.given ? "opening" : game.players[seat];
    return `Move ${step} of ${game.moves.length}: ${game.moves[step - 1]} (${data.seats[seat]}, ${who})`;
  }

  function show() {
    svg.innerHTML = data.paper + boards[step].map((number) => data.shapes[number]).join("");
    svg.setAttribute("aria-label", status());
    place("status").textContent = status();
    place("range").value = step;
    place("end").textContent = step === game.moves.length ? game.end : "";
    dialog.dataset.step = step;
  }

  function go(to) {
    step = Math.max(0, Math.min(game.moves.length, to));
    show();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    dialog.querySelector('[data-step="play"]').textContent = "Play";
  }

  function play() {
    if (timer !== null) {
      stop();
      return;
    }
    if (step === game.moves.length) {
      go(0);
    }
    dialog.querySelector('[data-step="play"]').textContent = "Stop";
    timer = setInterval(() => {
      go(step + 1);
      if (step === game.moves.length) {
        stop();
      }
    }, 700);
  }

  function open(number) {
    game = data.games[number];
    boards = [data.start];
    for (const change of game.steps) {
      boards.push(after(boards[boards.length - 1], change));
    }
    place("title").textContent = game.title;
    place("range").max = game.moves.length;
    go(game.given);
    dialog.showModal();
  }

  const actions = {
    first: () => go(0),
    back: () => go(step - 1),
    on: () => go(step + 1),
    last: () => go(game.moves.length),
    play,
    close: () => dialog.close(),
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.game !== undefined) {
      open(Number(button.dataset.game));
    } else if (button?.dataset.step) {
      if (button.dataset.step !== "play") {
        stop();
      }
      actions[button.dataset.step]();
    }
  });
  place("range").addEventListener("input", (event) => {
    stop();
    go(Number(event.target.value));
  });
  dialog.addEventListener("close", stop);
  dialog.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: game.moves.length }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      stop();
      go(to);
    }
  });

  function unfold() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) {
      target.open = true;
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", unfold);
  unfold();
})();
