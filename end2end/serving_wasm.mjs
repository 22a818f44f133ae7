// Runs the request layer's WASM module in Node and in Chromium.
//
//   node serving_wasm.mjs digest MODULE EXPECTED   compares the digest of the random scenarios with the native one
//   node serving_wasm.mjs speed MODULE             times loads W1 and W2, as JSON: ms, a median of 5
import { readFileSync } from "node:fs";
import { chromium } from "@playwright/test";

const [mode, file, expected] = process.argv.slice(2);
const bytes = readFileSync(file);

// What runs in both places. It is sent to the page as text, so it uses nothing from outside.
const work = async (mode, module) => {
  const { instance } = await WebAssembly.instantiate(module, {});
  const { scenarios_digest, load_steps } = instance.exports;
  if (mode === "digest") return String(BigInt.asUintN(64, scenarios_digest()));
  const median = (atOnce) => {
    const times = [];
    for (let i = 0; i < 5; i++) {
      const started = performance.now();
      load_steps(1000, atOnce);
      times.push(performance.now() - started);
    }
    return times.sort((a, b) => a - b)[2];
  };
  return { W1: median(false), W2: median(true) };
};

const inChromium = async () => {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  });
  try {
    const page = await browser.newPage();
    return await page.evaluate(
      async ([work, mode, base64]) => {
        const module = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        return await eval(work)(mode, module);
      },
      [`(${work})`, mode, bytes.toString("base64")],
    );
  } finally {
    await browser.close();
  }
};

const found = { Node: await work(mode, bytes), Chromium: await inChromium() };
if (mode === "speed") {
  console.log(JSON.stringify(found));
} else {
  let failed = 0;
  for (const [place, digest] of Object.entries(found)) {
    const same = digest === expected;
    failed += same ? 0 : 1;
    console.log(`${place}: digest ${digest}, native ${expected}: ${same ? "the same" : "DIFFERENT"}`);
  }
  console.log(`${2 - failed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
