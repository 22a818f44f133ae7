// Forms: what is wrong is said at its field, the focus goes there, and a run is launched from one form.
import { BASE, checkAccess, expect, hydrated, signIn, test } from "./open";

/** Takes out what the browser itself says of an answer with this status. */
function expected(complaints: string[], status: number): void {
  for (let i = complaints.length - 1; i >= 0; i--) if (complaints[i].includes(String(status))) complaints.splice(i, 1);
}

test("what is wrong with a GPU is said at its field, which has the focus", async ({ page, complaints }) => {
  await signIn(page, "/gpus/new");
  await hydrated(page);
  const name = page.getByRole("textbox", { name: "Name", exact: true });
  const error = page.locator("#gpu-name-error");
  const make = page.getByRole("button", { name: "Make the GPU" });
  await expect(make).toBeEnabled();

  // Nothing differs yet: that is about no field, and the button is still where the focus is.
  await make.click();
  await expect(page.getByRole("alert").filter({ hasText: "Nothing differs from SM90_H100 yet" })).toBeVisible();
  await expect(make).toBeFocused();

  await page.getByLabel("chip · SMs, in").fill("160");
  await name.fill("");
  await make.click();
  await expect(error).toContainText("A name is needed");
  await expect(name).toBeFocused();
  await expect(name).toHaveAttribute("aria-invalid", "true");
  await expect(name).toHaveAttribute("aria-describedby", "gpu-name-error");
  await checkAccess(page);

  // What the server refuses stands at the field, too, in words for people.
  await name.fill("MINE");
  await expect(error).toBeEmpty();
  await make.click();
  await expect(error).toContainText("A name starts with SM90_");
  await expect(error).not.toContainText(/body\.|Value error/);
  await expect(name).toBeFocused();

  // A value out of its limits is said before anything is sent.
  await name.fill("SM90_H200");
  await page.getByLabel("chip · SMs, in").fill("0");
  await make.click();
  await expect(page.getByLabel("chip · SMs, in")).toBeFocused();
  await expect(page.locator("#value-chip-sms-error")).toContainText("A number from");

  // A name that is taken.
  await page.getByLabel("chip · SMs, in").fill("160");
  await make.click();
  await expect(error).toContainText("There is another GPU named SM90_H200");
  await expect(name).toBeFocused();
  expected(complaints, 422);
  expected(complaints, 409);
});

test("a run is launched from /runs/new alone", async ({ page }) => {
  await signIn(page, "/runs/new");
  await hydrated(page);
  const trace = page.getByRole("combobox", { name: "Trace" });
  const gpu = page.getByRole("combobox", { name: "GPU" });
  // Samples are listed and say why they cannot be simulated.
  const sample = trace.locator("option", { hasText: "sample with recorded results" }).first();
  await expect(sample).toBeDisabled();
  await expect(page.getByText("Cannot be simulated:").first()).toBeVisible();
  await trace.selectOption("browser-trace");
  await expect(gpu.locator("option[value=SM80_A100]").first()).toBeDisabled();
  await checkAccess(page);
  await page.getByRole("button", { name: /^Launch \d+ simulations?$/ }).click();
  await expect(page).toHaveURL(/\/runs\/run-[0-9a-f]{12}$/);
  await expect(page.getByRole("link", { name: "browser-trace" }).first()).toBeVisible();
});

test("a link chooses the trace, and another choice changes what is offered", async ({ page }) => {
  await signIn(page);
  const answer = await page.request.get(`${BASE()}/api/traces`);
  const traces: { id: string; sample: boolean }[] = await answer.json();
  const sample = traces.find((one) => one.sample)?.id ?? "";
  await page.goto(`${BASE()}/runs/new?trace=${encodeURIComponent(sample)}`);
  await hydrated(page);
  const trace = page.getByRole("combobox", { name: "Trace" });
  await expect(trace).toHaveValue(sample);
  await expect(page.getByRole("heading", { name: "A sample cannot be simulated" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Launch/ })).toHaveCount(0);
  await trace.focus();
  await trace.selectOption("browser-trace");
  await expect(page.getByRole("heading", { name: "A sample cannot be simulated" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Launch \d+ simulations?$/ })).toBeEnabled();
  await expect(page.getByRole("combobox", { name: "GPU" }).first()).toHaveValue(/^SM90_/);
  await expect(trace).toBeFocused();
  await page.getByRole("button", { name: "Add a GPU" }).click();
  await expect(page.getByRole("group", { name: "GPU and count" }).nth(1)).toBeVisible();
});

