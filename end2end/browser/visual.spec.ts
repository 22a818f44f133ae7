// What every page looks like, held against a picture of it. `npx playwright test visual --update-snapshots` takes new
// ones, which are to be looked at before they are committed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { App } from "./app";
import { everyPage, type Place } from "./every-page";
import { expect, hydrated, test } from "./open";

/** What the pictures of a width were taken with: letters of another font or browser differ everywhere. */
const madeWith = (width: number) => join(__dirname, "visual", `made-with-${width}.json`);
const TRACE = "visual-trace";
const SAMPLE = "sample__facebook_opt-125m__h100-e2e";

let app: App;
let pages: Place[];

test.beforeAll(async () => {
  test.setTimeout(120_000);
  // One sim after the other, or which of them finds a kernel simulated already would be chance.
  app = new App({ CASCADE_WORKSPACE: "visual-tests", CASCADE_MAX_LOCAL_SIMS: "1" });
  await app.start();
  await app.addTrace(TRACE);
  const run = app.run(TRACE, "SM90_H100:2", "SM90_H200");
  app.cli("runs", "watch", run);
  const { sims } = await app.get(`/api/runs/${run}`);
  const samples = (await app.get("/api/runs")).filter((other: { sample: boolean }) => other.sample);
  const sample = samples.find((other: { trace_id: string }) => other.trace_id === SAMPLE);
  pages = [
    ...everyPage(run, sims[0].id, TRACE),
    ["sample-trace", `/traces/${SAMPLE}`],
    ["sample-run", `/runs/${sample.id}`],
    ["docs", "/docs/concepts"],
    ["not-found", "/no/such/page"],
  ];
});

test.afterAll(() => app.stop());

/** The browser, and how wide its fonts write: what pictures of text depend on. */
async function fingerprint(page: Page): Promise<object> {
  const widths = await page.evaluate(() => {
    const pen = document.createElement("canvas").getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    return ["--sans", "--mono"].map((name) => {
      pen.font = `16px ${style.getPropertyValue(name)}`;
      return pen.measureText("Simulated 0123456789 µs, grid (1, 2, 3)").width;
    });
  });
  return { browser: page.context().browser()!.version().split(".")[0], widths };
}

/** Writes what is different in every app, ids, ports and how fast the simulators were, as if it were always the same. */
function still(): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    const timed = text.parentElement!.closest(".tile-foot, dl.stats.card, .explore-status");
    if (timed) text.data = text.data.replace(/[\d.]+(?=\s(ms|s)\b)/g, "1.00");
    text.data = text.data
      .replace(/\b(run|sim)-[0-9a-f]{12}\b/g, "$1-000000000000")
      .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:8000")
      .replace(/[\d.]+(?=\s[kMG]\sinst\/s)/g, "1.00");
  }
}

for (const [width, scheme] of [[1440, "light"], [390, "dark"]] as const) {
  test(`every page looks as it did at ${width} px, ${scheme}`, async ({ page, complaints }, info) => {
    test.setTimeout(180_000);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    await app.enter(page);
    const here = await fingerprint(page);
    if (["all", "changed"].includes(info.config.updateSnapshots)) writeFileSync(madeWith(width), `${JSON.stringify(here)}\n`);
    const made = JSON.parse(readFileSync(madeWith(width), "utf8"));
    test.skip(JSON.stringify(made) !== JSON.stringify(here), `the pictures were taken with ${JSON.stringify(made)}, this is ${JSON.stringify(here)}`);
    for (const [name, path, awaited] of pages) {
      const before = complaints.length;
      await page.goto(app.base + path);
      if (name !== "docs") await hydrated(page);
      if (awaited) await page.locator(awaited).first().waitFor({ state: "attached", timeout: 30_000 });
      await page.evaluate(still);
      await expect.soft(page, name).toHaveScreenshot(`${name}-${width}.png`, {
        fullPage: true,
        stylePath: join(__dirname, "visual", "still.css"),
      });
      // The browser itself reports a page that came with status 404.
      if (name === "not-found") complaints.splice(before, 1);
    }
  });
}
