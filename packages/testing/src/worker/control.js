// Module that the test kit adds to each of the user's Workers: an entrypoint that calls `scheduled()` and sets the time
// of `Date`. Plain JavaScript without imports, because Wrangler has bundled the Worker already.

const RealDate = Date;
let nowMs = 0;

/**
 * Makes `Date` stand at a time until that is set anew. Dates with arguments stay as they are, and all dates have one
 * class, including those from outside of this module.
 */
export function startClock(startMs) {
  nowMs = startMs;
  const now = () => nowMs;
  const VirtualDate = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [nowMs] : args, newTarget),
    apply: () => new RealDate(nowMs).toString(),
    get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
  });
  Object.defineProperty(RealDate.prototype, "constructor", { value: VirtualDate });
  globalThis.Date = VirtualDate;
}

/**
 * Makes an entrypoint beside the user's default export.
 *
 * @param exported object of handlers, class, or `undefined`.
 */
export function controlOf(exported) {
  return {
    async fetch(request, env, ctx) {
      const asked = await request.json();
      if (new URL(request.url).pathname === "/date") {
        nowMs = Math.floor(asked.nowMs);
        return new Response(null, { status: 204 });
      }
      return Response.json(await runScheduled(exported, asked, env, ctx));
    },
  };
}

/**
 * Calls `scheduled()` and waits for its promises in `ctx.waitUntil`, as the runtime does before it reports the outcome.
 */
async function runScheduled(exported, { cron, scheduledTime }, env, ctx) {
  const errors = [];
  const fail = (thrown) => {
    console.error(thrown);
    errors.push(textOf(thrown));
  };
  const settled = watchWaitUntil(ctx, fail);
  try {
    const handlers = typeof exported === "function" ? new exported(ctx, env) : exported;
    if (typeof handlers?.scheduled !== "function") return { outcome: "absent", errors };
    await handlers.scheduled({ type: "scheduled", cron, scheduledTime, noRetry() {} }, env, ctx);
  } catch (thrown) {
    fail(thrown);
  }
  await settled();
  return { outcome: errors.length === 0 ? "ok" : "exception", errors };
}

/**
 * Watches the promises given to a context's `waitUntil`, which is replaced and still called.
 *
 * @param onRejected gets each reason.
 * @returns function that resolves when all promises are settled, also those added meanwhile.
 */
function watchWaitUntil(ctx, onRejected) {
  const pending = [];
  const { waitUntil } = ctx;
  const value = (promise) => {
    const settled = Promise.resolve(promise).then(() => {}, onRejected);
    pending.push(settled);
    waitUntil.call(ctx, settled);
  };
  Object.defineProperty(ctx, "waitUntil", { value, configurable: true, writable: true });
  return async () => {
    do {
      await Promise.all(pending.splice(0));
      // Promises that a handler did not await still count if they need no I/O.
      await new Promise((resolve) => setTimeout(resolve, 0));
    } while (pending.length > 0);
  };
}

function textOf(thrown) {
  try {
    return String(thrown?.stack ?? thrown);
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}
