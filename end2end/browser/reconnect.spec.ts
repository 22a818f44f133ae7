// A page that is open while the server is killed and started again goes on by itself and misses nothing.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "./open";

const BIN = process.env.CASCADE_BIN ?? "";
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
  const folder = mkdtempSync(join(tmpdir(), "cascade-reconnect-"));
  const replay = join(folder, "replay.log");
  writeFileSync(replay, log());
  let app: ChildProcess | undefined;
  let ports = ["0", "0"];
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    CASCADE_TOKEN: "reconnect",
    CASCADE_DATA_DIR: join(folder, "data"),
    CASCADE_SIM_CMD: `${BIN} worker --replay ${replay} --delay 1`,
  };
  const start = async () => {
    app = spawn(BIN, ["serve", "--host", "127.0.0.1", "--port", ports[0], "--s3-port", ports[1]], { env, stdio: ["ignore", "pipe", "ignore"] });
    const found = await new Promise<Record<string, string>>((resolve, reject) => {
      const seen: Record<string, string> = {};
      app!.on("exit", (code) => reject(new Error(`cascade serve ended with ${code}`)));
      createInterface({ input: app!.stdout! }).on("line", (line) => {
        const [key, value] = line.split(": ", 2);
        if (key === "app" || key === "s3") seen[key] = value.trim().split(/\s+/)[0];
        if (seen.app && seen.s3) resolve(seen);
      });
    });
    ports = [new URL(found.app).port, new URL(found.s3).port];
    Object.assign(env, { CASCADE_URL: found.app, CASCADE_S3_ENDPOINT: found.s3, CASCADE_PUBLIC_URL: found.app });
    return found.app;
  };
  const stop = async (signal: NodeJS.Signals) => {
    app!.removeAllListeners("exit");
    const gone = new Promise((done) => app!.once("exit", done));
    app!.kill(signal);
    await gone;
  };
  const cli = (...args: string[]) => execFileSync(BIN, args, { env, encoding: "utf8" });
  try {
    await start();
    // The workers must find the app again where it was.
    await stop("SIGTERM");
    const url = await start();
    const trace = join(folder, "trace");
    cli("trace", "synth", "--model-like", "opt-125m", "--steps", "1", "--arch", "sm_90", "-o", trace);
    cli("upload", trace, "--run-name", "reconnect");
    const headers = { Authorization: "Bearer reconnect" };
    const state = async () => (await (await fetch(`${url}/api/traces/reconnect`, { headers })).json()).state;
    await expect.poll(state, { timeout: 60_000 }).toBe("ready");
    const run = JSON.parse(cli("runs", "create", "reconnect", "--gpu", "SM90_H100:1", "--json"));

    await page.goto(`${url}/token?next=/runs/${run.id}`);
    await page.getByLabel("Token").fill("reconnect");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator("html[data-alive]").waitFor({ state: "attached" });
    const done = async () => (await (await fetch(`${url}/api/runs/${run.id}`, { headers })).json()).sims[0].kernels_done;
    await expect.poll(done, { timeout: 60_000 }).toBeGreaterThan(3);
    await stop("SIGKILL");
    await expect(page.getByText(/reconnecting/i).first()).toBeVisible({ timeout: 20_000 });
    await page.waitForTimeout(1500);
    await start();
    await expect(page.getByText(/reconnecting/i)).toHaveCount(0, { timeout: 30_000 });
    // The page was never loaded again, and it ends with every kernel.
    await expect(page.getByText("succeeded").first()).toBeVisible({ timeout: 90_000 });
    await expect(page.getByText(new RegExp(`^${KERNELS} of `))).toBeVisible();
    expect(await done()).toBe(KERNELS);
    // The browser reports the lost connections itself.
    for (let i = complaints.length - 1; i >= 0; i--) if (/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to (load|fetch)/.test(complaints[i])) complaints.splice(i, 1);
  } finally {
    if (app && app.exitCode === null) await stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
});
