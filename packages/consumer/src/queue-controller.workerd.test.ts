import { beforeAll, describe, expect, it } from "vitest";
import { startBothDispatches } from "../test/both-dispatches.ts";
import { OBSERVATIONS } from "../test/observations.ts";

describe.each(["OBJECT", "CLASS"])(
  // conformance: objects-differential, bodies
  "a handler sees what workerd's own dispatch shows, default export: %s",
  (consumer) => {
    let observed: Record<string, [native: unknown, ours: unknown]>;
    beforeAll(async () => {
      await using workerd = await startBothDispatches();
      const response = await workerd.fetch(`/observations?consumer=${consumer}`);
      if (!response.ok) throw new Error(workerd.lines.join("\n"));
      observed = (await response.json()) as typeof observed;
    });

    it.each(Object.keys(OBSERVATIONS))("%s", (name) => {
      const [native, ours] = observed[name] ?? [];
      expect(native).toBeDefined();
      expect(ours).toEqual(native);
    });
  },
);

it("classes have the runtime's names in a Worker whose bundler shortens names", async () => {
  await using workerd = await startBothDispatches("shortened");
  const response = await workerd.fetch("/observations?consumer=OBJECT");
  const observed = (await response.json()) as Record<string, [native: unknown, ours: unknown]>;
  const [native, ours] = observed["tags and class names"] ?? [];
  expect(JSON.stringify(native)).toContain("QueueMessage");
  expect(ours).toEqual(native);
});

// conformance: objects-differential
it("a batch and its messages print as workerd's own do", async () => {
  await using workerd = await startBothDispatches();
  await workerd.fetch("/print?consumer=OBJECT");
  await workerd.printed("@@ end");
  const [native = -1, ours = -1, end = -1] = ["native", "ours", "end"].map((mark) =>
    workerd.lines.indexOf(`@@ ${mark}`),
  );
  const printed = (from: number, to: number) => workerd.lines.slice(from + 1, to).join("\n");
  // The runtime shows the length of an array inside its own objects, as Node does with `showHidden`.
  const printedByNative = printed(native, ours).replaceAll(/,\n *\[length\]: \d+/g, "");
  expect(printedByNative).toMatch(/^QueueController \{/);
  expect(printed(ours, end)).toBe(printedByNative);
});
