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
import { SchemaVersionError, SqliteStore } from "../src/sqlite-store.ts";
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
  laterRelease(): Promise<string>;
  writeLarge(bytes: number): Promise<boolean>;
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

describe("the store in SQLite is a QueueStore", () => {
  it.each(STORE_CONFORMANCE)("$name", async ({ name }) => {
    expect(await (await object(name)).conform(name)).toBe("ok");
  });
});

describe("the store in SQLite", () => {
  it("writes nothing when its schema is there already", async () => {
    expect(await (await object("migrated twice")).migrationRows()).toBe(0);
  });

  it("refuses to open data of a later release", async () => {
    expect(await (await object("later")).laterRelease()).toBe(
      "this queue was written by a later release (schema 99); this one knows 1",
    );
  });

  it("takes a payload as large as a segment can be", async () => {
    expect(await (await object("large")).writeLarge(1_000_000)).toBe(true);
  });
});
