// Gradio 6.31 leaves the clock of its loading screen running, which redraws the page sixty times a second for ever.
// A chain of animation frames that has gone on for LONG of them is slowed to one a second.
(() => {
  const LONG = 300, SLOW_MS = 1000;
  const request = window.requestAnimationFrame.bind(window);
  const cancel = window.cancelAnimationFrame.bind(window);
  let depth = 0;
  window.requestAnimationFrame = (callback) => {
    const mine = depth + 1;
    const run = (time) => {
      depth = mine;
      try { callback(time); } finally { depth = 0; }
    };
    return mine < LONG ? request(run) : -setTimeout(() => run(performance.now()), SLOW_MS);
  };
  window.cancelAnimationFrame = (id) => (id < 0 ? clearTimeout(-id) : cancel(id));
})();
