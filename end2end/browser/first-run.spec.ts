// Somebody new, in an empty workspace, without a mouse: from the token to a result that a simulation made.
import { App, TOKEN } from "./app";
import { checkAccess, expect, test } from "./open";

let at: App;

test.beforeAll(async () => {
  at = new App({ CASCADE_WORKSPACE: "first-lab" });
  await at.start();
});

test.afterAll(() => at.stop());

test("from the token to a first result by keyboard alone", async ({ page }) => {
  test.setTimeout(150_000);
  await page.goto(`${at.base}/`);
  await expect(page.getByLabel("Token")).toBeFocused();
  await page.keyboard.type(TOKEN);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${at.base}/`);

  // The commands name this app, and nothing is ticked off yet.
  const guide = page.getByRole("region", { name: "Your first result" });
  const steps = guide.locator("ol.steps > li");
  await expect(steps.nth(0)).toHaveAttribute("data-done", "false");
  const start = guide.getByRole("button", { name: "Try it with a small synthetic trace" });
  await expect(start).toBeEnabled();
  await guide.getByRole("tab", { name: "A synthetic trace" }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(guide.getByText("Waiting for your trace")).toBeVisible();
  await guide.getByRole("tab", { name: "cascade upload" }).focus();
  for (const key of ["cascade upload", "aws s3 cp", "rclone"]) {
    await expect(guide.getByRole("tab", { name: key })).toBeFocused();
    await expect(guide.locator("pre:visible")).toContainText(at.s3);
    await page.keyboard.press("ArrowRight");
  }
  await checkAccess(page);

  // One press makes the trace, waits for it and simulates it.
  await guide.getByRole("tab", { name: "A trace of your own" }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Tab");
  await expect(start).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/runs\/run-[0-9a-f]{12}$/, { timeout: 60_000 });
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  await expect(page.getByText("2 of 2").first()).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText("synthetic").first()).toBeVisible();

  // The overview now shows the result, and what to do with it.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("overview");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${at.base}/`);
  const latest = page.getByRole("region", { name: "Latest results" });
  await expect(latest.locator(".outcome").filter({ hasText: "SM90_H100" }).first()).toContainText(/\d\s(µs|ms|s)/);
  await expect(page.getByRole("region", { name: "What next" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Your first result" })).toHaveCount(0);
});
