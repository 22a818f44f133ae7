// From the token to results, in the browser alone.
import { BASE, RUN, expect, signIn, test } from "./open";

test("a page asks for the token first and then goes where it was going", async ({ page }) => {
  await page.goto(`${BASE()}/runs/${RUN()}`);
  await expect(page).toHaveURL(/\/token\?next=/);
  await page.getByLabel("Token").fill("wrong");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("That token is not right")).toBeVisible();
  await page.getByLabel("Token").fill(process.env.CASCADE_TOKEN ?? "");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByRole("heading", { level: 1, name: RUN() })).toBeVisible();
});

test("a link with the token in its fragment opens the run by itself", async ({ page }) => {
  await page.goto(`${BASE()}/token?next=/runs/${RUN()}#token=${process.env.CASCADE_TOKEN}`);
  await expect(page.getByRole("heading", { level: 1, name: RUN() })).toBeVisible();
});

test("launch a run, watch it end and read its kernels", async ({ page }) => {
  await signIn(page, "/traces");
  await page.getByRole("link", { name: "browser-trace" }).first().click();
  await expect(page.getByRole("heading", { level: 1, name: "browser-trace" })).toBeVisible();
  await expect(page.getByText("synthetic").first()).toBeVisible();
  await page.getByRole("link", { name: "New run" }).click();

  const gpu = page.getByRole("combobox", { name: "GPU" });
  await expect(gpu.locator("option[value=SM80_A100]")).toBeDisabled();
  // The button waits for the page to be alive; what is typed before that would be lost.
  await expect(page.getByRole("button", { name: "Launch 1 simulation" })).toBeEnabled();
  await page.getByRole("spinbutton", { name: "Simulations" }).fill("65");
  await expect(page.getByRole("button", { name: /Launch/ })).toBeDisabled();
  await page.getByRole("spinbutton", { name: "Simulations" }).fill("2");
  const launch = page.getByRole("button", { name: "Launch 2 simulations" });
  await expect(launch).toBeEnabled();
  await launch.click();

  await expect(page).toHaveURL(/\/runs\/run-[0-9a-f]{12}/);
  await expect(page.getByText("2 of 2").first()).toBeVisible({ timeout: 40_000 });
  await expect(page.getByText("succeeded").first()).toBeVisible();
  await expect(page.getByText("Cascade engine").first()).toBeVisible();
  const rows = page.getByRole("grid", { name: /Kernel times/ }).locator("tbody tr");
  expect(await rows.count()).toBeGreaterThan(5);
});

test("results and logs can be downloaded", async ({ page }) => {
  await signIn(page, `/runs/${RUN()}`);
  for (const [name, file] of [["Results", `${RUN()}-results.json`], ["Perfetto", `${RUN()}-perfetto.json`]]) {
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name }).or(page.getByRole("button", { name: `${name} JSON` })).first().click();
    expect((await download).suggestedFilename()).toBe(file);
  }
});

test("logging out closes the workspace", async ({ page }) => {
  await signIn(page, "/runs");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.goto(`${BASE()}/runs`);
  await expect(page).toHaveURL(/\/token/);
});
