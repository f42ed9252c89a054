// The Worker between a test's process and the user's Workers, which it calls by the entrypoint of `control.js`.
import unsafe from "workerd:unsafe";

/** Header of an answer whose text is thrown where the request was made. `outbound.ts` has the same. */
const THROWN_HEADER = "sluice-testing-thrown";

export default {
  async fetch(request, env) {
    switch (new URL(request.url).pathname) {
      case "/empty":
        // Durable Objects include those in which Miniflare stores its data.
        await unsafe.deleteAllDurableObjects();
        await setDates(env, env.START_MS);
        return new Response(null, { status: 204 });
      case "/scheduled": {
        const { worker, ...event } = await request.json();
        return call(env[`worker:${worker}`], "/scheduled", event);
      }
    }
    return new Response(null, { status: 404 });
  },
};

/** Has the test's process answer requests that leave the Workers. */
export const Outbound = {
  async fetch(request, env) {
    if (request.headers.has("upgrade")) {
      // Miniflare would leave the connection to the test's process open after a request for another protocol.
      throw new Error(`${request.url}: a WebSocket needs \`outbound: "network"\` to leave a test.`);
    }
    const response = await env.OUTBOUND.fetch(request);
    if (response.headers.has(THROWN_HEADER)) throw new Error(await response.text());
    return response;
  },
};

/** Sets the time of the user's Workers. The broker calls it before it moves its own clock. */
export const Dates = {
  async fetch(request, env) {
    await setDates(env, (await request.json()).nowMs);
    return new Response(null, { status: 204 });
  },
};

async function setDates(env, nowMs) {
  if (!env.IS_CLOCK_FOLLOWED) return;
  const workers = Object.keys(env).filter((name) => name.startsWith("worker:"));
  await Promise.all(workers.map((name) => call(env[name], "/date", { nowMs })));
}

function call(worker, path, body) {
  return worker.fetch(`http://worker${path}`, { method: "POST", body: JSON.stringify(body) });
}
