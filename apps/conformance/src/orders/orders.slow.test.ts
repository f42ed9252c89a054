import { beforeAll, describe, expect, it } from "vitest";
import type { Settled } from "../../workers/orders/settled.ts";
import { CONFIGURATIONS, HOSTS, runBy } from "./hosts.ts";
import { ORDER_TABLE } from "./order-table.ts";

const ALL = CONFIGURATIONS.flatMap((configuration) =>
  Object.entries(HOSTS).map(([name, host]) => [`${name}, ${configuration}`, host, configuration] as const),
);

// conformance: settlement-programs
describe.each(ALL)("every order of calls is settled as the table says: %s", (_, host, configuration) => {
  let settled: readonly (readonly Settled[])[];
  beforeAll(async () => {
    settled = await runBy(
      host,
      configuration,
      ORDER_TABLE.map(([program]) => program),
    );
  });

  it.each(ORDER_TABLE.map(([program, ...both], i) => ({ name: program || "(nothing)", both, i })))(
    "$name",
    ({ both, i }) => {
      expect(settled[i]).toEqual(both);
    },
  );
});
