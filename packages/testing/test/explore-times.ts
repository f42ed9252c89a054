// Measures the time of 500 histories of a small consumer. Usage: pnpm --filter @sluice/testing explore-times
import { fileURLToPath } from "node:url";
import { createQueueRuntime, explore } from "../src/index.ts";

interface Env {
  readonly STATE: { getByName(name: string): { read(): Promise<{ files: readonly number[] }> } };
}

const workers = [fileURLToPath(new URL("fixtures/small", import.meta.url))];
await using queues = await createQueueRuntime<Env>({ workers, log: () => {} });
const startedMs = performance.now();
const { histories, faults } = await explore<Env>({
  runtime: queues,
  act: async (_, random) => {
    const bodies = Array.from({ length: random.integer(1, 6) }, (__, i) => ({
      body: { id: i + 1, isCareful: true },
    }));
    await queues.queue("files").sendBatch(bodies);
  },
  holds: async (_, stories) => {
    const { files } = await queues.env.STATE.getByName("state").read();
    return stories.every((__, i) => files.includes(i + 1));
  },
  seed: 1,
  histories: Number(process.argv[2] ?? 500),
  timeoutMs: Infinity,
});
const tookMs = performance.now() - startedMs;
console.log(
  `${histories} histories in ${(tookMs / 1_000).toFixed(1)} s, ${(tookMs / histories).toFixed(1)} ms each`,
);
console.log(faults);
