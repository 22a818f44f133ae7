// What every browser test shares: a page that is signed in and reports anything it should not say.
import AxeBuilder from "@axe-core/playwright";
import { expect, test as base, type Page } from "@playwright/test";

export const RUN = () => process.env.CASCADE_TEST_RUN ?? "";
export const BASE = () => process.env.CASCADE_URL ?? "";

/** Signs in through the token screen, as a person does. */
export async function signIn(page: Page, next = "/"): Promise<void> {
  await page.goto(`${BASE()}/token?next=${encodeURIComponent(next)}`);
  await page.getByLabel("Token").fill(process.env.CASCADE_TOKEN ?? "");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${BASE()}${next}`);
}

/** A test whose page must not log errors, hydration warnings included. */
export const test = base.extend<{ complaints: string[] }>({
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      await use(complaints);
      expect(complaints, "the console stays silent").toEqual([]);
    },
    { auto: true },
  ],
});

/** Fails on accessibility findings that keep people out. */
export async function checkAccess(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  expect(serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" | ")}`)).toEqual([]);
}

/** Waits until the page is alive: WASM is loaded and has taken over, its later parts too, and nothing is on its way. */
export async function hydrated(page: Page): Promise<void> {
  await page.locator("html[data-alive]").waitFor({ state: "attached", timeout: 30_000 });
  // Parts out of sight come as soon as somebody moves.
  await page.evaluate(() => window.dispatchEvent(new Event("pointermove")));
  await page.waitForFunction(() => !document.querySelector(".late:not([data-alive]):not(:empty)"));
  await page.waitForLoadState("networkidle", { timeout: 20_000 }).catch(() => undefined);
}

export { expect };
