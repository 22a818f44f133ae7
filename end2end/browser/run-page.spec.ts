// The run's page: a kernel's panel, a table of many kernels, the log, outputs, and a run of 64 sims while it is alive.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { App } from "./app";
import { checkAccess, expect, hydrated, RUN, signIn, test } from "./open";

/** A log of `kernels` kernels as Accel-Sim prints it, with the lines that matter. */
function makeLog(kernels: number): string {
  const lines: string[] = [];
  let cycles = 0;
  for (let i = 1; i <= kernels; i++) {
    const took = 1000 + ((i * 37) % 400);
    cycles += took;
    lines.push(
      `launching kernel name: _Z5layer${i % 7}Pf uid: ${i}`,
      `kernel_name = _Z5layer${i % 7}Pf `,
      `kernel_launch_uid = ${i} `,
      `gpu_sim_cycle = ${took}`,
      "gpu_sim_insn = 640",
      "gpu_ipc =     0.6400",
      `gpu_tot_sim_cycle = ${cycles}`,
      `gpu_tot_sim_insn = ${640 * i}`,
      "gpu_tot_ipc =     0.5000",
      "gpgpu_simulation_rate = 10516 (inst/sec)",
      "gpgpu_silicon_slowdown = 1253510x",
    );
  }
  lines.push("GPGPU-Sim: *** exit detected ***");
  return lines.join("\n") + "\n";
}

/** An app of its own whose sims play a log back, `delay` seconds after every 200 lines. */
async function replayApp(kernels: number, delay: number): Promise<App> {
  const app = new App({ CASCADE_MAX_LOCAL_SIMS: "64" });
  const log = join(app.folder, "run.log");
  writeFileSync(log, makeLog(kernels));
  await app.start({ CASCADE_SIM_CMD: `${app.bin} worker --replay ${log} --delay ${delay}` });
  await app.addTrace("replayed");
  return app;
}

