// The documents: open to anyone, readable on a phone, searchable from the keyboard.
import { BASE, checkAccess, expect, hydrated, signIn, test } from "./open";

test("documents need no token and lead from page to page", async ({ page }) => {
  await page.goto(`${BASE()}/docs`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Introduction");
  await page.getByRole("navigation", { name: "Page before and after" }).getByRole("link", { name: /Quickstart/ }).click();
  await expect(page).toHaveURL(/\/docs\/quickstart$/);
  await expect(page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Quickstart" })).toHaveAttribute(
    "aria-current",
    "page",
  );
  await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "Without an app" }).click();
  await expect(page.getByRole("heading", { name: /Without an app/ })).toBeInViewport();
});

test("the app's own pages lead to the documents", async ({ page }) => {
  await signIn(page);
  await hydrated(page);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Docs" }).click();
  await expect(page).toHaveURL(/\/docs$/);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs" }).click();
  await expect(page).toHaveURL(/\/runs$/);
});

test("search works from the keyboard alone", async ({ page }) => {
  await page.goto(`${BASE()}/docs`);
  await page.keyboard.press("/");
  const field = page.getByRole("combobox", { name: "Search" });
  await expect(field).toBeFocused();
  await field.pressSequentially("CASCADE_HEARTBEAT");
  const options = page.getByRole("option");
  await expect(options.first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowDown");
  await expect(options.nth(1)).toHaveAttribute("aria-selected", "true");
  await checkAccess(page);
  const target = await options.nth(1).getAttribute("href");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${BASE()}${target}`);

  await page.keyboard.press("Control+k");
  await field.fill("zzzz");
  await expect(page.getByRole("status")).toContainText("Nothing found");
  await page.keyboard.press("Escape");
  await expect(field).toBeHidden();
});

test("commands can be copied and name this app", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${BASE()}/docs/api`);
  const block = page.locator(".code").first();
  await expect(block).toContainText(`export CASCADE_URL=${BASE()}`);
  await block.hover();
  await block.getByRole("button", { name: "Copy" }).click();
  await expect(block.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`export CASCADE_URL=${BASE()}\n`);
});

test("a missing document says so, and files for programs are there", async ({ page, request, complaints }) => {
  const missing = await page.goto(`${BASE()}/docs/nope`);
  expect(missing?.status()).toBe(404);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("This page is not here");
  for (let i = complaints.length - 1; i >= 0; i--) if (complaints[i].includes("404")) complaints.splice(i, 1);
  for (const [path, start] of [
    ["/llms.txt", "# Cascade"],
    ["/llms-full.txt", "# Cascade"],
    ["/docs/agent-prompt.md", "# Cascade"],
    ["/docs/cascade-skill/SKILL.md", "---\nname: cascade\n"],
    ["/docs/engine.md", "# The Cascade engine"],
  ]) {
    const answer = await request.get(BASE() + path);
    expect(answer.status(), path).toBe(200);
    expect((await answer.text()).startsWith(start), path).toBe(true);
  }
});

test("the theme chosen in the app holds here too", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${BASE()}/docs`);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByRole("button", { name: "Dark theme" }).click();
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.goto(`${BASE()}/token`);
  expect(await background()).toBe(dark);
});

// One page of each kind: axe takes seconds on the longest.
const SCANNED = ["introduction", "quickstart", "deploy", "api-traces", "troubleshooting"];

for (const scheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test(`documents at ${width} px, ${scheme}`, async ({ page, request }) => {
      test.setTimeout(180_000);
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      const index = await (await request.get(`${BASE()}/llms.txt`)).text();
      const pages = [...index.matchAll(/\(\/docs\/([a-z-]+)\.md\)/g)].map((match) => match[1]);
      expect(pages.length).toBeGreaterThan(15);
      for (const name of pages.filter((name) => name !== "agent-prompt")) {
        await page.goto(`${BASE()}${name === "introduction" ? "/docs" : `/docs/${name}`}`);
        await page.screenshot({ path: `screenshots/docs-${name}-${width}-${scheme}.png` });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(overflow, `${name} fits ${width} px`).toBeLessThanOrEqual(0);
        if (SCANNED.includes(name)) await checkAccess(page);
      }
      if (width > 390) return;
      await page.getByRole("button", { name: "All pages" }).click();
      const menu = page.getByRole("navigation", { name: "Documentation" });
      await expect(menu).toBeVisible();
      await menu.getByRole("link", { name: "Concepts" }).click();
      await expect(page).toHaveURL(/\/docs\/concepts$/);
      await expect(menu).toBeHidden();
      await page.getByRole("button", { name: "On this page" }).click();
      await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "Engine" }).click();
      await expect(page.getByRole("heading", { name: /^Engine/ })).toBeInViewport();
    });
  }
}
