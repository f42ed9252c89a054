// What the test kit adds to each of the user's Workers: an entrypoint that calls `scheduled()` and sets the time of
// `Date`. Plain JavaScript without imports: it is put beside what Wrangler has bundled.

const RealDate = Date;
let nowMs = 0;

/**
 * Has `Date` stand at a time until that is set anew. Dates made of something are what they were, and all dates are of
 * one class, those from outside of this module included.
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
 * An entrypoint beside the user's default export.
 *
 * @param exported an object of handlers, a class, or `undefined`.
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
 * Calls `scheduled()` and waits for what it gives to `ctx.waitUntil`, as the runtime does before it says what came of it.
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
 * Watches what is given to a context's `waitUntil`, which is shadowed and still called.
 *
 * @param onRejected gets each reason.
 * @returns resolves when all of it is settled, that included that was added meanwhile.
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
      // What a handler has started and did not await still counts if it needs no I/O.
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
