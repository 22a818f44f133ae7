// The timeline: wheel, drag, keys, search, selection and links on a real run, and how smooth it is with many kernels.
import { cpus, loadavg } from "node:os";
import type { Page } from "@playwright/test";
import { BASE, RUN, checkAccess, expect, hydrated, signIn, test } from "./open";

const SAMPLE = "run-sample-opt125m-h100-e2e";
/** Where a lane's kernels are, in px below the canvas's upper edge: minimap, ruler and the lane's name come first. */
const FIRST_LANE = 40 + 22 + 22 + 13;

const canvas = (page: Page) => page.locator("canvas.timeline-canvas");
const search = (page: Page) => page.getByRole("searchbox", { name: "Find kernels" });
const panel = (page: Page) => page.getByRole("region", { name: "Selected kernel", exact: true });

/** Opens a run's timeline and waits for its first picture. */
async function open(page: Page, run: string, query = ""): Promise<void> {
  await signIn(page, `/runs/${run}/timeline${query && `?${query}`}`);
  await expect(page.locator("canvas[data-drawn]")).toBeVisible({ timeout: 30_000 });
}

/** The times between which the address says that the view is; everything when it says nothing. */
async function view(page: Page): Promise<[number, number] | null> {
  await page.waitForTimeout(350);
  const found = new URL(page.url()).searchParams.get("t")?.split("-").map(Number);
  return found ? [found[0], found[1]] : null;
}

test("wheel, drag and keys move and zoom, and the address follows", async ({ page }) => {
  await open(page, RUN());
  const box = (await canvas(page).boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + FIRST_LANE);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  const zoomed = (await view(page))!;
  expect(zoomed[0]).toBeGreaterThan(0);

  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 100, box.y + FIRST_LANE, { steps: 4 });
  await page.mouse.up();
  const dragged = (await view(page))!;
  const perPx = (zoomed[1] - zoomed[0]) / box.width;
  expect((dragged[0] - zoomed[0]) / perPx).toBeCloseTo(100, 0);
  expect(dragged[1] - dragged[0]).toBeCloseTo(zoomed[1] - zoomed[0], 1);

  await canvas(page).focus();
  await page.keyboard.press("+");
  const keyed = (await view(page))!;
  expect((dragged[1] - dragged[0]) / (keyed[1] - keyed[0])).toBeCloseTo(1.5, 2);
  await page.keyboard.press("Home");
  expect((await view(page))![0]).toBe(0);
  await page.keyboard.press("f");
  expect(await view(page)).toBeNull();
});

test("a kernel is selected, compared, and a link shows it again", async ({ page }) => {
  await open(page, SAMPLE);
  const box = (await canvas(page).boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.55, box.y + FIRST_LANE);
  await expect(panel(page)).toBeVisible();
  await expect(panel(page).locator("tbody tr")).toHaveCount(2);
  const title = await panel(page).locator("h3").textContent();
  await page.keyboard.press("Shift+ArrowRight");
  await expect(panel(page).locator("h3")).not.toHaveText(title!);
  await page.keyboard.press("z");
  await page.getByRole("button", { name: "By kernel" }).click();
  const selected = await panel(page).locator("h3").textContent();
  const before = await view(page);
  expect(before).not.toBeNull();
  await page.reload();
  await expect(panel(page).locator("h3")).toHaveText(selected!);
  await expect(page.getByRole("button", { name: "By kernel" })).toHaveAttribute("aria-pressed", "true");
  expect(await view(page)).toEqual(before);
  await canvas(page).focus();
  await page.keyboard.press("Escape");
  await expect(panel(page)).toHaveCount(0);
});

test("a selected kernel says why it takes so long, and goes on saying it for the next one", async ({ page }) => {
  await open(page, RUN());
  const box = (await canvas(page).boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.55, box.y + FIRST_LANE);
  await panel(page).getByText("Why it takes so long").click();
  const kernel = panel(page).getByRole("article", { name: "Kernel" });
  await expect(kernel).toContainText(/bound/i);
  const before = await kernel.textContent();
  await canvas(page).focus();
  await page.keyboard.press("Shift+ArrowRight");
  await expect(kernel).toContainText(/bound/i);
  await expect.poll(() => kernel.textContent()).not.toBe(before);
  await checkAccess(page);
});

