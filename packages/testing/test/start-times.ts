// Measures the time until the same Workers answer on `createQueueRuntime`, on Miniflare alone, and on Wrangler's own
// test harness. In turns, each in its own process, since most of the time is for loading Wrangler. Usage: pnpm --filter
// @sluice/testing start-times [ROUNDS]
import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";

const SHOP = ["shop-producer", "shop-consumer"].map((name) =>
  fileURLToPath(new URL(`../../../apps/${name}/wrangler.toml`, import.meta.url)),
);

/** Entry point of the packed package, as users have it. */
const DIST = new URL("../dist/index.js", import.meta.url).href;

const HOSTS: Readonly<Record<string, () => Promise<void>>> = {
  createQueueRuntime: async () => {
    const { createQueueRuntime } = await import(DIST);
    await using queues = await createQueueRuntime({ workers: SHOP });
    await answered(await queues.fetch("/"));
  },
  "Miniflare by itself": async () => {
    const { unstable_getMiniflareWorkerOptions } = await import("wrangler");
    const { convertV4MiniflareOptions, Miniflare } = await import("miniflare");
    const { bundleInside } = await import("@sluice/local/workerd/bundle-inside");
    const workers = await Promise.all(
      SHOP.map(async (configFile) => {
        const name = basename(dirname(configFile));
        const { workerOptions } = unstable_getMiniflareWorkerOptions(configFile, "");
        const { modulesRules: _, ...options } = workerOptions;
        const { maps: __, ...code } = await bundleInside({ name, configFile });
        return { ...options, ...code, name };
      }),
    );
    const miniflare = new Miniflare(convertV4MiniflareOptions({ workers: workers as never, cf: false }));
    await answered((await miniflare.dispatchFetch("http://localhost/")) as unknown as Response);
    await miniflare.dispose();
  },
  createTestHarness: async () => {
    const { createTestHarness } = await import("wrangler");
    const harness = createTestHarness({ workers: SHOP.map((configPath) => ({ configPath })) });
    await harness.listen();
    await answered((await harness.fetch("/")) as unknown as Response);
    await harness.close();
  },
};

async function answered(response: Response): Promise<void> {
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.status}`);
  console.log(`READY ${Math.round(performance.now())}`);
}

const [chosen = "5"] = process.argv.slice(2);
if (chosen in HOSTS) {
  await HOSTS[chosen]?.();
  process.exit(0);
}

execFileSync(process.execPath, [fileURLToPath(new URL("../build.mjs", import.meta.url))], {
  stdio: "inherit",
});
const times = new Map(Object.keys(HOSTS).map((name): [string, number[]] => [name, []]));
for (let round = 0; round < Number(chosen); round++) {
  for (const [name, its] of times) {
    const args = [fileURLToPath(import.meta.url), name];
    const printed = execFileSync(process.execPath, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    its.push(Number(/READY (\d+)/.exec(printed)?.[1]));
  }
}
const medianOf = (its: readonly number[]) => [...its].sort((a, b) => a - b)[Math.floor(its.length / 2)] ?? 0;
const base = medianOf(times.get("Miniflare by itself") ?? []);
for (const [name, its] of times) {
  const median = medianOf(its);
  console.log(
    `${name.padEnd(20)} ${median} ms, ${(median / base).toFixed(2)} times Miniflare (${its.join(", ")})`,
  );
}