test("a row opens the kernel's panel, which the address keeps", async ({ page }) => {
  await signIn(page, `/runs/${RUN()}`);
  await hydrated(page);
  const table = page.getByRole("grid", { name: /Kernel times/ });
  await table.locator("tbody tr.opens").nth(1).click();
  const panel = page.getByRole("dialog", { name: "Kernel" });
  await expect(panel.getByText("What the warps did or waited for")).toBeVisible();
  await expect(panel.getByText("Bound by bound")).toBeVisible();
  await expect(panel.getByText("unvalidated", { exact: true })).toBeVisible();
  await expect(page).toHaveURL(/kernel=1/);
  await panel.getByRole("button", { name: "Next →" }).click();
  await expect(page).toHaveURL(/kernel=2/);
  await checkAccess(page);
  await page.reload();
  await expect(panel.getByText("kernel 3 of")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
  await expect(page).not.toHaveURL(/kernel=/);
  await table.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expect(panel.getByText(/kernel (\d+) of \1/)).toBeVisible();
});

test("the log is searched and read back, outputs are looked at and taken along", async ({ page, context }) => {
  await signIn(page, `/runs/${RUN()}`);
  await hydrated(page);
  const log = page.getByRole("region", { name: "Lines of the log" });
  await expect(log.getByText("exit detected")).toBeVisible();
  await page.getByLabel("Search the log").fill("gpu_tot_sim_cycle");
  const hits = page.locator(".log-hits");
  await expect(hits).toHaveText(/^1 of \d+$/);
  await expect(log.locator(".hit mark")).toHaveText("gpu_tot_sim_cycle");
  await page.getByRole("region", { name: "Log", exact: true }).getByRole("button", { name: "Next hit" }).click();
  await expect(hits).toHaveText(/^2 of \d+$/);
  await expect(page.getByLabel("Follow")).not.toBeChecked();

  await page.getByRole("button", { name: "Preview kernel-stats.csv" }).first().click();
  const preview = page.getByRole("dialog", { name: "Preview" });
  await expect(preview.getByRole("columnheader", { name: "cycles", exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Preview accelsim.log.gz" }).first().click();
  await expect(preview.locator("pre")).toContainText("GPGPU-Sim");
  await page.keyboard.press("Escape");

  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "All as zip" }).click();
  const path = await (await download).path();
  const listed = execFileSync("python3", ["-m", "zipfile", "-l", path], { encoding: "utf8" });
  expect(listed).toContain(`${RUN()}/SM90_H100/0/kernel-stats.csv`);

  // A stand-in for Perfetto's page: it answers PING and keeps what it is given.
  const stand = `${process.env.CASCADE_URL}`.replace("127.0.0.1", "localhost");
  await page.evaluate((origin) => ((window as never as { CASCADE_PERFETTO: string }).CASCADE_PERFETTO = origin), stand);
  await context.route(`${stand}/`, (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<script>addEventListener("message", (e) => {
        if (e.data === "PING") e.source.postMessage("PONG", e.origin);
        else if (e.data.perfetto) document.title = e.data.perfetto.fileName + " " + e.data.perfetto.buffer.byteLength;
      });</script>`,
    }),
  );
  const tab = context.waitForEvent("page");
  await page.getByRole("button", { name: "Open in Perfetto" }).click();
  await expect.poll(async () => (await tab).title()).toMatch(new RegExp(`^${RUN()}-perfetto.json [1-9]\\d{2,}$`));
});

test("a run of 20,000 kernels is small to load, quick to scroll, sorted and filtered", async ({ page, complaints }) => {
  test.setTimeout(240_000);
  const kernels = 20_000;
  const app = await replayApp(kernels, 0);
  try {
    const run = app.run("replayed", "SM90_H100");
    await expect.poll(async () => (await app.get(`/api/runs/${run}`)).state, { timeout: 150_000 }).toBe("succeeded");
    // A part of the rows that does not come is asked for again, and the others are not taken for all.
    await page.route("**/kernel-rows?*", (route) => route.abort());
    await app.enter(page, `/runs/${run}`);
    await hydrated(page);
    await expect(page.getByText(/^\d+ of 20,000 kernels are here$/)).toBeVisible();
    await page.unroute("**/kernel-rows?*");
    const html = await page.request.get(`${app.base}/runs/${run}`);
    const size = (await html.body()).length;
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const start = performance.now();
      await (await page.request.get(`${app.base}/runs/${run}`)).body();
      times.push(performance.now() - start);
    }
    console.log(`HTML of ${kernels} kernels: ${size} bytes, ${Math.min(...times).toFixed(0)} ms at best`);
    expect(size).toBeLessThan(120_000);
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !/ERR_FAILED|Failed to fetch/.test(text)));
    const table = page.getByRole("grid", { name: /Kernel times/ });
    await expect(page.getByText("20,000 kernels", { exact: true })).toBeVisible({ timeout: 30_000 });
    await expect(table).toHaveAttribute("aria-rowcount", String(kernels + 1));
    expect(await table.locator("tr").count()).toBeLessThan(60);
    await page.locator(".virtual").evaluate((frame) => (frame.scrollTop = frame.scrollHeight));
    await expect(table.getByText("20000", { exact: true })).toBeVisible();
    await page.getByLabel("Filter kernels by name").fill("layer3");
    await expect(page.getByText(/^2,85\d of 20,000 kernels$/)).toBeVisible();
    await page.getByRole("button", { name: /^SM90_H100/ }).last().click();
    await expect(table.getByRole("columnheader", { name: /SM90_H100/ })).toHaveAttribute("aria-sort", "descending");
  } finally {
    await app.stop();
  }
});

/** Follows 64 sims to their end: p95 of the frames, and the most CPU time that a task of the page took, in ms. */
async function follow64(page: Page): Promise<{ frameMs: number; taskMs: number }> {
  const app = await replayApp(1_000, 0.2);
  try {
    const run = app.run("replayed", "SM90_H100:32", "SM90_H200:32");
    // WASM memory counts as the page's, and no heap figure has it.
    await page.addInitScript(() => {
      const seen = { memories: [] as WebAssembly.Memory[], frames: [] as number[] };
      Object.assign(window, { seen });
      for (const name of ["instantiate", "instantiateStreaming"] as const) {
        const real = WebAssembly[name] as (...args: unknown[]) => Promise<WebAssembly.WebAssemblyInstantiatedSource>;
        Object.assign(WebAssembly, {
          [name]: async (...args: unknown[]) => {
            const made = await real(...args);
            // A part of the page has no memory of its own: it works in that of the first.
            const { memory } = (made.instance ?? made).exports;
            if (memory instanceof WebAssembly.Memory) seen.memories.push(memory);
            return made;
          },
        });
      }
    });
    await app.enter(page, `/runs/${run}`);
    await expect(page.locator(".cell")).toHaveCount(64);
    await hydrated(page);
    const client = await page.context().newCDPSession(page);
    type Traced = { name: string; ph: string; pid: number; tid: number; dur: number; tdur?: number; args: { name?: string } };
    const events: Traced[] = [];
    client.on("Tracing.dataCollected", (piece) => events.push(...(piece.value as unknown as Traced[])));
    await client.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel"] } });
    await page.evaluate(() => {
      const { frames } = (window as never as { seen: { frames: number[] } }).seen;
      let last = performance.now();
      const frame = (now: number) => {
        frames.push(now - last);
        last = now;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    await expect.poll(async () => (await app.get(`/api/runs/${run}`)).state, { timeout: 240_000 }).toBe("succeeded");
    await expect(page.getByText("64 of 64")).toBeVisible();
    const complete = new Promise((done) => client.once("Tracing.tracingComplete", done));
    await client.send("Tracing.end");
    await complete;
    const frames = await page.evaluate(() => (window as never as { seen: { frames: number[] } }).seen.frames);
    const wasm = await page.evaluate(() => {
      const { memories } = (window as never as { seen: { memories: WebAssembly.Memory[] } }).seen;
      return memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
    });
    const heap = await client.send("Runtime.getHeapUsage");
    const used = (heap.usedSize + wasm) / 2 ** 20;
    const place = (e: Traced) => `${e.pid}:${e.tid}`;
    const mains = new Set(events.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map(place));
    const tasks = events.filter((e) => e.ph === "X" && e.name.endsWith("RunTask") && mains.has(place(e)));
    expect(tasks.length).toBeGreaterThan(100);
    const most = (values: number[], share: number) => {
      const sorted = [...values].sort((a, b) => a - b);
      return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    };
    const told = (values: number[]) => [0.5, 0.95, 1].map((share) => most(values, share).toFixed(1)).join(" / ");
    const cpu = tasks.map((e) => (e.tdur ?? 0) / 1000);
    console.log(`64 sims, 1,000 kernels each; median / p95 / max in ms: frames ${told(frames)}, ` +
      `${frames.filter((ms) => ms > 50.5).length} of ${frames.length} over 50, ` +
      `main-thread tasks on the clock ${told(tasks.map((e) => e.dur / 1000))}, their CPU time ${told(cpu)}; ` +
      `JS heap and WASM memory ${used.toFixed(0)} MiB`);
    expect(wasm).toBeGreaterThan(0);
    expect(used).toBeLessThan(300);
    return { frameMs: most(frames, 0.95), taskMs: most(cpu, 1) };
  } finally {
    // A page that is left open would go on asking.
    await page.goto("about:blank");
    await app.stop();
  }
}

test("64 sims of 1,000 kernels each are followed without a long task", async ({ page }) => {
  test.setTimeout(240_000);
  const { frameMs, taskMs } = await follow64(page);
  expect(frameMs, "p95 of the frames, in ms").toBeLessThan(50);
  // On the clock a task also waits for the processes of 64 simulators; its own work is its CPU time.
  expect(taskMs, "the most CPU time of one task on the page's main thread, in ms").toBeLessThan(50);
});