test("a search dims the rest and goes from hit to hit", async ({ page }) => {
  await open(page, SAMPLE);
  await search(page).fill("splitkreduce");
  const count = page.locator(".timeline-count");
  await expect(count).toHaveText(/^[1-9][0-9,]* hits$/);
  const hits = (await count.textContent())!.replace(" hits", "");
  await search(page).press("Enter");
  await expect(panel(page).locator("h3")).toContainText("splitKreduce");
  await expect(count).toHaveText(`1 of ${hits}`);
  const first = await panel(page).locator("h3").textContent();
  await page.getByRole("button", { name: "Next hit" }).click();
  await expect(count).toHaveText(`2 of ${hits}`);
  await page.getByRole("button", { name: "Previous hit" }).click();
  await expect(panel(page).locator("h3")).toHaveText(first!);
  await search(page).press("Shift+Enter");
  await expect(count).toHaveText(`${hits} of ${hits}`);
  await search(page).fill("no such kernel");
  await expect(count).toHaveText("no hit");
  await expect(page.getByRole("button", { name: "Next hit" })).toBeDisabled();
});

test("steps, the scrubber's words, the table, and no serious finding", async ({ page }) => {
  await open(page, SAMPLE);
  await page.getByRole("button", { name: "Steps", exact: true }).click();
  await expect(page.getByRole("button", { name: "Steps", exact: true })).toHaveAttribute("aria-pressed", "true");
  const box = (await canvas(page).boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.3, box.y + 52);
  const words = page.getByRole("region", { name: "What each lane runs at the scrubber" });
  await expect(words.locator("tbody tr")).toHaveCount(3);
  await expect(words).toContainText("decode");
  await page.locator(".timeline-table summary").click();
  await expect(page.getByRole("region", { name: "Kernels with most time in view" }).locator("tbody tr")).not.toHaveCount(0);
  await checkAccess(page);
});

test("a run's page has the timeline, on a phone too, in the light and in the dark", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await signIn(page, `/runs/${RUN()}`);
    await hydrated(page);
    await expect(page.locator("canvas[data-drawn]")).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  }
});

test("the wheel alone scrolls and says which key zooms, until that is known", async ({ page }) => {
  await open(page, RUN());
  const box = (await canvas(page).boundingBox())!;
  const hint = page.locator(".timeline-hint");
  await page.mouse.move(box.x + box.width / 2, box.y + FIRST_LANE);
  await page.mouse.wheel(0, 40);
  await expect(hint).toHaveText(/^(Ctrl|⌘) \+ wheel zooms$/);
  expect(await view(page)).toBeNull();
  await expect(hint).toHaveCount(0);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  expect(await view(page)).not.toBeNull();
  await page.mouse.wheel(0, 40);
  await page.waitForTimeout(200);
  await expect(hint).toHaveCount(0);
});

test("another run is added and left out again, and the link says so", async ({ page }) => {
  await open(page, RUN());
  const choice = page.getByRole("combobox", { name: "Add a run" });
  await choice.selectOption(SAMPLE);
  await expect(page).toHaveURL(new RegExp(`with=${SAMPLE}`));
  const added = page.locator(".timeline-run");
  await expect(added).toContainText(SAMPLE);
  await expect(choice.locator(`option[value="${SAMPLE}"]`)).toHaveCount(0);
  await page.reload();
  await expect(added).toContainText(SAMPLE);
  await checkAccess(page);
  await page.getByRole("button", { name: `Leave ${SAMPLE} out` }).click();
  await expect(added).toHaveCount(0);
  await expect(page).not.toHaveURL(/with=/);
});

test("a run that is not there leaves the page's own lanes alone, and is named", async ({ page, complaints }) => {
  await signIn(page, `/runs/${RUN()}/timeline?with=run-000000000000`);
  await page.locator("canvas[data-drawn]").waitFor({ state: "attached", timeout: 30_000 });
  await expect(page.getByText("run-000000000000 is left out: run run-000000000000 not found")).toBeVisible();
  await page.getByRole("button", { name: "Leave run-000000000000 out" }).click();
  await expect(page.getByText("is left out")).toHaveCount(0);
  await expect(page).not.toHaveURL(/with=/);
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes("404")));
});

