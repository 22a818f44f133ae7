// Every page: what it looks like, whether everybody can use it, whether it fits a phone.
import { BASE, RUN, checkAccess, expect, hydrated, signIn, test } from "./open";

const PAGES = () => [
  ["home", "/"],
  ["traces", "/traces"],
  ["trace", "/traces/browser-trace"],
  ["new-run", "/runs/new?trace=browser-trace"],
  ["runs", "/runs"],
  ["run", `/runs/${RUN()}`],
];

for (const scheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test(`pages at ${width} px, ${scheme}`, async ({ page }) => {
      test.setTimeout(120_000);
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${BASE()}/token`);
      await page.screenshot({ path: `screenshots/token-${width}-${scheme}.png`, fullPage: true });
      await checkAccess(page);
      await signIn(page);
      for (const [name, path] of PAGES()) {
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
