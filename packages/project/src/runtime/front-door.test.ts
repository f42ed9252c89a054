import { describe, expect, it, vi } from "vitest";
import { withFrontDoor } from "./front-door.ts";
import type { FrontDoorOptions } from "./front-door-contract.ts";

/** The asset Worker has one file; the broker answers with the path of the request. */
vi.mock("cloudflare:workers", () => ({
  env: {
    BROKER: { fetch: async (request: Request) => new Response(`broker ${new URL(request.url).pathname}`) },
    ASSETS: {
      unstable_canFetch: async (request: Request) => request.url.endsWith("/file"),
      fetch: async ({ url }: Request) => new Response("asset", { status: url.endsWith("/gone") ? 404 : 200 }),
    },
  },
}));

const OPEN: FrontDoorOptions = { brokerBinding: "BROKER", frontDoor: { kind: "open" } };

interface Handlers {
  fetch(request: Request, env?: unknown, ctx?: unknown): Promise<Response>;
  scheduled?(...args: unknown[]): unknown;
  email?(...args: unknown[]): unknown;
}

function handlers(exported: unknown, options: FrontDoorOptions = OPEN): Handlers {
  return withFrontDoor(exported, options) as Handlers;
}

async function answer(
  exported: unknown,
  path: string,
  options?: FrontDoorOptions,
  init?: RequestInit,
): Promise<string> {
  return (await handlers(exported, options).fetch(new Request(`http://localhost${path}`, init))).text();
}

describe("withFrontDoor on an object of handlers", () => {
  const user = { fetch: async () => new Response("user") };

  it.each([
    ["/__sluice", "broker /__sluice"],
    ["/__sluice/", "broker /__sluice/"],
    ["/__sluice/api/queues?a=b", "broker /__sluice/api/queues"],
    ["/__sluicegate", "user"],
    ["/", "user"],
    ["/api/__sluice/", "user"],
  ])("answers %s with: %s", async (path, expected) => {
    expect(await answer(user, path)).toBe(expected);
  });

  it("hands all arguments to a handler, with its own this", async () => {
    class App {
      #name = "app";
      seen: unknown[] = [];
      async fetch(...args: unknown[]) {
        this.seen = args;
        return new Response(this.#name);
      }
      scheduled(...args: unknown[]) {
        return [this.#name, ...args];
      }
      email = () => [this.#name];
    }
    const app = new App();
    const wrapped = handlers(app);
    const request = new Request("http://localhost/");
    expect(await (await wrapped.fetch(request, "env", "ctx")).text()).toBe("app");
    expect(app.seen).toEqual([request, "env", "ctx"]);
    expect(wrapped.scheduled?.(1, 2)).toEqual(["app", 1, 2]);
    expect(wrapped.email?.()).toEqual(["app"]);
  });

  it("has inherited handlers as own properties, which are all that Wrangler copies", () => {
    class Base {
      queue() {}
    }
    class App extends Base {
      scheduled() {}
    }
    expect(Object.keys(handlers(new App())).sort()).toEqual(["fetch", "queue", "scheduled"]);
  });

  it.each([[{ queue() {} }], [{}], [undefined]])(
    "fails like workerd where there is no fetch(): %o",
    async (exported) => {
      expect(await answer(exported, "/__sluice/")).toBe("broker /__sluice/");
      await expect(answer(exported, "/")).rejects.toThrow("Handler does not export a fetch() function.");
    },
  );
});

describe("withFrontDoor on a class", () => {
  class Entrypoint {
    readonly name: string;
    constructor(name: string) {
      this.name = name;
    }
    async fetch(_request: Request) {
      return new Response(`user ${this.name}`);
    }
    method() {
      return this.name;
    }
  }
  const Wrapped = withFrontDoor(Entrypoint, OPEN) as typeof Entrypoint;

  it("returns a subclass of it", async () => {
    const instance = new Wrapped("x");
    expect(instance).toBeInstanceOf(Entrypoint);
    expect(instance.method()).toBe("x");
    expect(await (await instance.fetch(new Request("http://localhost/"))).text()).toBe("user x");
    expect(await (await instance.fetch(new Request("http://localhost/__sluice/"))).text()).toBe(
      "broker /__sluice/",
    );
  });

  it("fails like workerd where it has no fetch()", async () => {
    const NoFetch = withFrontDoor(class {}, OPEN) as typeof Entrypoint;
    const request = new Request("http://localhost/");
    await expect(new NoFetch("x").fetch(request)).rejects.toThrow(
      "Handler does not export a fetch() function.",
    );
  });
});

describe("withFrontDoor before static assets", () => {
  const user = { fetch: async () => new Response("user") };
  const behind = (fallback: "worker" | "assets"): FrontDoorOptions => ({
    brokerBinding: "BROKER",
    frontDoor: { kind: "asks-assets", binding: "ASSETS", fallback },
  });

  it.each([
    ["/file", "asset"],
    ["/other", "user"],
    ["/__sluice/", "broker /__sluice/"],
  ])("answers %s as the router would: %s", async (path, expected) => {
    expect(await answer(user, path, behind("worker"))).toBe(expected);
  });

  it("has the assets answer navigations that are not for the broker, and the Worker those without a page", async () => {
    const options: FrontDoorOptions = {
      brokerBinding: "BROKER",
      frontDoor: { kind: "asks-assets-for-pages", binding: "ASSETS" },
    };
    const navigate = { headers: { "Sec-Fetch-Mode": "navigate" } };
    expect(await answer(user, "/file", options)).toBe("user");
    expect(await answer(user, "/file", options, navigate)).toBe("asset");
    expect(await answer(user, "/gone", options, navigate)).toBe("user");
    expect(await answer(user, "/__sluice/", options, navigate)).toBe("broker /__sluice/");
  });

  it("leaves everything to the assets where there is no Worker", async () => {
    expect(await answer(undefined, "/other", behind("assets"))).toBe("asset");
    expect(await answer(undefined, "/__sluice/", behind("assets"))).toBe("broker /__sluice/");
  });
});
