/**
 * The page at `/__sluice/`: every queue, what waits in it and who consumes it, read from the admin API once a second. One
 * document without a build step, so that a deployed broker needs no assets for it.
 */
export const DASHBOARD_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice queues</title>
<link rel="icon" href="data:,">
<style>
:root { --ground: #f6f7f9; --card: #fff; --ink: #1b2130; --quiet: #5d6678; --line: #dfe3ea; --accent: #0b6bcb; --warn: #a94600; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #11141b; --card: #1a1f2a; --ink: #e8ecf3; --quiet: #98a2b5; --line: #2c3444; --accent: #6cb2ff; --warn: #ffb169; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem 1rem; margin-bottom: 1.25rem; }
h1 { font-size: 1.4rem; margin: 0; }
#state { color: var(--quiet); }
#state.lost { color: var(--warn); font-weight: 600; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .6rem .9rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--quiet); font-weight: 600; font-size: .8rem; }
tbody th { font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.some { color: var(--accent); font-weight: 600; }
.quiet { color: var(--quiet); }
.warn { color: var(--warn); }
footer { margin-top: 1rem; color: var(--quiet); }
a { color: var(--accent); }
</style>
</head>
<body>
<main>
<header><h1>Queues</h1><span id="state" role="status">Loading</span></header>
<div class="scroll">
<table>
<thead><tr>
<th scope="col">Queue</th>
<th scope="col" class="number">Ready</th><th scope="col" class="number">Delayed</th><th scope="col" class="number">Leased</th>
<th scope="col" class="number">Backlog</th><th scope="col" class="number">Oldest</th>
<th scope="col">Producers</th><th scope="col">Consumer</th><th scope="col">Batch</th><th scope="col">Retries</th><th scope="col">Dead letters</th>
</tr></thead>
<tbody id="queues"></tbody>
</table>
</div>
<footer>The same as JSON: <a href="/__sluice/api/queues">/__sluice/api/queues</a></footer>
</main>
<script>
const PERIOD_MS = 1000;
const state = document.getElementById("state");
const body = document.getElementById("queues");

const cell = (text, className) => {
  const td = document.createElement("td");
  td.textContent = text;
  td.className = className ?? "";
  return td;
};
const count = (n) => cell(n.toLocaleString(), "number" + (n > 0 ? " some" : " quiet"));
const size = (bytes) => bytes < 1000 ? bytes + " B" : bytes < 1e6 ? (bytes / 1e3).toFixed(1) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
const age = (iso) => {
  if (iso === null) return "–";
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
  if (seconds < 60) return seconds + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min";
  return seconds < 86400 ? Math.floor(seconds / 3600) + " h" : Math.floor(seconds / 86400) + " d";
};
const row = (queue) => {
  const tr = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = queue.name;
  if (queue.damage.length > 0) {
    const damage = document.createElement("span");
    damage.className = "warn";
    damage.textContent = " damaged";
    damage.title = queue.damage.map(({ foundAt, text }) => foundAt + ": " + text).join("\\n");
    name.append(damage);
  }
  const settings = queue.consumer?.settings;
  const waiting = queue.messages.ready + queue.messages.delayed;
  tr.append(
    name, count(queue.messages.ready), count(queue.messages.delayed), count(queue.messages.leased),
    cell(size(queue.backlogBytes), "number quiet"), cell(age(queue.oldestMessageAt), "number quiet"),
    cell(queue.producers.map((producer) => producer.worker).join(", ") || "–"),
    queue.consumer === null ? cell("none" + (waiting > 0 ? ", messages wait" : ""), waiting > 0 ? "warn" : "quiet") : cell(queue.consumer.worker ?? "HTTP pull"),
    cell(!settings ? "–" : queue.consumer.type === "worker" ? settings.maxBatchSize + " or " + settings.maxBatchTimeoutSeconds + " s" : String(settings.maxBatchSize), "quiet"),
    cell(settings ? String(settings.maxRetries) : "–", "quiet"),
    cell(settings?.deadLetterQueue ?? "–", "quiet"),
  );
  return tr;
};

// Until somebody has closed the question.
let wantsToken = true;

async function refresh() {
  try {
    const token = sessionStorage.getItem("sluice-token");
    const response = await fetch("/__sluice/api/queues", token === null ? {} : { headers: { authorization: "Bearer " + token } });
    if (response.status === 401) {
      sessionStorage.removeItem("sluice-token");
      const given = wantsToken ? prompt("This broker asks for one of its SLUICE_API_TOKENS:") : null;
      wantsToken = given !== null;
      if (given) sessionStorage.setItem("sluice-token", given);
    }
    if (!response.ok) throw new Error((await response.json()).error?.message ?? "the broker answered " + response.status);
    const { queues } = await response.json();
    body.replaceChildren(...queues.map(row));
    state.className = "";
    state.textContent = queues.length === 0 ? "No queue is configured." : "live";
  } catch (error) {
    state.className = "lost";
    state.textContent = "No answer: " + error.message;
  }
  setTimeout(refresh, PERIOD_MS);
}
refresh();
</script>
</body>
</html>
`;