test("out of sight nothing is fetched, and back in sight the lanes catch up", async ({ page }) => {
  let asked = 0;
  let done = 1;
  await page.route("**/api/runs/*/timeline*", (route) => {
    asked += 1;
    return route.fulfill({ contentType: "application/json", body: invented(1, done) });
  });
  await signIn(page);
  await hydrated(page);
  // An active run: every answer has one more kernel.
  const run = await (await page.request.get(`${BASE()}/api/runs/${RUN()}`)).json();
  await page.route(`**/api/runs/${RUN()}`, (route) => {
    done += 1;
    run.state = "active";
    run.sims[0].kernels_done = done;
    return route.fulfill({ contentType: "application/json", body: JSON.stringify(run) });
  });
  // The server would render the run as it is, so the page is reached by a link inside the app.
  await page.evaluate((href) => {
    const link = document.createElement("a");
    link.href = href;
    document.body.append(link);
    link.click();
  }, `/runs/${RUN()}/timeline`);
  await expect(page.locator("canvas[data-drawn]")).toBeVisible({ timeout: 30_000 });
  await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(3);

  const room = await page.addStyleTag({ content: ".timeline { margin-top: 300vh }" });
  await page.waitForTimeout(2_500);
  const before = asked;
  await page.waitForTimeout(5_000);
  expect(asked, "nothing is asked for out of sight").toBe(before);
  await room.evaluate((style) => (style as Element).remove());
  await expect.poll(() => asked, { timeout: 3_000 }).toBeGreaterThan(before);
});

test.describe("fingers", () => {
  test.use({ hasTouch: true });

  test("two fingers zoom, one moves", async ({ page }) => {
    await open(page, RUN());
    const box = (await canvas(page).boundingBox())!;
    const devtools = await page.context().newCDPSession(page);
    const [y, middle] = [box.y + FIRST_LANE, box.x + box.width / 2];
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...xs: number[]) =>
      devtools.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x, y, id })) });

    await touch("touchStart", middle - 50);
    await touch("touchStart", middle - 50, middle + 50);
    for (let apart = 60; apart <= 150; apart += 10) await touch("touchMove", middle - apart, middle + apart);
    await touch("touchEnd");
    const pinched = (await view(page))!;
    expect(pinched[0]).toBeGreaterThan(0);
    const span = pinched[1] - pinched[0];
    await canvas(page).focus();
    await page.keyboard.press("End");
    const end = (await view(page))![1];
    expect(span / end, "three times as far apart is a third of the time").toBeCloseTo(1 / 3, 1);
    await expect(panel(page), "a pinch selects nothing").toHaveCount(0);

    const before = (await view(page))!;
    await touch("touchStart", middle);
    for (let to = middle; to <= middle + 150; to += 15) await touch("touchMove", to);
    await touch("touchEnd");
    const moved = (await view(page))!;
    expect(moved[0]).toBeLessThan(before[0]);
    expect(moved[1] - moved[0]).toBeCloseTo(before[1] - before[0], 1);
    const px = ((before[0] - moved[0]) / (before[1] - before[0])) * box.width;
    // The browser keeps the first few px to tell a pan from a tap.
    expect(px).toBeGreaterThan(100);
    expect(px).toBeLessThanOrEqual(151);
  });
});

/**
 * An answer as the server gives it, made up here: the picture's speed is what is measured, and it does not depend on who
 * made the numbers.
 */
function invented(lanes: number, kernels: number): string {
  const kinds = Array.from({ length: 24 }, (_, n) => ({ name: `kernel_${n}`, group: `group ${n % 12}` }));
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const lane = (replica: number) => ({
    sim_id: `sim-${replica}`, gpu_config: "SM90_H100", replica, engine: "cascade", problem: null, steps: null, start_ns: null,
    index: null,
    kind: Array.from({ length: kernels }, () => Math.floor(random() * 24)),
    ns: Array.from({ length: kernels }, () => Math.round(1000 * (500 + 20000 * random() ** 4)) / 1000),
  });
  return JSON.stringify({
    run_id: RUN(), trace_id: "browser-trace", level: "kernels", kinds, lanes: Array.from({ length: lanes }, (_, n) => lane(n)),
  });
}

interface Speed {
  kernels: number;
  firstDrawMs: number;
  framesPerSecond: number;
  frameP95Ms: number;
  scriptMedianMs: number;
  scriptP95Ms: number;
}

