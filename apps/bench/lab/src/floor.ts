import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { FloorWay } from "./floor-way.ts";

/**
 * The least that can be done on workerd for what a queue has to do: none of it is Sluice's. What this takes no queue on Durable
 * Objects can do without.
 */

interface Env {
  readonly CELLS: DurableObjectNamespace<Cell>;
  readonly TAKER: Service<Taker>;
}

/** An object that keeps bytes. */
export class Cell extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  #nextId = 1;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec("CREATE TABLE IF NOT EXISTS cells (id INTEGER PRIMARY KEY, bytes BLOB)");
  }

  nothing(): void {}

  commit(bytes: Uint8Array): void {
    this.#sql.exec("INSERT OR REPLACE INTO cells VALUES (0, ?)", bytes);
  }

  handOn(bytes: Uint8Array): void {
    const id = this.#nextId++;
    this.#sql.exec("INSERT INTO cells VALUES (?, ?)", id, bytes);
    const handedOn = async () => {
      await this.env.TAKER.take(bytes);
      this.#sql.exec("DELETE FROM cells WHERE id = ?", id);
    };
    this.ctx.waitUntil(handedOn());
  }
}

/** Takes what is handed on, and does nothing with it. */
export class Taker extends WorkerEntrypoint {
  take(_bytes: Uint8Array): void {}
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const cell = env.CELLS.get(env.CELLS.idFromName("cell"));
    if (pathname === "/answer") return new Response("{}");
    const bytes = new Uint8Array(Number(searchParams.get("bytes")));
    const way = pathname.slice(1) as FloorWay;
    const once = {
      call: () => cell.nothing(),
      commit: () => cell.commit(bytes),
      handOn: () => cell.handOn(bytes),
    };
    const times = Number(searchParams.get("times"));
    const startMs = Date.now();
    for (let i = 0; i < times; i++) await once[way]();
    return Response.json((Date.now() - startMs) / times);
  },
} satisfies ExportedHandler<Env>;
