// The web worker of the explorer. The first message says where its module is, each later one is an ask for the
// engine; answers come in the order of the asks.
let engine;
self.onmessage = ({ data }) => {
  if (engine === undefined) {
    const { script, wasm } = JSON.parse(data);
    engine = import(script).then((module) => module.default({ module_or_path: wasm }).then(() => new module.Worker()));
    return;
  }
  engine = engine.then((worker) => {
    self.postMessage(worker.handle(data));
    return worker;
  });
};
// A failure of the module must reach the page, which hears of errors only.
self.onunhandledrejection = (event) => {
  setTimeout(() => {
    throw event.reason;
  });
};
