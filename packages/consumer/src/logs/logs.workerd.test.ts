import type { DeliveryResult } from "@sluice/protocol";
import { bundle, startWorkerd, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import { expect, it, onTestFinished } from "vitest";
import { idOf } from "../../test/deliveries.ts";

const TEST_FOLDER = `${import.meta.dirname}/../../test`;
const WITH_CONTEXT = `
import { AsyncLocalStorage } from "node:async_hooks";
import { printingConsumer } from "./printing.worker.ts";
export const Consumer = printingConsumer(new AsyncLocalStorage());
export default {};`;
const NAMING = `
import { watchConsole } from "../src/index.ts";
watchConsole({ names: true });
`;
const WITHOUT_CONTEXT = `
import { printingConsumer } from "./printing.worker.ts";
export const Consumer = printingConsumer();
export default {};`;

async function startWith(source: string, compatibilityFlags: readonly string[]) {
  const workerd: WorkerdProcess = await startWorkerd([
    {
      name: "main",
      source: await bundle('export { default } from "./deliver-batches.worker.ts";', TEST_FOLDER),
      bindings: '(name = "CONSUMER", service = (name = "consumer", entrypoint = "Consumer"))',
    },
    {
      name: "consumer",
      source: await bundle(source, TEST_FOLDER, "kept", ["node:async_hooks"]),
      compatibilityFlags,
    },
  ]);
  onTestFinished(() => workerd[Symbol.asyncDispose]());
  const deliver = async (logs: boolean, ...batches: string[][]): Promise<DeliveryResult[]> => {
    const response = await workerd.fetch("/", { method: "POST", body: JSON.stringify({ logs, batches }) });
    return response.json() as Promise<DeliveryResult[]>;
  };
  return { workerd, deliver };
}

function textsOf({ logs }: DeliveryResult): string[] | undefined {
  return logs?.lines.map(({ level, text }) => `${level}: ${text.split("\n")[0]}`);
}

it.each(["nodejs_als", "nodejs_compat"])(
  "lines go to the delivery that prints them, and an error to its message: with %s",
  async (flag) => {
    const { workerd, deliver } = await startWith(WITH_CONTEXT, [flag]);
    const results = await deliver(true, ["slow lamp"], ["vase", "acked", "sofa"], ["throws"]);
    expect(results.map(textsOf)).toEqual([
      ["log: begun slow lamp", "error: TypeError: no slow lamp", "info: in the background"],
      [
        "log: begun vase",
        "error: TypeError: no vase",
        "log: begun acked",
        "log: begun sofa",
        "error: TypeError: no sofa",
        "info: in the background",
      ],
      ["log: begun throws"],
    ]);
    expect(results[1]?.retryMessages).toEqual([
      { msgId: idOf(1), printed: "TypeError: no vase" },
      { msgId: idOf(3), printed: "TypeError: no sofa" },
    ]);
    expect(results[0]?.logs?.lines[1]?.text).toMatch(/^TypeError: no slow lamp\n +at .*queue/);
    // Nothing of ours takes the room of the user's frames.
    expect(results[0]?.logs?.lines[1]?.text).not.toMatch(/sluiceHandler|deliver/);
    expect(results.some(({ logs }) => logs?.ofWorker)).toBe(false);
    // Everything is printed as before.
    await workerd.printed("TypeError: no slow lamp");
    await workerd.printed("Error: thrown");
    expect(workerd.lines.filter((line) => line === "begun sofa")).toHaveLength(1);
  },
);

it("without a context lines are a delivery's while it runs alone; else they are counted and nobody's", async () => {
  const { deliver } = await startWith(WITHOUT_CONTEXT, []);
  const [alone] = await deliver(true, ["lamp"]);
  expect(textsOf(alone as DeliveryResult)).toEqual([
    "log: begun lamp",
    "error: TypeError: no lamp",
    "info: in the background",
  ]);
  expect(alone?.logs?.ofWorker).toBe(true);
  expect(alone?.retryMessages).toEqual([{ msgId: idOf(1), printed: "TypeError: no lamp" }]);
  const [first, second] = await deliver(true, ["slow lamp"], ["slow vase"]);
  for (const result of [first, second]) {
    expect(textsOf(result as DeliveryResult)?.join()).not.toContain(result === first ? "vase" : "lamp");
    expect(result?.logs?.mixed).toBeGreaterThan(0);
  }
});

it("without a context an error that is printed right before a retry is its reason, and never that of another delivery", async () => {
  const { deliver } = await startWith(WITHOUT_CONTEXT, []);
  // The last one goes on right after the error of another one, which has let it.
  const bodies = ["slow lamp", "slow bare", "slow vase", "slow prints", "slow bare", "waits"];
  const results = await deliver(true, ...bodies.map((body) => [body]));
  const retried = (reason?: string) => [
    { msgId: idOf(1), ...(reason === undefined ? {} : { printed: reason }) },
  ];
  expect(results.map(({ retryMessages }) => retryMessages)).toEqual([
    retried("TypeError: no slow lamp"),
    retried(),
    retried("TypeError: no slow vase"),
    [],
    retried(),
    retried(),
  ]);
});

it.each([
  ["with a context", WITH_CONTEXT, ["nodejs_als"]],
  ["without one", WITHOUT_CONTEXT, []],
])("a printed error that is a text has the place of the call: %s", async (_, source, flags) => {
  const { workerd, deliver } = await startWith(source, flags);
  const [result] = await deliver(true, ["text"]);
  const [begun, error, end] = result?.logs?.lines ?? [];
  expect(error?.text).toMatch(/^no text\n +at (async )?Object\.queue \(\S+:\d+:\d+\)$/);
  expect([begun?.text, end?.text]).toEqual(["begun text", "in the background"]);
  expect(result?.retryMessages).toEqual([{ msgId: idOf(1), printed: "no text" }]);
  await workerd.printed("no text");
});

it("a broker that does not ask for lines gets none", async () => {
  const { deliver } = await startWith(WITH_CONTEXT, ["nodejs_als"]);
  const [result, acked] = await deliver(false, ["lamp"], ["acked"]);
  expect(result).toMatchObject({ outcome: "ok", retryMessages: [{ msgId: idOf(1) }] });
  expect(result).not.toHaveProperty("logs");
  expect(result?.retryMessages[0]).not.toHaveProperty("printed");
  expect(acked).toBe("acknowledged");
});

it.each([
  ["with a context", WITH_CONTEXT, ["nodejs_als"], ""],
  ["without one, while a delivery runs alone", WITHOUT_CONTEXT, [], "?"],
])(
  "in development a line names queue and message, and is stored without: %s",
  async (_, source, flags, mark) => {
    const { workerd, deliver } = await startWith(NAMING + source, flags);
    const [one] = await deliver(true, ["lamp"]);
    const [two] = await deliver(true, ["acked", "vase"]);
    await workerd.printed("[orders, 2 messages");
    await workerd.printed("TypeError: no vase");
    expect(workerd.lines).toContain(`[orders 00000000${mark}] begun lamp`);
    expect(workerd.lines).toContain(`[orders, 2 messages${mark}] begun vase`);
    expect(workerd.lines.join("\n")).toContain(`[orders 00000000${mark}] TypeError: no lamp`);
    for (const result of [one, two]) expect(JSON.stringify(result?.logs)).not.toContain("[orders");
    // What is printed for a handler that throws is not the handler's.
    await deliver(true, ["throws"]);
    await workerd.printed("Error: thrown");
    expect(workerd.lines.join("\n")).not.toContain("] Error: thrown");
  },
);

it("without a context the lines of deliveries that overlap have no name", async () => {
  const { workerd, deliver } = await startWith(NAMING + WITHOUT_CONTEXT, []);
  await deliver(true, ["slow lamp"], ["slow vase"]);
  await workerd.printed("begun slow vase");
  expect(workerd.lines).toContain("begun slow vase");
});
