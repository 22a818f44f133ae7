// Columns side by side: from a run's page, with every number a table too, on a keyboard and on a phone.
import { readFileSync } from "node:fs";
import { BASE, RUN, checkAccess, expect, hydrated, signIn, test } from "./open";

const H100 = "run-sample-opt125m-h100-e2e";
const A100 = "run-sample-opt125m-a100-e2e";

/** Text as a person reads it. */
const plain = (text: string | null): string => (text ?? "").replaceAll("\u00a0", " ").replaceAll("\u2212", "-");

/** The rows of a downloaded CSV file without quoted cells. */
async function csv(page: import("@playwright/test").Page, card: string): Promise<string[][]> {
  const download = page.waitForEvent("download");
  await page.getByRole("region", { name: card, exact: true }).getByRole("button", { name: "CSV" }).click();
  return readFileSync(await (await download).path(), "utf8").trim().split("\r\n").map((line) => line.split(","));
}

test("two GPUs of a run are compared from its page, and the waterfall adds up", async ({ page }) => {
  await signIn(page, `/runs/${RUN()}`);
  await page.locator(".page-head").getByRole("link", { name: "Compare" }).click();
  await expect(page.getByRole("article", { name: `A: SM90_H100 of ${RUN()}` })).toBeVisible();
  await expect(page.getByRole("article", { name: `B: SM90_H200 of ${RUN()}` })).toBeVisible();
  await hydrated(page);
  await expect(page.getByText("Kernels are paired by position").first()).toBeVisible();

  for (const level of ["Groups", "Kernels"]) {
    await page.getByRole("group", { name: "Bars of the waterfall" }).getByRole("button", { name: level }).click();
    const [, ...bars] = await csv(page, "Where the time went");
    const [first, last] = [bars[0], bars[bars.length - 1]];
    const added = bars.slice(1, -1).reduce((sum, bar) => sum + Number(bar[1]), 0);
    expect(bars.length).toBeGreaterThan(2);
    expect(Math.abs(added - (Number(last[2]) - Number(first[2])))).toBeLessThan(1e-3);
  }
  await expect(page).toHaveURL(/by=kernel/);
  await page.getByRole("region", { name: "Where the time went", exact: true }).getByText("The same as a table").click();
  const table = page.getByRole("region", { name: "Parts of the difference" });
  expect(await table.locator("tbody tr").count()).toBe(await page.locator(".waterfall li").count());
});

test("differences are sorted by size, filtered, and come back with the link", async ({ page }) => {
  const of = ["SM90_H100", "SM90_H200"].map((gpu) => `of=${RUN()}:${gpu}`).join("&");
  await signIn(page, `/compare?${of}`);
  await hydrated(page);
  const table = page.getByRole("region", { name: "Differences", exact: true }).last();
  await page.getByRole("group", { name: "Rows of the table" }).getByRole("button", { name: "Launches" }).click();
  await expect(table.getByRole("columnheader", { name: "Difference" })).toHaveAttribute("aria-sort", "descending");
  expect(await table.locator("tbody tr").count()).toBeLessThanOrEqual(25);
  const before = await table.locator("tbody tr").first().textContent();
  await table.getByRole("button", { name: "Launch", exact: true }).click();
  await expect(table.getByRole("columnheader", { name: "Launch", exact: true })).toHaveAttribute("aria-sort", "descending");
  expect(await table.locator("tbody tr").first().textContent()).not.toBe(before);
  await page.getByRole("searchbox", { name: "Filter by kernel, shape or group" }).fill("layer norm");
  await expect(table.locator("tbody tr").first()).toContainText("Layer norm");

  await page.getByRole("group", { name: "Compare from" }).first().getByRole("button", { name: "B" }).click();
  await expect(page).toHaveURL(/from=B/);
  const head = page.locator(".compare-headline");
  await expect(head).toContainText("B takes");
  const said = await head.textContent();
  await page.reload();
  await expect(head).toHaveText(said ?? "");
  await expect(table.getByRole("columnheader", { name: "Launch", exact: true })).toBeVisible();
});

