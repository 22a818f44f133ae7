// Somebody new, in an empty workspace, without a mouse: from the token to a result that a simulation made.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { checkAccess, expect, test } from "./open";

const TOKEN = "first-token";
let app: ChildProcess;
let folder: string;
const at = { app: "", s3: "" };

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cascade-first-"));
  const env = { ...process.env, CASCADE_TOKEN: TOKEN, CASCADE_DATA_DIR: join(folder, "data"), CASCADE_WORKSPACE: "first-lab" };
  app = spawn(process.env.CASCADE_BIN ?? "cascade", ["serve", "--host", "127.0.0.1", "--port", "0", "--s3-port", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => app.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    app.on("exit", (code) => reject(new Error(`cascade serve ended with ${code}`)));
    createInterface({ input: app.stdout! }).on("line", (line) => {
      const [key, value] = line.split(": ", 2);
      if (key === "app" || key === "s3") at[key] = value.trim().split(/\s+/)[0];
      if (at.app && at.s3) resolve();
    });
  });
});

test.afterAll(async () => {
  app.removeAllListeners("exit");
  const gone = new Promise((done) => app.once("exit", done));
  app.kill("SIGTERM");
  await gone;
  rmSync(folder, { recursive: true, force: true });
});

test("from the token to a first result by keyboard alone", async ({ page }) => {
  test.setTimeout(150_000);
  await page.goto(`${at.app}/`);
  await expect(page.getByLabel("Token")).toBeFocused();
  await page.keyboard.type(TOKEN);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${at.app}/`);

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
  await expect(page).toHaveURL(`${at.app}/`);
  const latest = page.getByRole("region", { name: "Latest results" });
  await expect(latest.locator(".outcome").filter({ hasText: "SM90_H100" }).first()).toContainText(/\d\s(µs|ms|s)/);
  await expect(page.getByRole("region", { name: "What next" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Your first result" })).toHaveCount(0);
});
