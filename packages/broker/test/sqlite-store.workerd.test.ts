import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "./harness.ts";
import { STORE_CONFORMANCE } from "./store-conformance.ts";

/** Each case has an object with a database of its own; it runs inside it and answers with what went wrong. */
const SOURCE = `
import { DurableObject } from "cloudflare:workers";
import { isReadable, PackedIndex } from "@sluice/protocol";
import { packTexts } from "./messages.ts";
import { SchemaVersionError } from "../src/store/migrations.ts";
import { SqliteStore } from "../src/store/sqlite-store.ts";
import { STORE_CONFORMANCE } from "./store-conformance.ts";

export class StoreUnderTest extends DurableObject {
  async conform(name) {
    const found = STORE_CONFORMANCE.find((each) => each.name === name);
    try {
      await found.run({ open: () => new SqliteStore(this.ctx.storage) });
      return "ok";
    } catch (error) {
      return error.stack ?? String(error);
    }
  }

  migrationRows() {
    new SqliteStore(this.ctx.storage);
    return new SqliteStore(this.ctx.storage).rowsWritten;
  }

  /** Opens what the release before the one with a journal has left. */
  earlierRelease() {
    const store = new SqliteStore(this.ctx.storage);
    store.commit(() => store.insertSegment(1, new Uint8Array(1), null, packTexts(["kept"])));
    this.ctx.storage.sql.exec("DROP TABLE journal");
    this.ctx.storage.sql.exec("UPDATE meta SET value = 2 WHERE key = 'schema'");
    const opened = new SqliteStore(this.ctx.storage);
    opened.commit(() => opened.writeJournal(1, new Uint8Array([7])));
    return [[...opened.segments()].length, [...opened.readJournal(1)]];
  }

  laterRelease() {
    new SqliteStore(this.ctx.storage);
    this.ctx.storage.sql.exec("UPDATE meta SET value = 99 WHERE key = 'schema'");
    try {
      new SqliteStore(this.ctx.storage);
      return "opened";
    } catch (error) {
      return error instanceof SchemaVersionError ? error.message : "another error: " + error;
    }
  }

  /** Flips a bit of a stored value and answers with what the store makes of it. */
  damage(table, column, at) {
    const { sql } = this.ctx.storage;
    const store = new SqliteStore(this.ctx.storage);
    store.commit(() => {
      store.insertSegment(1, new Uint8Array(1), null, packTexts(["first", "second"]));
      store.insertOutbox({ id: 1, target: "dead", payload: packTexts(["first", "second"]) });
      store.writeInbox("orders", 7);
    });
    const [{ value }] = sql.exec("SELECT " + column + " AS value FROM " + table).toArray();
    const flip = (byte, i) => (i === at ? byte ^ 1 : byte);
    const flipped = typeof value === "number" ? value + 1 : new Uint8Array(value).map(flip);
    sql.exec("UPDATE " + table + " SET " + column + " = ?", flipped);
    const again = new SqliteStore(this.ctx.storage);
    try {
      if (table === "inbox") return String(again.readInbox("orders"));
      const payload = table === "outbox" ? again.outbox()[0].payload : again.readPayload(1);
      const index = new PackedIndex(payload);
      return Array.from({ length: index.count }, (_, i) => (isReadable(index, i) ? "read" : "unreadable")).join();
    } catch (error) {
      return error.name;
    }
  }

  /** Position that a store has after each step. */
  marks() {
    const seen = [];
    let committed = 0;
    const store = new SqliteStore(this.ctx.storage, [{ committed: () => { committed += 1; } }]);
    const look = () => {
      const position = new SqliteStore(this.ctx.storage).readPosition();
      seen.push({ ...position, counted: store.commits, committed });
    };
    look();
    store.commit(() => store.insertSegment(1, new Uint8Array(1), null, new Uint8Array()));
    look();
    store.commit(() => store.writeState(1, new Uint8Array(1)));
    look();
    store.commit(() => store.deleteSegment(1, true));
    look();
    store.commit(() => {
      store.writeEpoch(2, "orders");
      store.writePosition({ epoch: 2, commits: store.commits, messages: 5 });
    });
    look();
    store.raiseCommits(100);
    store.commit(() => store.insertSegment(2, new Uint8Array(1), null, new Uint8Array()));
    look();
    return seen;
  }

  damageRecord() {
    const store = new SqliteStore(this.ctx.storage);
    const none = store.readDamage();
    const entry = { kind: "structure", foundAtMs: 1, messagesLost: null, text: "a page is gone" };
    store.commit(() => store.writeDamage([entry]));
    return [none, new SqliteStore(this.ctx.storage).readDamage()];
  }

  writeLarge(bytes) {
    const store = new SqliteStore(this.ctx.storage);
    store.commit(() => store.insertSegment(1, new Uint8Array(1), null, new Uint8Array(bytes).fill(7)));
    const payload = new SqliteStore(this.ctx.storage).readPayload(1);
    return payload.length === bytes && payload.every((byte) => byte === 7);
  }
}
export default { fetch: () => new Response("stores") };
`;

