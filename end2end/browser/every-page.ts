// The pages that there are.

/** A page's name, its address, and what has to be there before it is looked at. */
export type Place = [name: string, path: string, awaited?: string];

/** A page of each kind, of a run that is over, one of its sims and its trace. */
export function everyPage(run: string, sim: string, trace: string): Place[] {
  return [
    ["home", "/"],
    ["traces", "/traces"],
    ["trace", `/traces/${trace}`],
    ["new-run", `/runs/new?trace=${trace}`],
    ["runs", "/runs"],
    ["run", `/runs/${run}`],
    ["timeline", `/runs/${run}/timeline`, "canvas[data-drawn]"],
    ["kernel", `/sims/${sim}/kernels/3`],
    ["compare", `/compare?runs=${run}`, ".waterfall"],
    ["gpus", "/gpus"],
    ["gpu", "/gpus/SM90_H100"],
    ["new-gpu", "/gpus/new"],
    ["explorer", "/explore", ".explore-status[data-took]"],
    ["ui", "/ui"],
    ["token", "/token"],
  ];
}
