import { describe, expect, it } from "vitest";
import type { MiniflareParts } from "./miniflare-parts.ts";
import { withoutTraces } from "./untraced.ts";

const COLLECTOR = { name: "core:user:miniflare-observability-collector" };
const THEIRS = { name: "core:user:their-tail" };

/** Services of the Workers `names`, each traced, and with a tail Worker of the user's. */
const servicesOf = (...names: string[]) =>
  names.map((name) => ({ name, worker: { streamingTails: [THEIRS, COLLECTOR] } }));

async function servicesWithout(broker: string, result: unknown): Promise<unknown> {
  const parts = { CORE_PLUGIN: { getServices: () => result } } as MiniflareParts;
  withoutTraces(parts, broker);
  return parts.CORE_PLUGIN?.getServices();
}

const TRACED = { streamingTails: [THEIRS, COLLECTOR] };
const UNTRACED = { streamingTails: [THEIRS] };

describe("withoutTraces", () => {
  it("takes the collector of traces from the broker, and no other tail, and no other Worker's", async () => {
    const services = servicesOf(
      "core:user:sluice",
      "core:user:shop",
      "core:user:sluice-2",
      "core:outbound:0",
    );
    expect(await servicesWithout("sluice", services)).toEqual([
      { name: "core:user:sluice", worker: UNTRACED },
      { name: "core:user:shop", worker: TRACED },
      { name: "core:user:sluice-2", worker: TRACED },
      { name: "core:outbound:0", worker: TRACED },
    ]);
  });

  it("keeps what else a plugin answers", async () => {
    expect(
      await servicesWithout("sluice", { services: servicesOf("core:user:sluice"), extensions: [1] }),
    ).toEqual({ services: [{ name: "core:user:sluice", worker: UNTRACED }], extensions: [1] });
    expect(await servicesWithout("sluice", undefined)).toBeUndefined();
    const plain = [{ name: "core:user:sluice", worker: {} }, { name: "core:user:sluice" }];
    expect(await servicesWithout("sluice", plain)).toEqual([
      { name: "core:user:sluice", worker: {} },
      { name: "core:user:sluice" },
    ]);
  });

  it("gives the broker its paths, beside triggers that it has", () => {
    const read: unknown[] = [];
    const parts: MiniflareParts = { MiniflareOptionsSchema: { parse: (options) => read.push(options) } };
    withoutTraces(parts, "sluice");
    const [shop, sluice] = [
      { config: { name: "shop" }, dev: 1 },
      { config: { name: "sluice", triggers: ["cron"] }, dev: 2 },
    ];
    const options = { workers: [shop, sluice], port: 1 };
    parts.MiniflareOptionsSchema?.parse(options);
    const paths = ["*/__sluice", "*/__sluice/*"].map((pattern) => ({ type: "fetch", pattern }));
    const routed = { config: { name: "sluice", triggers: ["cron", ...paths] }, dev: 2 };
    expect(read).toEqual([{ workers: [shop, routed], port: 1 }]);
    expect(sluice.config.triggers).toEqual(["cron"]);
  });

  it("changes nothing of a Miniflare without these parts", () => {
    const parts: MiniflareParts = {};
    withoutTraces(parts, "sluice");
    expect(parts).toEqual({});
  });
});
