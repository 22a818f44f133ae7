// Predicted requests: the bundled sample on its run's page, and samples side by side.
import { BASE, RUN, checkAccess, expect, hydrated, signIn, test } from "./open";

const H100 = "run-sample-opt125m-h100-e2e";
const A100 = "run-sample-opt125m-a100-e2e";
const SAMPLE = "reconstructed from published statistics";

/** Text as a person reads it: no-break spaces are spaces, and a minus is a minus. */
const plain = (text: string | null): string => (text ?? "").replaceAll("\u00a0", " ").replaceAll("\u2212", "-");

test("a sample shows what was published, and errors only against the GPU that was measured", async ({ page }) => {
  await signIn(page, `/runs/${H100}`);
  const part = page.locator("#request-time");
  const h100 = part.getByRole("article", { name: /SM90_H100/ });
  await expect(h100).toContainText("262.14");
  const text = plain(await h100.textContent());
  for (const figure of ["262.14 ms", "real 254.45 ms", "+3.02 %", "9.00 ms", "real 8.63 ms", "8.17 ms", "real 7.93 ms", "+3.06 %"])
    expect(text).toContain(figure);
  const h200 = part.getByRole("article", { name: /SM90_H200/ });
  const other = plain(await h200.textContent());
  expect(other).toContain("262.16 ms");
  expect(other).toContain("counterfactual: no measured baseline on this GPU");
  expect(other).not.toMatch(/[+-][0-9.]+ %/);
  await expect(page.getByText(SAMPLE).first()).toBeVisible();
  await expect(page.getByText("Sample", { exact: true }).first()).toBeVisible();
  expect(plain(await part.textContent())).toContain("17,088 of 17,088");
});

test("the tables follow the chosen GPU, and the kernel groups can be sorted", async ({ page }) => {
  await signIn(page, `/runs/${H100}`);
  await hydrated(page);
  const requests = page.getByRole("region", { name: "Requests, real and simulated" });
  expect(plain(await requests.textContent())).toContain("253.435 ms261.134 ms+7.699 ms (+3.04 %)");
  const groups = page.getByRole("region", { name: "Kernel groups" });
  await groups.getByRole("button", { name: "Error" }).click();
  await expect(groups.getByRole("columnheader", { name: "Error" })).toHaveAttribute("aria-sort", "descending");
  await expect(groups.locator("tbody tr").first()).toContainText("133.3");
  await groups.getByRole("button", { name: "Error" }).click();
  await expect(groups.locator("tbody tr").first()).toContainText("14.2");

  await page.getByRole("group", { name: "GPU", exact: true }).getByRole("button", { name: /SM90_H200/ }).click();
  await expect(page).toHaveURL(/gpu=/);
  await expect(groups.getByRole("columnheader", { name: "Error" })).toHaveCount(0);
  await page.reload();
  await expect(requests).toContainText("261.154");
});

test("the chart of a step has a table behind it and shows the GPU alone when asked", async ({ page }) => {
  await signIn(page, `/runs/${H100}`);
  await hydrated(page);
  const bars = page.getByRole("img", { name: /Time of a step by part/ });
  await expect(bars.locator("svg rect").first()).toBeVisible();
  await page.getByText("The same as a table").click();
  const parts = page.getByRole("region", { name: "Parts of a step" });
  await expect(parts).toContainText("Host");
  await page.getByRole("button", { name: "GPU time only" }).click();
  await expect(parts).not.toContainText("Host");
  const all = plain(await parts.locator("tbody tr").last().textContent());
  for (const busy of ["575.6 µs", "817.0 µs", "817.6 µs"]) expect(all).toContain(busy);
  await page.getByRole("button", { name: "Prefill" }).click();
  await expect(parts.locator("tbody tr").last()).toContainText("615.3");
});

test("the sample set stands side by side", async ({ page }) => {
  await signIn(page, `/runs/${H100}`);
  await page.locator("#request-time").getByRole("link", { name: "Compare" }).click();
  const table = page.getByRole("region", { name: "Runs side by side" });
  for (const gpu of ["SM90_H100", "SM90_H200", "SM80_A100"])
    await expect(table.getByRole("columnheader", { name: new RegExp(gpu) })).toBeVisible();
  const text = plain(await table.textContent());
  for (const figure of ["262.14 ms", "262.16 ms", "229.58 ms", "real 222.08 ms", "+3.38 %", "counterfactual"])
    expect(text).toContain(figure);
  await expect(page.getByText(SAMPLE).first()).toBeVisible();
  await page.getByRole("link", { name: `Leave SM80_A100 of ${A100} out` }).click();
  await expect(table.getByRole("columnheader", { name: /SM80_A100/ })).toHaveCount(0);
  await page.getByText("Add a column").click();
  await page.getByRole("link", { name: new RegExp(`Add SM80_A100 ${A100}`) }).click();
  await expect(table.getByRole("columnheader", { name: /SM80_A100/ })).toBeVisible();
});

test("a trace without a step timeline says how to get one", async ({ page }) => {
  await signIn(page, `/runs/${RUN()}`);
  await expect(page.locator("#request-time")).toContainText("The trace has no step timeline");
});

test("a sample trace offers only a replay, and a replay says that it is one", async ({ page }) => {
  await signIn(page, "/traces/sample__facebook_opt-125m__h100-e2e");
  await hydrated(page);
  await expect(page.getByText(SAMPLE).first()).toBeVisible();
  await expect(page.getByRole("link", { name: "New run" })).toHaveCount(0);
  await page.getByRole("button", { name: "Replay recorded results" }).click();
  await expect(page).toHaveURL(/\/runs\/run-[0-9a-f]{12}/);
  await expect(page.getByText("Replay", { exact: true }).first()).toBeVisible();
  await expect(page.locator("#request-time")).toContainText("262.14", { timeout: 40_000 });
});

for (const scheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test(`predicted requests at ${width} px, ${scheme}`, async ({ page }) => {
      test.setTimeout(120_000);
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      await signIn(page);
      for (const [name, path] of [
        ["sample-run", `/runs/${H100}`],
        ["sample-trace", "/traces/sample__facebook_opt-125m__h100-e2e"],
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

test("a run's page with a whole-request timeline opens in under a second", async ({ page }) => {
  await signIn(page, `/runs/${H100}`);
  const start = Date.now();
  await page.goto(`${BASE()}/runs/${H100}`, { waitUntil: "domcontentloaded" });
  await expect(page.locator("#request-time")).toContainText("262.14");
  expect(Date.now() - start).toBeLessThan(1000);
});
