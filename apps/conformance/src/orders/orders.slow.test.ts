import { beforeAll, describe, expect, it } from "vitest";
import type { Settled } from "../../workers/orders/settled.ts";
import { HOSTS, runBy } from "./hosts.ts";
import { ORDER_TABLE } from "./order-table.ts";

// conformance: settlement-programs
describe.each(Object.entries(HOSTS))("every order of calls is settled as the table says: %s", (_, host) => {
  let settled: readonly (readonly Settled[])[];
  beforeAll(async () => {
    settled = await runBy(
      host,
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
