// Starts one app with a finished run for all browser tests, and stops it afterwards.
import { App, TOKEN } from "./app";

export default async function start(): Promise<() => Promise<void>> {
  const app = await new App({ CASCADE_WORKSPACE: "browser-tests" }).start();
  process.env.CASCADE_URL = app.base;
  process.env.CASCADE_S3_ENDPOINT = app.s3;
  process.env.CASCADE_TOKEN = TOKEN;
  await app.addTrace("browser-trace");
  const run = app.run("browser-trace", "SM90_H100:2", "SM90_H200:1");
  app.cli("runs", "watch", run);
  process.env.CASCADE_TEST_RUN = run;
  return () => app.stop();
}
