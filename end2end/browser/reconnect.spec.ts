// A page that is open while the server is killed and started again goes on by itself and misses nothing.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { App } from "./app";
import { expect, test } from "./open";

/** A playback pauses every 200 lines, which are 20 kernels: the run takes some 15 s. */
const KERNELS = 300;

/** An Accel-Sim log of many small kernels. */
function log(): string {
  const lines = ["Accel-Sim [build accelsim-commit-test]"];
  for (let uid = 1; uid <= KERNELS; uid++)
    lines.push(
      `Processing kernel /traces/kernel-${uid}.traceg`,
      `launching kernel name: kernel_${uid} uid: ${uid}`,
      `kernel_name = kernel_${uid} `,
      `kernel_launch_uid = ${uid} `,
      `gpu_sim_cycle = ${1000 + uid}`,
      `gpu_sim_insn = ${10 * uid}`,
      `gpu_tot_sim_cycle = ${1000 * uid + (uid * (uid + 1)) / 2}`,
      `gpu_tot_sim_insn = ${5 * uid * (uid + 1)}`,
      "gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 1 sec (1 sec)",
      "gpgpu_simulation_rate = 10516 (inst/sec)",
    );
  return [...lines, "GPGPU-Sim: *** simulation thread exiting ***", "GPGPU-Sim: *** exit detected ***", ""].join("\n");
}

test("the page takes up where it was when the server comes back", async ({ page, complaints }) => {
  test.setTimeout(180_000);
  const app = new App();
  const replay = join(app.folder, "replay.log");
  writeFileSync(replay, log());
  try {
    await app.start({ CASCADE_SIM_CMD: `${app.bin} worker --replay ${replay} --delay 1` });
    // The workers must find the app again where it was.
    await app.end();
    await app.start({ CASCADE_PUBLIC_URL: app.base });
    await app.addTrace("reconnect");
    const run = app.run("reconnect", "SM90_H100");

    await app.enter(page, `/runs/${run}`);
    await page.locator("html[data-alive]").waitFor({ state: "attached" });
    const done = async () => (await app.get(`/api/runs/${run}`)).sims[0].kernels_done;
    await expect.poll(done, { timeout: 60_000 }).toBeGreaterThan(3);
    await app.end("SIGKILL");
    await expect(page.getByText(/reconnecting/i).first()).toBeVisible({ timeout: 20_000 });
    await page.waitForTimeout(1500);
    await app.start();
    await expect(page.getByText(/reconnecting/i)).toHaveCount(0, { timeout: 30_000 });
    // The page was never loaded again, and it ends with every kernel.
    await expect(page.getByText("succeeded").first()).toBeVisible({ timeout: 90_000 });
    await expect(page.getByText(new RegExp(`^${KERNELS} of `))).toBeVisible();
    expect(await done()).toBe(KERNELS);
    // The browser reports the lost connections itself.
    for (let i = complaints.length - 1; i >= 0; i--) if (/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to (load|fetch)/.test(complaints[i])) complaints.splice(i, 1);
  } finally {
    await app.stop();
  }
});
