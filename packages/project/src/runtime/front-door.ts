import { env, type WorkerEntrypoint } from "cloudflare:workers";
import { type FrontDoorOptions, SLUICE_PATH } from "./front-door-contract.ts";

type Handler = (...args: unknown[]) => unknown;
type EntrypointClass = new (...args: ConstructorParameters<typeof WorkerEntrypoint>) => WorkerEntrypoint;

/** Miniflare's asset Worker with the method that its router calls before every request. */
interface AssetWorker extends Fetcher {
  unstable_canFetch(request: Request): Promise<boolean>;
}

/** workerd's error text for a request to a Worker without `fetch()`. */
const NO_FETCH = "Handler does not export a fetch() function.";

/**
 * Puts the broker's paths in front of the `fetch` of the user's default export. Every other handler, and every other
 * request, works as before, with its own `this`.
 *
 * @param exported object of handlers, class, or `undefined` for a Worker without a default export.
 */
export function withFrontDoor(exported: unknown, options: FrontDoorOptions): unknown {
  return typeof exported === "function"
    ? classWithFrontDoor(exported as EntrypointClass, options)
    : handlersWithFrontDoor((exported ?? {}) as object, options);
}

function handlersWithFrontDoor(handlers: object, options: FrontDoorOptions): object {
  const wrapped: Record<string, Handler> = {};
  // All are own properties, because Wrangler's wrapper for development copies no inherited ones.
  for (const name of handlerNames(handlers)) wrapped[name] = (...args) => call(handlers, name, args);
  wrapped.fetch = async (request, ...rest) =>
    (await answerHere(request as Request, options)) ?? call(handlers, "fetch", [request, ...rest]);
  return wrapped;
}

function classWithFrontDoor(Base: EntrypointClass, options: FrontDoorOptions): EntrypointClass {
  return class extends Base {
    override async fetch(request: Request): Promise<Response> {
      const answer = await answerHere(request, options);
      if (answer !== null) return answer;
      if (super.fetch === undefined) throw new Error(NO_FETCH);
      return super.fetch(request);
    }
  };
}

/** Answers a request that the broker or the assets handle; `null` for the user's own requests. */
async function answerHere(request: Request, options: FrontDoorOptions): Promise<Response | null> {
  const { brokerBinding, frontDoor } = options;
  const { pathname } = new URL(request.url);
  if (pathname === SLUICE_PATH || pathname.startsWith(`${SLUICE_PATH}/`)) {
    return bindingOf<Fetcher>(brokerBinding).fetch(request);
  }
  if (frontDoor.kind === "open") return null;
  const assets = bindingOf<AssetWorker>(frontDoor.binding);
  if (frontDoor.kind === "asks-assets" && frontDoor.fallback === "assets") return assets.fetch(request);
  // A copy without the body, which is left for the handler.
  const { headers, method } = request;
  const question = new Request(request.url, { headers, method, redirect: "manual" });
  if (frontDoor.kind === "asks-assets-for-pages") {
    if (headers.get("Sec-Fetch-Mode") !== "navigate") return null;
    const response = await assets.fetch(question);
    return response.status === 404 ? null : response;
  }
  return (await assets.unstable_canFetch(question)) ? assets.fetch(request) : null;
}

function bindingOf<T>(name: string): T {
  return (env as unknown as Record<string, T>)[name] as T;
}

/** Lists the functions that an object of handlers has or inherits from its class. */
function handlerNames(handlers: object): Set<string> {
  const names = new Set<string>();
  for (let object = handlers; object && object !== Object.prototype; object = Object.getPrototypeOf(object)) {
    for (const name of Object.getOwnPropertyNames(object)) {
      if (name !== "constructor" && typeof Reflect.get(handlers, name) === "function") names.add(name);
    }
  }
  return names;
}

function call(handlers: object, name: string, args: unknown[]): unknown {
  const handler: unknown = Reflect.get(handlers, name);
  if (typeof handler !== "function") throw new Error(NO_FETCH);
  return Reflect.apply(handler, handlers, args);
}
