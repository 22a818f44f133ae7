// What a page keeps: it is up to date with what happens elsewhere, says so when it cannot be, and is where it was when
// one comes back to it.
import type { Page } from "@playwright/test";
import { BASE, RUN, expect, hydrated, signIn, test } from "./open";

const TOKEN = () => ({ Authorization: `Bearer ${process.env.CASCADE_TOKEN}` });

/** Launches a run beside the page, as a colleague would. */
async function launch(): Promise<string> {
  const body = JSON.stringify({ trace_id: "browser-trace", entries: [{ gpu_config: "SM90_H100", count: 1 }] });
  const headers = { ...TOKEN(), "Content-Type": "application/json" };
  const answer = await fetch(`${BASE()}/api/runs`, { method: "POST", headers, body });
  expect(answer.status).toBe(201);
  return (await answer.json()).id;
}

/** Takes away what the browser itself says of answers that did not come or were refused. */
function quiet(complaints: string[], what: RegExp): void {
  for (let i = complaints.length - 1; i >= 0; i--) if (what.test(complaints[i])) complaints.splice(i, 1);
}

/** How far the page is scrolled. */
const place = (page: Page) => page.evaluate(() => Math.round(window.scrollY));

test("the list of runs and the overview hear of a run that was launched elsewhere", async ({ page, context }) => {
  await signIn(page, "/runs");
  await hydrated(page);
  const old = page.getByRole("link", { name: RUN() });
  await old.focus();
  const overview = await context.newPage();
  await overview.goto(`${BASE()}/`);
  await page.bringToFront();
  const run = await launch();
  const row = page.getByRole("row", { name: new RegExp(run) });
  await expect(row).toContainText("succeeded", { timeout: 30_000 });
  await expect(row).toContainText("Synthetic");
  // What did not change stayed, and with it the focus.
  await expect(old).toBeFocused();
  await overview.bringToFront();
  await expect(overview.getByRole("link", { name: run }).first()).toBeVisible({ timeout: 20_000 });
});

test("a list stays while the app cannot be reached, says so, and goes on by itself", async ({ page, complaints }) => {
  await signIn(page, "/runs");
  await hydrated(page);
  await page.route("**/api/runs", (route) => route.abort());
  await expect(page.getByText("What is shown may be old")).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("link", { name: RUN() })).toBeVisible();
  await page.unroute("**/api/runs");
  await expect(page.getByText("What is shown may be old")).toHaveCount(0, { timeout: 20_000 });
  quiet(complaints, /ERR_FAILED|Failed to (load|fetch)/);
});

test("a page that could not be loaded is asked for again without a press", async ({ page, complaints }) => {
  await signIn(page, "/traces");
  await hydrated(page);
  await page.route("**/api/runs", (route) => route.abort());
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs" }).click();
  await expect(page.getByText("The app could not be reached").first()).toBeVisible();
  await page.unroute("**/api/runs");
  await expect(page.getByRole("link", { name: RUN() })).toBeVisible({ timeout: 20_000 });
  quiet(complaints, /ERR_FAILED|Failed to (load|fetch)/);
});

test("Back returns to the place on the page, and a link's part is gone to", async ({ page }) => {
  await page.setViewportSize({ width: 1200, height: 600 });
  await signIn(page, `/runs/${RUN()}`);
  await hydrated(page);
  await page.evaluate(() => window.scrollTo(0, 700));
  await expect.poll(() => place(page)).toBe(700);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "GPUs" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "GPUs" })).toBeVisible();
  expect(await place(page)).toBe(0);
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1, name: RUN() })).toBeVisible();
  await expect.poll(() => place(page)).toBe(700);

  // Come to by a link, the same page begins at its top, and Back returns there.
  const bar = page.getByRole("navigation", { name: "Main" });
  await bar.getByRole("link", { name: "GPUs" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "GPUs" })).toBeVisible();
  await page.evaluate(() => window.scrollTo(0, 200));
  await expect.poll(() => place(page)).toBe(200);
  await bar.getByRole("link", { name: "Traces" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Traces" })).toBeVisible();
  await bar.getByRole("link", { name: "GPUs" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "GPUs" })).toBeVisible();
  await bar.getByRole("link", { name: "Traces" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Traces" })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1, name: "GPUs" })).toBeVisible();
  await page.waitForTimeout(500);
  expect(await place(page)).toBe(0);

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Traces" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Traces" })).toBeVisible();
  await page.evaluate((run) => {
    const link = document.createElement("a");
    link.href = `/runs/${run}#log`;
    link.textContent = "to the log";
    document.querySelector("main")!.prepend(link);
  }, RUN());
  await page.getByRole("link", { name: "to the log" }).click();
  await expect(page.locator("#log")).toBeInViewport({ timeout: 10_000 });
});

test("the explorer says what it could not fetch, dims what is from before, and asks again", async ({ page, complaints }) => {
  await signIn(page, "/explore");
  const status = page.locator(".explore-status");
  await expect(status).toContainText("simulated here", { timeout: 30_000 });
  const refused = JSON.stringify({ detail: "its step timeline cannot be read" });
  await page.route("**/api/scenarios/profile*", (route) => route.fulfill({ status: 422, contentType: "application/json", body: refused }));
  await page.getByLabel("Model or trace").selectOption("trace:sample__facebook_opt-125m__h100-e2e");
  await expect(page.getByText("its step timeline cannot be read").first()).toBeVisible();
  await expect(status).toContainText("from before");
  await expect(page.locator(".explore-cards")).toHaveClass(/stale/);
  await page.unroute("**/api/scenarios/profile*");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(status).toContainText("simulated here", { timeout: 30_000 });
  await expect(page.locator(".explore-cards")).not.toHaveClass(/stale/);
  await expect(page.getByText("its step timeline cannot be read")).toHaveCount(0);
  quiet(complaints, /422/);
});

test("a page that is left writes nothing into the next one's address", async ({ page }) => {
  await signIn(page, "/explore");
  await hydrated(page);
  const menu = page.getByRole("navigation", { name: "Main" });
  await page.getByRole("textbox", { name: "Requests", exact: true }).fill("77");
  await menu.getByRole("link", { name: "Runs" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  await page.waitForTimeout(800);
  expect(new URL(page.url()).pathname).toBe("/runs");

  await page.goto(`${BASE()}/runs/${RUN()}/timeline`);
  await page.locator("canvas[data-drawn]").waitFor({ state: "attached", timeout: 30_000 });
  await page.locator("canvas[data-drawn]").focus();
  await page.keyboard.press("+");
  await menu.getByRole("link", { name: "Traces" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Traces" })).toBeVisible();
  await page.waitForTimeout(800);
  expect(page.url()).toBe(`${BASE()}/traces`);
});
