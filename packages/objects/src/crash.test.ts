import fc from "fast-check";
import { expect, it } from "vitest";
import { openWorld, temporaryFolder, type World } from "../test/world.ts";

/** Action on an object; a test does one after the other. */
type Deed =
  /** Writes rows, awaiting something between them or not, and is answered. */
  | { readonly kind: "write"; readonly rows: number; readonly awaits: boolean; readonly transaction: boolean }
  /** The same, and throws at the end: out of a transaction it keeps what it wrote. */
  | { readonly kind: "throw"; readonly rows: number; readonly transaction: boolean }
  /** Writes rows, ends the instance, and goes on writing. */
  | { readonly kind: "abort"; readonly rows: number; readonly committed: number }
  /** Several calls at once. */
  | { readonly kind: "together"; readonly calls: number }
  | { readonly kind: "reopen" };

const upTo3 = fc.integer({ min: 0, max: 3 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    kind: fc.constant("write" as const),
    rows: upTo3,
    awaits: fc.boolean(),
    transaction: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("throw" as const), rows: upTo3, transaction: fc.boolean() }),
  fc.record({ kind: fc.constant("abort" as const), rows: upTo3, committed: upTo3 }),
  fc.record({ kind: fc.constant("together" as const), calls: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant("reopen" as const) }),
);

const CREATE = "CREATE TABLE IF NOT EXISTS t (v)";
const INSERT = "INSERT INTO t VALUES (?)";

it("whatever is done, an object has what was answered, nothing of what was not committed, and in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 25 }), async (deeds) => {
      const folder = temporaryFolder();
      let world = openWorld({ folder });
      const model: number[] = [];
      let next = 0;
      const numbers = (count: number) => Array.from({ length: count }, () => next++);
      await world.run("a", ({ storage }) => void storage.sql.exec(CREATE));
      for (const step of deeds) {
        if (step.kind === "reopen") {
          world.objects.close();
          world = openWorld({ folder });
        } else await done(world, step, numbers, model);
        const rows = world.committed("a", "SELECT v FROM t ORDER BY rowid").map(({ v }) => v);
        expect(rows).toEqual(model);
        const inside = await world.run("a", ({ storage }) =>
          storage.sql.exec("SELECT v FROM t ORDER BY rowid").toArray(),
        );
        expect(inside.map(({ v }) => v)).toEqual(model);
      }
      world.objects.close();
    }),
    { numRuns: 60 },
  );
});

/** Does it, and writes down in the model what is to be there afterwards. */
async function done(
  { run }: World,
  step: Exclude<Deed, { kind: "reopen" }>,
  numbers: (count: number) => number[],
  model: number[],
): Promise<void> {
  if (step.kind === "together") {
    const all = numbers(step.calls);
    await Promise.all(all.map((value) => run("a", ({ storage }) => void storage.sql.exec(INSERT, value))));
    model.push(...all);
    return;
  }
  const values = numbers(step.rows);
  if (step.kind === "abort") {
    const kept = numbers(step.committed);
    const aborted = run("a", async (ctx) => {
      const insert = (value: number) => ctx.storage.sql.exec(INSERT, value);
      for (const value of kept) insert(value);
      await ctx.storage.sync();
      for (const value of values) insert(value);
      ctx.abort("over");
      for (const value of values) insert(value);
    });
    await expect(aborted).rejects.toThrow("over");
    model.push(...kept);
    return;
  }
  const isKept = step.kind === "write" || !step.transaction;
  const written = run("a", async ({ storage }) => {
    const write = () => {
      for (const value of values) storage.sql.exec(INSERT, value);
      if (step.kind === "throw" && step.transaction) throw new Error("thrown");
    };
    if (step.transaction) storage.transactionSync(write);
    else if (step.kind === "write" && step.awaits) {
      for (const value of values) {
        storage.sql.exec(INSERT, value);
        await new Promise(setImmediate);
      }
    } else write();
    if (step.kind === "throw") throw new Error("thrown");
  });
  if (step.kind === "throw") await expect(written).rejects.toThrow("thrown");
  else await written;
  if (isKept) model.push(...values);
}
