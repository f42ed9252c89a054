import type { DeliveryReply } from "@sluice/protocol";
import { bundle, startWorkerd, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import type { Trial } from "./program-arbitrary.ts";

/** Result of a trial in one dispatch. */
export interface Outcome {
  readonly reply: DeliveryReply;
  /** Warnings in the order they were printed. */
  readonly warnings: readonly string[];
}

/** The consumers of a test: default export an object or a class, with or without waiting for `waitUntil`. */
export const CONSUMERS = ["OBJECT", "CLASS", "OBJECT_NO_WAIT", "CLASS_NO_WAIT"] as const;
export type ConsumerName = (typeof CONSUMERS)[number];

/**
 * Starts a dispatcher and two consumer Workers that differ in `queue_consumer_no_wait_for_wait_until`.
 *
 * @param names what the bundler of the consumers does with names.
 */
export async function startBothDispatches(names?: "kept" | "shortened"): Promise<WorkerdProcess> {
  const source = await bundle(
    'export * from "./consumer.worker.ts"; export { default } from "./consumer.worker.ts";',
    import.meta.dirname,
    names,
  );
  const bindings = (suffix: string, service: string) => `
    (name = "NATIVE_OBJECT${suffix}", service = "${service}"),
    (name = "NATIVE_CLASS${suffix}", service = (name = "${service}", entrypoint = "ClassHandlers")),
    (name = "OURS_OBJECT${suffix}", service = (name = "${service}", entrypoint = "OurConsumer")),
    (name = "OURS_CLASS${suffix}", service = (name = "${service}", entrypoint = "OurClassConsumer"))`;
  return startWorkerd([
    {
      name: "dispatcher",
      source: await bundle('export { default } from "./dispatcher.worker.ts";', import.meta.dirname),
      compatibilityFlags: ["service_binding_extra_handlers"],
      bindings: `${bindings("", "waiting")}, ${bindings("_NO_WAIT", "not-waiting")}`,
    },
    { name: "waiting", source, bindings: '(name = "WAIT_FOR_WAIT_UNTIL", text = "yes")' },
    {
      name: "not-waiting",
      source,
      compatibilityFlags: ["queue_consumer_no_wait_for_wait_until"],
      bindings: '(name = "WAIT_FOR_WAIT_UNTIL", text = "no")',
    },
  ]);
}

/** Runs trials by both dispatches, all in one request. Not twice at a time on one process: the warnings would mix. */
export async function runTrials(
  workerd: WorkerdProcess,
  consumer: ConsumerName,
  trials: readonly Trial[],
): Promise<{ native: Outcome; ours: Outcome }[]> {
  const firstLine = workerd.lines.length;
  const response = await workerd.fetch(`/?consumer=${consumer}`, {
    method: "POST",
    body: JSON.stringify(trials),
  });
  if (!response.ok) throw new Error(`${await response.text()}\n${workerd.lines.slice(firstLine).join("\n")}`);
  const results = (await response.json()) as [DeliveryReply, DeliveryReply][];
  await workerd.printed(`@@ ${trials.length - 1} end`, firstLine);
  const warnings = readWarnings(workerd.lines.slice(firstLine));
  return results.map(([native, ours], i) => ({
    native: { reply: native, warnings: warnings.get(`@@ ${i} native`) ?? [] },
    ours: { reply: ours, warnings: warnings.get(`@@ ${i} ours`) ?? [] },
  }));
}

/** The warnings after each mark. */
function readWarnings(lines: readonly string[]): Map<string, string[]> {
  const warnings = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of lines) {
    if (line.startsWith("@@ ")) {
      current = [];
      warnings.set(line, current);
    } else if (line.startsWith("Received a call to ")) {
      current.push(line);
    }
  }
  return warnings;
}