/** Opens a run with so many made-up kernels, and pans and zooms for some seconds. */
async function speed(page: Page, lanes: number, kernels: number): Promise<Speed> {
  const body = invented(lanes, kernels);
  await page.route("**/api/runs/*/timeline*", (route) => route.fulfill({ contentType: "application/json", body }));
  // What a frame's callback takes is measured around every callback of the page.
  await page.addInitScript(() => {
    const log: number[] = [];
    const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) =>
      ask((now) => {
        const before = performance.now();
        callback(now);
        log.push(performance.now() - before);
      });
    const text = Response.prototype.text;
    Response.prototype.text = async function () {
      const answer = await text.call(this);
      if (this.url.includes("/timeline")) Object.assign(window, { arrived: performance.now() });
      return answer;
    };
    new MutationObserver(() => {
      const shared = window as unknown as { drawn?: number };
      if (!shared.drawn && document.querySelector("canvas[data-drawn]")) shared.drawn = performance.now();
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-drawn"] });
    Object.assign(window, { scripts: log, ask });
  });
  await open(page, RUN());
  const firstDrawMs = await page.evaluate(() => {
    const shared = window as unknown as { arrived: number; drawn: number };
    return shared.drawn - shared.arrived;
  });
  const frames = await canvas(page).evaluate(async (element: HTMLCanvasElement) => {
    const shared = window as unknown as { scripts: number[]; ask: typeof requestAnimationFrame };
    const box = element.getBoundingClientRect();
    const wheel = (x: number, deltaX: number, deltaY: number, ctrlKey: boolean) =>
      element.dispatchEvent(
        new WheelEvent("wheel", { clientX: box.x + x, clientY: box.y + 120, deltaX, deltaY, ctrlKey, bubbles: true, cancelable: true }),
      );
    shared.scripts.length = 0;
    const gaps: number[] = [];
    let last = performance.now();
    for (let at = 0; at < 240; at++) {
      await new Promise<void>((done) => shared.ask(() => done()));
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      // In for two seconds about a wandering point, with some sideways motion, then out again.
      if (at % 3 === 0) wheel(box.width / 2, 40, 0, false);
      else wheel(box.width * (0.3 + 0.4 * Math.abs(Math.sin(at / 30))), 0, at < 120 ? -9 : 9, true);
    }
    return { gaps: gaps.slice(2), scripts: [...shared.scripts] };
  });
  const at = (values: number[], share: number) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)];
  await page.unrouteAll();
  return {
    kernels: lanes * kernels,
    firstDrawMs,
    framesPerSecond: 1000 / (frames.gaps.reduce((a, b) => a + b, 0) / frames.gaps.length),
    frameP95Ms: at(frames.gaps, 0.95),
    scriptMedianMs: at(frames.scripts, 0.5),
    scriptP95Ms: at(frames.scripts, 0.95),
  };
}

test("100,000 kernels on each of 8 lanes pan and zoom smoothly", async ({ page }) => {
  test.setTimeout(180_000);
  let report = await speed(page, 8, 100_000);
  console.log(`timeline, 8 × 100,000 kernels: ${JSON.stringify(report)}`);
  const load = loadavg()[0];
  const late = (speed: Speed) => speed.framesPerSecond < 55 || speed.frameP95Ms >= 20 || speed.scriptP95Ms >= 8;
  if (load > cpus().length && late(report)) {
    report = await speed(page, 8, 100_000);
    console.log(`timeline, once more at a load of ${load}: ${JSON.stringify(report)}`);
  }
  expect(report.scriptMedianMs).toBeLessThan(8);
  // Where others take the processors, some frames are late whoever draws them, and their script is stopped half-way.
  test.skip(load > cpus().length + 2 && late(report), `the machine is busy: a load of ${load} on ${cpus().length} processors`);
  expect(report.scriptP95Ms).toBeLessThan(8);
  expect(report.firstDrawMs).toBeLessThan(300);
  expect(report.framesPerSecond).toBeGreaterThanOrEqual(55);
  expect(report.frameP95Ms).toBeLessThan(20);
});

test("1,000,000 kernels stay usable", async ({ page }) => {
  test.setTimeout(180_000);
  const report = await speed(page, 4, 250_000);
  console.log(`timeline, 1,000,000 kernels: ${JSON.stringify(report)}`);
  expect(report.scriptMedianMs).toBeLessThan(8);
});
