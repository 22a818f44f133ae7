// The web worker of the explorer: the first message is the module's address, each later one an ask for the engine.
import init, { Worker, bench } from "./explorer.js";

let engine;
self.onmessage = ({ data }) => {
  const first = engine === undefined;
  engine = first ? init({ module_or_path: data }).then(() => new Worker()) : engine;
  if (first) return;
  engine = engine.then((worker) => {
    const [, name, runs] = /^bench (\w+) (\d+)$/.exec(data) ?? [];
    self.postMessage(name ? String(bench(name, Number(runs))) : worker.handle(data));
    return worker;
  });
};
// A failure of the module must reach the page's `onerror`.
self.onunhandledrejection = (event) => {
  throw event.reason;
};
