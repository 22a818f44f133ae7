// An app of a test's own: started on free ports with a folder that goes with it.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Page } from "@playwright/test";

/** The token of every app here. */
export const TOKEN = "browser-token";
/** How long a trace may take to become ready, in ms. */
const READY_MS = 60_000;

export class App {
  /** Where it answers, and its S3 endpoint. */
  base = "";
  s3 = "";
  /** Its data, and whatever else the test wants to see go with it. */
  readonly folder = mkdtempSync(join(tmpdir(), "cascade-browser-"));
  readonly bin = process.env.CASCADE_BIN ?? "";
  private child?: ChildProcess;
  private readonly kill = () => this.child?.kill("SIGKILL");
  private readonly env: NodeJS.ProcessEnv;

  constructor(settings: NodeJS.ProcessEnv = {}) {
    if (!this.bin) throw new Error("CASCADE_BIN must name the cascade binary: run `cargo xtask test`");
    this.env = {
      ...process.env,
      CASCADE_TOKEN: TOKEN,
      CASCADE_DATA_DIR: join(this.folder, "data"),
      CASCADE_LOG: "warn",
      ...settings,
    };
    // A test that is cut off must not leave the app behind.
    process.once("exit", this.kill);
  }

  /** Starts it, where it was if it has been up before, and waits until it says where that is. */
  async start(settings: NodeJS.ProcessEnv = {}): Promise<this> {
    Object.assign(this.env, settings);
    const port = (url: string) => (url ? new URL(url).port : "0");
    const args = ["serve", "--host", "127.0.0.1", "--port", port(this.base), "--s3-port", port(this.s3)];
    const child = spawn(this.bin, args, { env: this.env, stdio: ["ignore", "pipe", "inherit"] });
    this.child = child;
    const seen = { app: "", s3: "" };
    await new Promise<void>((resolve, reject) => {
      child.on("exit", (code) => reject(new Error(`cascade serve ended with ${code}`)));
      createInterface({ input: child.stdout! }).on("line", (line) => {
        const [key, value] = line.split(": ", 2);
        if (key === "app" || key === "s3") seen[key] = value.trim().split(/\s+/)[0];
        if (seen.app && seen.s3) resolve();
      });
    });
    [this.base, this.s3] = [seen.app, seen.s3];
    return this;
  }

  /** What the command line prints, asked of this app. */
  cli(...args: string[]): string {
    const env = { ...this.env, CASCADE_URL: this.base, CASCADE_S3_ENDPOINT: this.s3 };
    return execFileSync(this.bin, args, { env, encoding: "utf8", stdio: "pipe" });
  }

  /** What the API answers. */
  async get(path: string): Promise<any> {
    return (await fetch(this.base + path, { headers: { Authorization: `Bearer ${this.env.CASCADE_TOKEN}` } })).json();
  }

  /** Makes a small trace, uploads it and waits until a run can use it. */
  async addTrace(name: string): Promise<void> {
    const folder = join(this.folder, name);
    this.cli("trace", "synth", "--model-like", "opt-125m", "--steps", "1", "--arch", "sm_90", "-o", folder);
    this.cli("upload", folder, "--run-name", name);
    const until = Date.now() + READY_MS;
    while ((await this.get(`/api/traces/${name}`)).state !== "ready") {
      if (Date.now() > until) throw new Error(`the trace ${name} did not become ready`);
      await new Promise((done) => setTimeout(done, 200));
    }
  }

  /** Creates a run; its id. */
  run(trace: string, ...gpus: string[]): string {
    return JSON.parse(this.cli("runs", "create", trace, ...gpus.flatMap((gpu) => ["--gpu", gpu]), "--json")).id;
  }

  /** Signs in through the token screen, as a person does. */
  async enter(page: Page, path = "/"): Promise<void> {
    await page.goto(`${this.base}/token?next=${encodeURIComponent(path)}`);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(this.base + path);
  }

  /** Ends the process, and leaves its data. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.removeAllListeners("exit");
    const gone = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await gone;
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    await this.end();
    process.off("exit", this.kill);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
