import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Ids, IdTable } from "./id-table.ts";

describe("ids", () => {
  it("are never the same as others in use, nor as the one that had their place before", () => {
    const ids = new Ids();
    const [a, b] = [ids.take(), ids.take()];
    expect(a).not.toBe(b);
    ids.free(a);
    const again = ids.take();
    expect([a, b]).not.toContain(again);
    expect(again % 2 ** 20).toBe(a % 2 ** 20);
  });

  it("begin anew once a place was used so often", () => {
    const ids = new Ids(3);
    const taken = Array.from({ length: 4 }, () => {
      const id = ids.take();
      ids.free(id);
      return id;
    });
    expect(new Set(taken).size).toBe(3);
    expect(taken[3]).toBe(taken[0]);
  });
});

/** What is done to a table and to a `Map` that stands for it. */
class Take {
  check = () => true;
  run({ ids, values }: Model, { table, given }: Real) {
    const id = given.take();
    expect(values.has(id)).toBe(false);
    values.set(id, `${id}`);
    ids.push(id);
    table.set(id, `${id}`);
  }
  toString = () => "take";
}

class Delete {
  readonly at: number;
  constructor(at: number) {
    this.at = at;
  }
  check = ({ ids }: Readonly<Model>) => ids.length > 0;
  run({ ids, values, gone }: Model, { table, given }: Real) {
    const [id = 0] = ids.splice(this.at % ids.length, 1);
    values.delete(id);
    gone.push(id);
    expect(table.delete(id)).toBe(true);
    given.free(id);
  }
  toString = () => `delete ${this.at}`;
}

class Look {
  check = () => true;
  run({ values, gone }: Model, { table }: Real) {
    expect(table.size).toBe(values.size);
    expect([...table.values()].sort()).toEqual([...values.values()].sort());
    for (const [id, value] of values) expect(table.get(id)).toBe(value);
    for (const id of gone) expect([table.get(id), table.delete(id)]).toEqual([undefined, false]);
  }
  toString = () => "look";
}

class Clear {
  check = () => true;
  run({ ids, values, gone }: Model, { table, given }: Real) {
    for (const id of ids) given.free(id);
    gone.push(...ids.splice(0));
    values.clear();
    table.clear();
  }
  toString = () => "clear";
}

interface Model {
  readonly ids: number[];
  readonly values: Map<number, string>;
  readonly gone: number[];
}
interface Real {
  readonly given: Ids;
  readonly table: IdTable<string>;
}

it("a table holds what a map would hold", () => {
  const commands = fc.commands(
    [
      fc.constant(new Take()),
      fc.constant(new Take()),
      fc.nat(50).map((at) => new Delete(at)),
      fc.constant(new Look()),
      fc.constant(new Clear()),
    ],
    { size: "+1" },
  );
  fc.assert(
    fc.property(commands, (run) => {
      fc.modelRun(
        () => ({
          model: { ids: [], values: new Map(), gone: [] },
          real: { given: new Ids(), table: new IdTable() },
        }),
        run,
      );
    }),
  );
});

it("who has the place of another takes it over", () => {
  const [ids, table] = [new Ids(), new IdTable<string>()];
  const first = ids.take();
  table.set(first, "a");
  ids.free(first);
  const second = ids.take();
  table.set(second, "b");
  expect([table.get(first), table.get(second), table.size]).toEqual([undefined, "b", 1]);
});