test("the forms fit a phone, fields and all", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  await signIn(page);
  for (const path of ["/gpus/new", "/runs/new", "/gpus"]) {
    await page.goto(BASE() + path);
    await hydrated(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow, `${path} fits 390 px`).toBeLessThanOrEqual(0);
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll("main .input")].filter((one) => {
        const frame = one.closest(".table-frame, .card")!.getBoundingClientRect();
        return one.getBoundingClientRect().right > frame.right;
      }).map((one) => one.id),
    );
    expect(cut, `fields of ${path} are whole`).toEqual([]);
  }
});

test("what the GPUs' figures rest on is said once, with a link", async ({ page }) => {
  await signIn(page, "/gpus");
  await hydrated(page);
  const notes = page.getByRole("list", { name: "What the figures rest on" });
  await expect(notes.getByText("No figure of this GPU was measured by us")).toHaveCount(1);
  await expect(notes.getByRole("link", { name: "read how the engine works" })).toHaveAttribute("href", "/docs/engine");
  await expect(page.getByRole("row", { name: /SM90_H100/ }).getByText("unvalidated", { exact: true })).toBeVisible();
  await expect(page.getByText("docs/engine.md")).toHaveCount(0);
});

test("a sweep becomes a run whose GPUs stand in the order of their values", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page, "/gpus/new");
  await hydrated(page);
  await page.getByLabel("Name").fill("SM90_SWEPT");
  await page.getByLabel("Sweep one value").selectOption("chip.core_clock");
  await page.getByLabel("Its values").fill("1500, 900, 1000, 1200, 1980");
  await page.getByLabel("Run at once on").selectOption("browser-trace");
  await page.getByRole("button", { name: /^Make/ }).click();
  await expect(page).toHaveURL(/\/runs\/run-[0-9a-f]{12}$/, { timeout: 30_000 });
  await expect(page.getByText("5 of 5").first()).toBeVisible({ timeout: 60_000 });
  const values = [900, 1000, 1200, 1500, 1980];
  const tiles = await page.locator(".tile h3").allInnerTexts();
  expect(tiles.map((text) => text.split(" ")[0])).toEqual(values.map((value) => `SM90_SWEPT_${value}`));
  const heads = page.getByRole("grid", { name: /Kernel times/ }).getByRole("columnheader");
  const swept = (await heads.allInnerTexts()).flatMap((text) => text.match(/SM90_SWEPT_\d+/) ?? []);
  expect(swept).toEqual(values.map((value) => `SM90_SWEPT_${value}`));
  const chart = page.getByRole("region", { name: "Simulated time by the size of the value" });
  await expect(chart.locator("tbody tr")).toHaveCount(5);
  await expect(chart.getByRole("columnheader", { name: "Against SM90_SWEPT_1980" })).toBeVisible();
  // One note for each GPU would push the figures out of sight.
  const notes = page.getByRole("list", { name: "What the figures rest on" }).first();
  await expect(notes.getByText("SM90_SWEPT_1980")).toBeHidden();
  await notes.getByText("2 more notes").click();
  await expect(notes.getByText("SM90_SWEPT_1980")).toBeVisible();

  // A GPU that results rest on does not offer to be deleted.
  await page.goto(`${BASE()}/gpus/SM90_SWEPT_900`);
  await expect(page.getByText("1 sim in your runs used it")).toBeVisible();
  await expect(page.getByRole("button", { name: "Delete" })).toHaveCount(0);
});
