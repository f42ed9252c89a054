import { expect, it } from "vitest";
import type { MiniflareParts } from "./miniflare-parts.ts";
import { withVariables } from "./unwritten.ts";

it("the broker alone gets the variables, beside its own, whichever form Miniflare's services have", async () => {
  const own = { name: "SLUICE_ENV", text: "development" };
  for (const wrap of [(services: object[]) => services, (services: object[]) => ({ services })]) {
    const services = [
      { name: "core:user:shop", worker: { bindings: [] } },
      { name: "core:user:sluice", worker: { bindings: [own] } },
      { name: "core:entry" },
    ];
    const parts = { CORE_PLUGIN: { getServices: () => wrap(services) } } as unknown as MiniflareParts;
    withVariables(parts, "sluice", { SLUICE_ALERTS_SECRET: "key" });
    await parts.CORE_PLUGIN?.getServices();
    expect(services.map(({ worker }) => worker?.bindings)).toEqual([
      [],
      [own, { name: "SLUICE_ALERTS_SECRET", text: "key" }],
      undefined,
    ]);
  }
});
