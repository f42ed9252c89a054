import {
  bundle,
  startWorkerd,
  type WorkerdProcess,
  type WorkerdService,
} from "@sluice/protocol/test/workerd-process";
import { beforeAll, describe, expect, it } from "vitest";
import { CASES } from "../test/binding-cases.ts";

const TEST_FOLDER = `${import.meta.dirname}/../test`;

interface BindingSettings {
  readonly compatibilityDate: string;
  readonly compatibilityFlags?: readonly string[];
  readonly defaultContentType?: "json" | "v8";
  readonly exposeErrorCodes?: boolean;
}

/** One Worker with both bindings, and the service behind the native one. */
async function startBothBindings(settings: BindingSettings): Promise<WorkerdProcess> {
  const main: WorkerdService = {
    ...settings,
    name: "main",
    source: await bundle(
      'export { default, RecordingBroker } from "./compare-bindings.worker.ts";',
      TEST_FOLDER,
      "shortened",
    ),
    durableObjects: ["RecordingBroker"],
    bindings: `
      (name = "NATIVE", queue = "recorder"),
      (name = "OURS", text = "replaced when the module loads"),
      (name = "BROKERS", durableObjectNamespace = "RecordingBroker"),
      (name = "RECORDER", service = "recorder"),
      (name = "DEFAULT_CONTENT_TYPE", text = "${settings.defaultContentType ?? "json"}"),
      (name = "EXPOSE_ERROR_CODES", text = "${settings.exposeErrorCodes === false ? "no" : "yes"}")`,
  };
  const recorder: WorkerdService = {
    name: "recorder",
    source: await bundle('export { default } from "./recorder.worker.ts";', TEST_FOLDER),
  };
  return startWorkerd([main, recorder]);
}

type Outcomes = Record<string, [native: unknown, ours: unknown]>;

describe.each<BindingSettings>([
  { compatibilityDate: "2026-11-01", defaultContentType: "json" },
  // Durable Objects have methods from 2024-04-03 on; before, the flag that the date implies must be set.
  { compatibilityDate: "2024-01-01", compatibilityFlags: ["rpc"], defaultContentType: "v8" },
  // conformance: binding-differential, refused-calls, bodies, delays-as-numbers
])("does what workerd's own binding does, compatibility date $compatibilityDate", (settings) => {
  let outcomes: Outcomes;
  beforeAll(async () => {
    await using workerd = await startBothBindings(settings);
    const response = await workerd.fetch("/cases");
    if (!response.ok) throw new Error(workerd.lines.join("\n"));
    outcomes = (await response.json()) as Outcomes;
  });

  it.each(Object.keys(CASES))("%s", (name) => {
    const [native, ours] = outcomes[name] ?? [];
    expect(native).toBeDefined();
    expect(ours).toEqual(native);
  });
});

describe.each<BindingSettings>([
  { compatibilityDate: "2026-03-12", exposeErrorCodes: true },
  { compatibilityDate: "2026-03-11", exposeErrorCodes: false },
  // conformance: binding-failures
])("fails as workerd's own binding does, exposeErrorCodes $exposeErrorCodes", (settings) => {
  it.each([
    ["a reason", { ok: false, code: 10250, cause: "Queue is overloaded. Please back off." }],
    ["an internal error", { ok: false, code: 15000, cause: "Unknown Internal Error of some kind" }],
    ["no reason", "throw"],
  ])("with %s", async (_name, failure) => {
    await using workerd = await startBothBindings(settings);
    const response = await workerd.fetch("/failures", { method: "POST", body: JSON.stringify(failure) });
    const [native, ours] = (await response.json()) as [unknown[], unknown[]];
    expect(native[0]).toHaveProperty("rejected");
    expect(ours).toEqual(native);
  });
});

it("shares nothing between requests that send at the same time", async () => {
  await using workerd = await startBothBindings({ compatibilityDate: "2026-11-01" });
  const responses = await Promise.all(Array.from({ length: 40 }, () => workerd.fetch("/send")));
  for (const response of responses) {
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveLength(3);
  }
  const sent = (await (await workerd.fetch("/sent")).json()) as { messages: { body: string }[] }[];
  expect(sent.map(({ messages }) => messages.length)).toEqual(Array.from({ length: 40 }, () => 3));
});