test("samples show how they agree with real time, and other traces are paired by kernel", async ({ page }) => {
  const of = [`${H100}:SM90_H100`, `${H100}:SM90_H200`, `${A100}:SM80_A100`].map((of) => `of=${of}`).join("&");
  await signIn(page, `/compare?${of}`);
  await hydrated(page);
  await expect(page.getByText("Kernels are paired by position").first()).toBeVisible();
  await expect(page.getByText(/that only one of the two has/)).toHaveCount(0);
  const card = page.getByRole("region", { name: "Simulated against real", exact: true }).first();
  const text = plain(await card.textContent());
  expect(text).toMatch(/A · SM90_H100 mean absolute error [0-9.]+ % over 1[01] means of kernel groups/);
  expect(text).toContain("reconstructed from published statistics");
  expect(text).toMatch(/B · SM90_H200 not shown: the real times are of another GPU/);
  const chart = card.getByRole("img", { name: /Simulated against real time/ });
  await expect(chart.locator("svg circle").first()).toBeVisible();
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  await expect(card.getByRole("status")).toContainText(/real .* simulated/);
  await card.getByText("The same as a table").click();
  expect(await card.locator("tbody tr").count()).toBe(await chart.locator("svg circle").count());

  await page.getByRole("group", { name: "What the waterfall is about" }).getByRole("button", { name: "Decode step" }).click();
  await expect(page).toHaveURL(/in=decode/);
  await expect(page.locator(".compare-headline")).toContainText("A takes");
  await expect(page.locator(".waterfall")).toContainText("lm_head GEMM");

  await page.getByRole("group", { name: "Compare to" }).first().getByRole("button", { name: "C" }).click();
  await expect(page.getByText("paired by readable name, grid and block").first()).toBeVisible();
  await expect(page.getByText(/that only one of the two has/)).toBeVisible();
});

test("without a question the newest own run is compared within itself", async ({ page }) => {
  await signIn(page, "/compare");
  await hydrated(page);
  const columns = page.locator(".compare-column");
  expect(await columns.count()).toBeGreaterThan(0);
  const badges = await columns.locator(".badge").allTextContents();
  for (const mark of ["Sample", "Replay"]) expect(badges).not.toContain(mark);
  for (const text of await page.locator("td, .compare-headline, .waterfall-value").allTextContents())
    expect(plain(text), "a rounded zero has no sign, and a unit one space").not.toMatch(/[+-]0(\.0+)? |  +%/);
});

test("replicas and what is not there are said in words", async ({ page }) => {
  await signIn(page, `/compare?of=${RUN()}:SM90_H100&of=run-000000000000:SM90_H100`);
  await hydrated(page);
  await expect(page.getByText("run-000000000000:SM90_H100 is not in this workspace")).toBeVisible();
  const replicas = page.getByRole("region", { name: "Replicas", exact: true });
  await expect(replicas).toContainText("Replicas agree exactly");
  await page.getByText("Add a column").waitFor();
  await page.getByRole("link", { name: new RegExp(`Add SM90_H200 ${RUN()}`) }).click();
  await expect(page.getByRole("article", { name: /^B: SM90_H200/ })).toBeVisible();
  await page.getByRole("link", { name: `Compare the others with SM90_H200 of ${RUN()}` }).click();
  await expect(page.getByRole("article", { name: /^A: SM90_H200/ })).toBeVisible();
});

test("the pair and the level can be chosen with the keyboard alone", async ({ page }) => {
  await signIn(page, `/compare?runs=${RUN()}`);
  await hydrated(page);
  const to = page.getByRole("group", { name: "Compare to" }).first().getByRole("button", { name: "A" });
  await to.focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".compare-headline")).toContainText("B takes");
  await page.getByRole("group", { name: "Bars of the waterfall" }).getByRole("button", { name: "Kernels" }).focus();
  await page.keyboard.press("Space");
  await expect(page).toHaveURL(/by=kernel/);
});

for (const scheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test(`comparison at ${width} px, ${scheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      await signIn(page);
      for (const [name, path] of [
        ["compare-run", `/compare?runs=${RUN()}`],
        ["compare-own", "/compare"],
        ["compare-samples", "/compare?set=opt125m-e2e"],
        ["compare-none", "/compare?of="],
      ]) {
        await page.goto(BASE() + path);
        await hydrated(page);
        await page.screenshot({ path: `screenshots/${name}-${width}-${scheme}.png`, fullPage: true });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(overflow, `${name} fits ${width} px`).toBeLessThanOrEqual(0);
        await checkAccess(page);
      }
    });
  }
}
