// What a person waits for on a local server: the page, its module, the first reaction, the next page.
import { cpus, loadavg } from "node:os";
import type { Page } from "@playwright/test";
import { BASE, RUN, expect, signIn, test } from "./open";

/** Most bytes of WASM that the first load of a run's page takes, as transferred: all that comes without scrolling. */
const WASM_BYTES = 500_000;
/** Longest until the page's HTML with its data is there, in ms: the median of a few. */
const HTML_MS = 50;
/** Longest until the first page reacts, and until the next one stands, in ms. */
const INTERACTIVE_MS = 1500;
const NEXT_MS = 100;
/** How often each is measured; the median counts. */
const TRIES = 9;

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
/** Whether others kept this machine busy: only then may a time that is too long be measured again. */
const busy = () => loadavg()[0] > cpus().length;

/** Measures until the median is within the limit; again only on a busy machine, three rounds at most. */
async function within(what: string, limit: number, measure: () => Promise<number>): Promise<void> {
  for (let round = 0; ; round++) {
    const times: number[] = [];
    for (let i = 0; i < TRIES; i++) times.push(await measure());
    console.log(`${what}: median ${median(times).toFixed(1)} ms of ${times.map((t) => t.toFixed(1)).join(", ")}`);
    if (median(times) <= limit || !busy() || round === 2) {
      expect(median(times), what).toBeLessThanOrEqual(limit);
      return;
    }
  }
}

test("a run's page comes with its data at once", async ({ page }) => {
  await signIn(page);
  const headers = { Cookie: (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join("; ") };
  // What is measured is the app: the browser's own page, still being brought to life, would take a core from it.
  await page.waitForLoadState("networkidle");
  await page.goto("about:blank");
  await within("HTML of a run", HTML_MS, async () => {
    const begun = performance.now();
    const html = await (await fetch(`${BASE()}/runs/${RUN()}`, { headers })).text();
    const took = performance.now() - begun;
    expect(html).toContain("SM90_H200");
    return took;
  });
});

/** Opens an address without a cache; the ms until the page reacts, and the bytes of WASM that it took. */
async function firstLoad(page: Page, path: string): Promise<{ ms: number; bytes: number; files: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.clearBrowserCache");
  const wasm = new Map<string, number>();
  session.on("Network.responseReceived", (event) => {
    if (event.response.mimeType === "application/wasm") wasm.set(event.requestId, 0);
  });
  session.on("Network.loadingFinished", (event) => {
    if (wasm.has(event.requestId)) wasm.set(event.requestId, event.encodedDataLength);
  });
  await page.goto(BASE() + path, { waitUntil: "commit" });
  await page.locator("html[data-alive]").waitFor({ state: "attached" });
  const ms = await page.evaluate(() => performance.now());
  await page.waitForLoadState("networkidle");
  await session.detach();
  return { ms, bytes: [...wasm.values()].reduce((a, b) => a + b, 0), files: wasm.size };
}

test("a run's page reacts soon and loads a small module", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page);
  let bytes = 0;
  await within("run interactive", INTERACTIVE_MS, async () => {
    const load = await firstLoad(page, `/runs/${RUN()}`);
    bytes = load.bytes;
    console.log(`  ${load.bytes} bytes of WASM in ${load.files} files`);
    return load.ms;
  });
  expect(bytes).toBeGreaterThan(0);
  expect(bytes, "WASM of a run's page").toBeLessThanOrEqual(WASM_BYTES);
});

test("the next page stands at once", async ({ page }) => {
  await signIn(page, "/runs");
  await page.locator("html[data-alive]").waitFor({ state: "attached" });
  const go = (link: string, title: string) =>
    page.evaluate(
      async ({ link, title }) => {
        const begun = performance.now();
        document.querySelector<HTMLAnchorElement>(`nav a[href="${link}"]`)!.click();
        while (document.querySelector("h1")?.textContent !== title) await new Promise(requestAnimationFrame);
        return performance.now() - begun;
      },
      { link, title },
    );
  await within("next page", NEXT_MS, async () => {
    const there = await go("/traces", "Traces");
    await go("/runs", "Runs");
    return there;
  });
});

test("what Lighthouse looks at: painted soon, no long tasks, nothing jumps", async ({ page }) => {
  await signIn(page);
  await page.addInitScript(() => {
    const seen = { lcp: 0, cls: 0, blocked: 0 };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => list.getEntries().forEach((e) => (seen.lcp = e.startTime))).observe({ type: "largest-contentful-paint", buffered: true });
    new PerformanceObserver((list) => list.getEntries().forEach((e: any) => (seen.cls += e.hadRecentInput ? 0 : e.value))).observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((list) => list.getEntries().forEach((e) => (seen.blocked += Math.max(0, e.duration - 50)))).observe({ type: "longtask", buffered: true });
  });
  for (const path of ["/", `/runs/${RUN()}`]) {
    await page.goto(BASE() + path);
    await page.locator("html[data-alive]").waitFor({ state: "attached" });
    await page.waitForTimeout(500);
    const seen = await page.evaluate(() => ({
      ...(window as any).seen,
      fcp: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1,
    }));
    console.log(`${path}: FCP ${seen.fcp.toFixed(0)} ms, LCP ${seen.lcp.toFixed(0)} ms, TBT ${seen.blocked.toFixed(0)} ms, CLS ${seen.cls.toFixed(3)}`);
    // The limits of Lighthouse's best class.
    expect(seen.cls, `${path}: layout shift`).toBeLessThanOrEqual(0.1);
    if (!busy()) {
      expect(seen.lcp, `${path}: largest paint`).toBeLessThanOrEqual(2500);
      expect(seen.blocked, `${path}: blocked`).toBeLessThanOrEqual(200);
    }
  }
});
