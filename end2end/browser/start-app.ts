// Starts one app with a finished run for all browser tests, and stops it afterwards.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const TOKEN = "browser-token";

export default async function start(): Promise<() => Promise<void>> {
  const bin = process.env.CASCADE_BIN;
  if (!bin) throw new Error("CASCADE_BIN must name the cascade binary: run `cargo xtask test`");
  const folder = mkdtempSync(join(tmpdir(), "cascade-browser-"));
  const env = { ...process.env, CASCADE_TOKEN: TOKEN, CASCADE_DATA_DIR: join(folder, "data"), CASCADE_WORKSPACE: "browser-tests" };
  const app = spawn(bin, ["serve", "--host", "127.0.0.1", "--port", "0", "--s3-port", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A setup that fails must not leave the app behind.
  process.once("exit", () => app.kill("SIGKILL"));
  const found = await new Promise<Record<string, string>>((resolve, reject) => {
    const seen: Record<string, string> = {};
    app.on("exit", (code) => reject(new Error(`cascade serve ended with ${code}`)));
    createInterface({ input: app.stdout! }).on("line", (line) => {
      const [key, value] = line.split(": ", 2);
      if (key === "app" || key === "s3") seen[key] = value.trim().split(/\s+/)[0];
      if (seen.app && seen.s3) resolve(seen);
    });
  });
  process.env.CASCADE_URL = found.app;
  process.env.CASCADE_S3_ENDPOINT = found.s3;
  process.env.CASCADE_TOKEN = TOKEN;
  const cli = (...args: string[]) =>
    execFileSync(bin, args, { env: { ...env, CASCADE_URL: found.app, CASCADE_S3_ENDPOINT: found.s3 }, encoding: "utf8" });
  const trace = join(folder, "trace");
  cli("trace", "synth", "--model-like", "opt-125m", "--steps", "1", "--arch", "sm_90", "-o", trace);
  cli("upload", trace, "--run-name", "browser-trace");
  const state = async (): Promise<string> => {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`${found.app}/api/traces/browser-trace`, { headers });
    return answer.ok ? (await answer.json()).state : "unknown";
  };
  for (let i = 0; (await state()) !== "ready"; i++) {
    if (i > 100) throw new Error("the trace did not become ready");
    await new Promise((done) => setTimeout(done, 200));
  }
  const run = JSON.parse(cli("runs", "create", "browser-trace", "--gpu", "SM90_H100:2", "--gpu", "SM90_H200:1", "--json"));
  cli("runs", "watch", run.id);
  process.env.CASCADE_TEST_RUN = run.id;
  return async () => {
    app.removeAllListeners("exit");
    const gone = new Promise((done) => app.once("exit", done));
    app.kill("SIGTERM");
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
}
