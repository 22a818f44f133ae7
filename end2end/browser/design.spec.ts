// The design system: every component on one page, the palette, dialogs, tabs, toasts, the theme, and the main job
// without a mouse.
import { BASE, RUN, checkAccess, expect, hydrated, signIn, test } from "./open";

test("the palette goes anywhere by keyboard alone", async ({ page }) => {
  await signIn(page);
  await hydrated(page);
  const palette = page.getByRole("dialog", { name: "Search and commands" });
  const box = page.getByRole("combobox", { name: /^Search pages/ });

  await page.keyboard.press("Control+k");
  await expect(palette).toBeVisible();
  await expect(box).toBeFocused();
  await page.keyboard.type(RUN().slice(4));
  await expect(palette.getByRole("option", { selected: true })).toContainText(RUN());
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${BASE()}/runs/${RUN()}`);
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  await checkAccess(page);

  // Arrows choose, Escape leaves everything as it was and gives the focus back.
  await page.getByRole("button", { name: "Search and commands" }).focus();
  await page.keyboard.press("Control+k");
  await page.keyboard.press("ArrowDown");
  await expect(box).toHaveAttribute("aria-activedescendant", "palette-1");
  await checkAccess(page);
  await page.keyboard.press("Escape");
  await expect(palette).toBeHidden();
  await expect(page.getByRole("button", { name: "Search and commands" })).toBeFocused();

  // Documents and actions are there too; letters may be left out.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("drk theme");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("zzzzqq");
  await expect(palette.getByText("Nothing fits")).toBeVisible();
});

test("a dialog keeps the focus and gives it back", async ({ page }) => {
  await signIn(page, "/ui");
  await hydrated(page);
  const open = page.getByRole("button", { name: "Delete…" });
  await open.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delete nothing?" });
  await expect(dialog).toBeVisible();
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => document.activeElement?.closest("dialog, body")?.tagName);
    // Past the last button the browser's own bar has its turn, never the page behind.
    expect(at === "DIALOG" || (await page.evaluate(() => document.activeElement === document.body))).toBe(true);
  }
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(open).toBeFocused();
});

test("tabs are moved between by arrows and take one stop", async ({ page }) => {
  await signIn(page, "/ui");
  await hydrated(page);
  const tab = (name: string) => page.getByRole("tab", { name });
  await tab("Kernels").focus();
  await page.keyboard.press("ArrowRight");
  await expect(tab("Steps")).toBeFocused();
  await expect(tab("Steps")).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("tabpanel", { name: "Steps" })).toBeVisible();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowRight");
  await expect(tab("Kernels")).toBeFocused();
  await expect(tab("Steps")).toHaveAttribute("tabindex", "-1");
});

test("what was done is announced, and a failure stays until it is closed", async ({ page }) => {
  await signIn(page, "/ui");
  await hydrated(page);
  const region = page.locator(".toasts");
  await expect(region).toHaveAttribute("aria-live", "polite");
  await page.getByRole("button", { name: "Say that it went well" }).click();
  await expect(region.getByText("Saved", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Say that it failed" }).click();
  await expect(region.getByRole("alert")).toContainText("nothing was saved");
  await expect(region.getByText("Saved", { exact: true })).toBeHidden({ timeout: 8_000 });
  await region.getByRole("button", { name: "Close" }).click();
  await expect(region.getByRole("alert")).toHaveCount(0);
});

test("a tooltip shows on focus and leaves with Escape", async ({ page }) => {
  await signIn(page, "/ui");
  await hydrated(page);
  const tip = page.getByRole("tooltip");
  const badge = page.locator(".badge", { hasText: /^Tooltip$/ });
  await page.getByRole("button", { name: "Say that it failed" }).focus();
  await page.keyboard.press("Tab");
  await expect(badge).toBeFocused();
  await expect(tip).toBeVisible();
  await expect(badge).toHaveAttribute("aria-describedby", "tooltip");
  await page.keyboard.press("Escape");
  await expect(tip).toBeHidden();
  await badge.hover();
  await expect(tip).toContainText("Escape takes it away");
});

test("the theme is there from the first paint and stays", async ({ page, context, complaints }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await signIn(page);
  await hydrated(page);
  await page.getByRole("button", { name: "Dark theme" }).click();
  const dark = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  // Without its WASM the page never comes alive: what it shows is its first paint.
  await context.route("**/*.wasm*", (route) => route.abort());
  await page.goto(`${BASE()}/runs`, { waitUntil: "domcontentloaded" });
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe(dark);
  await context.unroute("**/*.wasm*");
  // What was kept from it is all it may complain of.
  expect(complaints.splice(0).filter((text) => !/ERR_FAILED|Failed to fetch/.test(text))).toEqual([]);
});

test("the skip link leads past the bar, and nothing moves where motion is not wanted", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await signIn(page, "/ui");
  await hydrated(page);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("#main")).toBeFocused();
  const moving = await page.evaluate(() =>
    [...document.querySelectorAll("*")].filter((e) => {
      const style = getComputedStyle(e);
      return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
    }).length,
  );
  expect(moving).toBe(0);
});

test("lists are searched and sorted, and two runs chosen to be compared", async ({ page }) => {
  await signIn(page, "/runs");
  await hydrated(page);
  const rows = page.getByRole("table").locator("tbody tr");
  const all = await rows.count();
  await page.getByRole("searchbox").fill("browser-trace h200");
  await expect(rows.filter({ hasText: RUN() })).toHaveCount(1);
  expect(await rows.count()).toBeLessThan(all);
  await page.getByRole("searchbox").fill("no such run");
  await expect(page.getByText("No run fits the search.")).toBeVisible();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "Sims done" }).click();
  await expect(page.getByRole("columnheader", { name: "Sims done" })).toHaveAttribute("aria-sort", "descending");
  const boxes = page.getByRole("checkbox", { name: /^Compare run-/ });
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await page.getByRole("link", { name: "Compare 2 runs" }).click();
  await expect(page).toHaveURL(/\/compare\?runs=[^,]+,[^,]+$/);
  await expect(page.getByRole("heading", { level: 1, name: "Compare" })).toBeFocused();
});
