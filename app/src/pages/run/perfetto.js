// Hands a trace to Perfetto's page: PING until PONG, then the trace itself.
const origin = window.CASCADE_PERFETTO || "https://ui.perfetto.dev";
const tab = window.open(origin);
if (!tab) {
  failed("The browser did not open a tab: allow pop-ups for this page, or download the JSON.");
  return;
}
const trace = fetch(address).then((answer) => {
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.arrayBuffer();
});
let tries = 0;
const ping = setInterval(() => {
  tries += 1;
  if (tries > 240) {
    clearInterval(ping);
    window.removeEventListener("message", heard);
    failed("Perfetto did not answer. Download the JSON and open it there.");
    return;
  }
  tab.postMessage("PING", origin);
}, 250);
async function heard(event) {
  if (event.source !== tab || event.origin !== origin || event.data !== "PONG") return;
  clearInterval(ping);
  window.removeEventListener("message", heard);
  try {
    const buffer = await trace;
    const fileName = `${title}-perfetto.json`;
    tab.postMessage({ perfetto: { buffer, title, fileName } }, origin, [buffer]);
  } catch (error) {
    failed(`The trace could not be read: ${error.message}`);
  }
}
window.addEventListener("message", heard);
