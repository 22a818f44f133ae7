// Every page: what it looks like, whether everybody can use it, whether it fits a phone.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { everyPage, type Place } from "./every-page";
import { BASE, RUN, checkAccess, expect, hydrated, signIn, test } from "./open";

/** Every page of the tests' run. */
async function pages(page: Page): Promise<Place[]> {
  const run = await (await page.request.get(`${BASE()}/api/runs/${RUN()}`)).json();
  return everyPage(RUN(), run.sims[0].id, "browser-trace");
}

/** The pages that the app's router knows. */
function routes(): RegExp[] {
  const source = readFileSync(join(__dirname, "../../app/src/lib.rs"), "utf8");
  const found = [...source.matchAll(/<Route path=path!\("([^"]*)"\)/g)].map((match) => match[1]);
  return found.map((path) => new RegExp(`^${path.replace(/:\w+/g, "[^/?]+")}(\\?.*)?$`));
}

test("no page is left out of the screenshots", async ({ page }) => {
  await signIn(page);
  const shown = (await pages(page)).map(([, path]) => path);
  expect(routes().length).toBeGreaterThan(10);
  expect(routes().filter((route) => !shown.some((path) => route.test(path))).map(String)).toEqual([]);
});

for (const scheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test(`pages at ${width} px, ${scheme}`, async ({ page }) => {
      test.setTimeout(180_000);
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${BASE()}/token`);
      await checkAccess(page);
      await signIn(page);
      for (const [name, path, awaited] of await pages(page)) {
        await page.goto(BASE() + path);
        await hydrated(page);
        if (awaited) await page.locator(awaited).first().waitFor({ state: "attached", timeout: 30_000 });
        await page.screenshot({ path: `screenshots/${name}-${width}-${scheme}.png`, fullPage: true });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(overflow, `${name} fits ${width} px`).toBeLessThanOrEqual(0);
        await checkAccess(page);
      }
    });
  }
}

test("an unknown page and an unknown run say so", async ({ page, complaints }) => {
  await signIn(page);
  const missing = await page.goto(`${BASE()}/no/such/page`);
  expect(missing?.status()).toBe(404);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.goto(`${BASE()}/runs/run-000000000000`);
  await expect(page.getByText("run run-000000000000 not found")).toBeVisible();
  // The browser itself reports a page that came with status 404.
  for (let i = complaints.length - 1; i >= 0; i--) if (complaints[i].includes("404")) complaints.splice(i, 1);
});

test("the theme can be chosen and stays", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await signIn(page);
  await hydrated(page);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByRole("button", { name: "Dark theme" }).click();
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.reload();
  expect(await background()).toBe(dark);
});

test("an address cannot put a script into the page", async ({ page, complaints }) => {
  await signIn(page);
  await page.goto(`${BASE()}/traces/${encodeURIComponent("</title><script>document.title='owned'</script>")}`);
  await expect(page.getByText("not found").first()).toBeVisible();
  expect(await page.title()).not.toBe("owned");
  for (let i = complaints.length - 1; i >= 0; i--) if (complaints[i].includes("404")) complaints.splice(i, 1);
});
