import { describe, expect, it } from "vitest";
import type { ModuleMap } from "./stack-frames.ts";
import type { UploadedBinding } from "./upload.ts";
import { type ServedWorker, workerdConfig } from "./workerd-config.ts";

const PLACES = { folder: "/run/a b", objects: "/data" };

function worker(
  name: string,
  given: { bindings?: UploadedBinding[]; vars?: object; classes?: object; map?: ModuleMap } = {},
): ServedWorker {
  const contents = new TextEncoder().encode(name);
  return {
    name,
    upload: {
      modules: [{ name: "entry.js", kind: "esModule", contents, map: given.map ?? null }],
      bindings: given.bindings ?? [],
      compatibilityDate: "2026-11-01",
      compatibilityFlags: ["nodejs_compat"],
    },
    vars: { ...given.vars },
    classes: new Map(Object.entries(given.classes ?? {})),
  };
}

describe("the configuration of workerd", () => {
  it("sends requests to the first Worker, and frames of them to the broker", () => {
    const { text } = workerdConfig([worker("front"), worker("sluice")], "sluice", PLACES);
    expect(text).toContain('(name = "http", http = (), service = "front")');
    expect(text).toContain(
      '(name = "frames", http = (), service = (name = "sluice", entrypoint = "RequestFrames"))',
    );
  });

  it("embeds modules, which are files beside it", () => {
    const { text, files } = workerdConfig([worker("front")], "sluice", PLACES);
    expect(text).toContain('(name = "entry.js", esModule = embed "modules/0/0")');
    expect(new TextDecoder().decode(files["modules/0/0"])).toMatch(/^front\n/);
  });

  it("has stack traces tell apart the modules of the same name, and knows the source map of each", () => {
    const map = { text: "{}", folder: "/project" };
    const { files, maps } = workerdConfig([worker("front"), worker("sluice", { map })], "sluice", PLACES);
    const codeOf = (path: string) => new TextDecoder().decode(files[path]);
    expect(codeOf("modules/0/0")).toBe("front\n//# sourceURL=file:///run/a%20b/modules/0/0\n");
    expect(codeOf("modules/1/0")).toBe("sluice\n//# sourceURL=file:///run/a%20b/modules/1/0\n");
    expect([...maps]).toEqual([["file:///run/a%20b/modules/1/0", map]]);
  });

  it("adds nothing to modules that are no code", () => {
    const words = worker("front");
    const modules = words.upload.modules.map((module) => ({ ...module, kind: "text" as const }));
    const { files } = workerdConfig([{ ...words, upload: { ...words.upload, modules } }], "front", PLACES);
    expect(new TextDecoder().decode(files["modules/0/0"])).toBe("front");
  });

  it("calls Durable Objects as Miniflare does, so that both find the same data", () => {
    const { text } = workerdConfig([worker("sluice", { classes: { Queue: true, Old: false } })], "sluice", {
      folder: "/run",
      objects: "/data/v3/do",
    });
    expect(text).toContain('(className = "Queue", uniqueKey = "sluice-Queue", enableSql = true)');
    expect(text).toContain('(className = "Old", uniqueKey = "sluice-Old", enableSql = false)');
    expect(text).toContain('disk = (path = "/data/v3/do", writable = true)');
  });

  it("writes no secret into a file", () => {
    const vars = { TOKEN: "s3cret", LIMITS: { depth: [1, "a\tb\u0001"] } };
    const bindings = [{ name: "TOKEN", type: "plain_text", text: "old" }];
    const { text, environment } = workerdConfig([worker("front", { vars, bindings })], "sluice", PLACES);
    expect(text).not.toContain("s3cret");
    expect(text).toContain('(name = "TOKEN", fromEnvironment = "SLUICE_SERVE_0_0")');
    expect(environment).toEqual({ SLUICE_SERVE_0_0: "s3cret" });
    expect(text.match(/"TOKEN"/g)).toHaveLength(1);
    expect(text).toContain(String.raw`(name = "LIMITS", json = "{\"depth\":[1,\"a\\tb\\u0001\"]}")`);
  });

  it("writes control characters by their byte, which is how Cap'n Proto reads them", () => {
    const { text } = workerdConfig([worker("a\u0001b\\u0001")], "sluice", PLACES);
    expect(text).toContain(String.raw`(name = "a\x01b\\u0001"`);
  });

  it("binds services, entrypoints and Durable Objects of the Workers that are here", () => {
    const bindings = [
      { name: "QUEUES", type: "durable_object_namespace", class_name: "QueueBroker", script_name: "sluice" },
      { name: "OWN", type: "durable_object_namespace", class_name: "Counter" },
      { name: "MAILER", type: "service", service: "sluice", entrypoint: "Received", props: { a: 1 } },
    ];
    const { text } = workerdConfig([worker("front", { bindings }), worker("sluice")], "sluice", PLACES);
    expect(text).toContain('durableObjectNamespace = (className = "QueueBroker", serviceName = "sluice")');
    expect(text).toContain('durableObjectNamespace = (className = "Counter", serviceName = "front")');
    expect(text).toContain(
      String.raw`service = (name = "sluice", entrypoint = "Received", props = (json = "{\"a\":1}"))`,
    );
  });

  it("refuses a binding to a Worker that is not here", () => {
    const bindings = [{ name: "MAILER", type: "service", service: "mailer" }];
    expect(() => workerdConfig([worker("front", { bindings })], "sluice", PLACES)).toThrow(
      'Worker "front": its binding MAILER leads to Worker "mailer", which is not among those named.',
    );
  });

  it("refuses a binding that needs more than workerd", () => {
    const bindings = [{ name: "PHOTOS", type: "r2_bucket", bucket_name: "photos" }];
    expect(() => workerdConfig([worker("front", { bindings })], "sluice", PLACES)).toThrow(
      /nothing behind its binding PHOTOS \(r2_bucket\).*sluice dev/s,
    );
  });
});