interface StoreUnderTest {
  conform(name: string): Promise<string>;
  migrationRows(): Promise<number>;
  earlierRelease(): Promise<[segments: number, row: number[]]>;
  laterRelease(): Promise<string>;
  writeLarge(bytes: number): Promise<boolean>;
  damage(table: string, column: string, at: number): Promise<string>;
  marks(): Promise<Record<string, number>[]>;
  damageRecord(): Promise<unknown[]>;
}

let persistDir: string;
let mf: Miniflare;

beforeAll(async () => {
  persistDir = await mkdtemp(path.join(tmpdir(), "sluice-store-"));
  mf = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: persistDir,
      workers: [
        {
          name: "stores",
          compatibilityDate: "2026-11-01",
          compatibilityFlags: ["nodejs_compat"],
          modules: [{ type: "ESModule", path: "stores.js", contents: await bundle(SOURCE) }],
          durableObjects: { STORES: { className: "StoreUnderTest", useSQLite: true } },
        },
      ],
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  await mf.ready;
});

afterAll(async () => {
  await mf.dispose();
  await rm(persistDir, { recursive: true, force: true });
});

async function object(name: string): Promise<StoreUnderTest> {
  const namespace = await mf.getDurableObjectNamespace("STORES", "stores");
  return namespace.get(namespace.idFromName(name)) as unknown as StoreUnderTest;
}

it.each(STORE_CONFORMANCE)("the store in SQLite is a QueueStore $name", async ({ name }) => {
  expect(await (await object(name)).conform(name)).toBe("ok");
});

describe("the store in SQLite", () => {
  it("writes nothing when its schema is there already", async () => {
    expect(await (await object("migrated twice")).migrationRows()).toBe(0);
  });

  it("opens data of an earlier release with all that is in it", async () => {
    expect(await (await object("earlier")).earlierRelease()).toEqual([1, [7]]);
  });

  it("refuses to open data of a later release", async () => {
    expect(await (await object("later")).laterRelease()).toBe(
      "this queue was written by a later release (schema 99); this one knows 4",
    );
  });

  it("takes a payload as large as a segment can be", async () => {
    expect(await (await object("large")).writeLarge(1_000_000)).toBe(true);
  });

  it.each([
    ["segments", "payload", 44, "unreadable,read"],
    ["segments", "payload", 0, "unreadable,read"],
    ["segments", "seal", 0, "DamagedChecksumsError"],
    ["outbox", "payload", 90, "read,unreadable"],
    ["outbox", "seal", 0, ""],
    ["inbox", "last_id", 0, "DamagedRowError"],
  ])("tells a bit that was flipped in %s.%s at byte %i", async (table, column, at, expected) => {
    expect(await (await object(`${table}.${column} ${at}`)).damage(table, column, at)).toBe(expected);
  });

  it("knows how far it has come by its latest commit that left a row", async () => {
    expect(await (await object("marks")).marks()).toEqual([
      { epoch: 0, commits: 0, messages: 0, counted: 0, committed: 0 },
      { epoch: 0, commits: 1, messages: 0, counted: 1, committed: 1 },
      { epoch: 0, commits: 2, messages: 0, counted: 2, committed: 2 },
      { epoch: 0, commits: 0, messages: 0, counted: 3, committed: 3 },
      { epoch: 2, commits: 4, messages: 5, counted: 4, committed: 4 },
      { epoch: 2, commits: 101, messages: 5, counted: 101, committed: 5 },
    ]);
  });

  it("keeps the list of damage", async () => {
    const entry = { kind: "structure", foundAtMs: 1, messagesLost: null, text: "a page is gone" };
    expect(await (await object("damage record")).damageRecord()).toEqual([[], [entry]]);
  });
});
