import { Handled } from "../workload/handled.ts";
import { runWay } from "../workload/run.ts";
import { connectBullMQ } from "./bullmq.ts";
import type { ClientRequest, ClientResponse } from "./messages.ts";
import { type ConnectPeer, type PeerSettings, preciseNow, targetOf } from "./peer-client.ts";
import { connectPgBoss } from "./pg-boss.ts";

// The process that sends to a peer and consumes from it, by requests of its parent.

/** Clients by the ids of their systems. */
const CONNECT: Readonly<Record<string, ConnectPeer>> = {
  bullmq: connectBullMQ,
  "pg-boss": connectPgBoss(false),
  "pg-boss-notify": connectPgBoss(true),
};

const answer = (response: ClientResponse) => process.send?.(response);

async function serve(id: string, settings: PeerSettings): Promise<void> {
  const connect = CONNECT[id];
  if (connect === undefined) throw new Error(`there is no client for "${id}"`);
  const handled = new Handled();
  const client = await connect(settings, handled);
  const target = targetOf(client, handled);
  process.on("message", async (request: ClientRequest) => {
    if (request.kind === "stop") {
      await client.close();
      process.exit();
    }
    try {
      const measured = await runWay(request.way, request.messages, target, handled, preciseNow);
      answer({ kind: "measured", measured });
    } catch (error) {
      answer({ kind: "failed", reason: String(error) });
    }
  });
  process.once("disconnect", () => process.exit());
  answer({ kind: "ready" });
}

const [id = "", settings = "{}"] = process.argv.slice(2);
try {
  await serve(id, JSON.parse(settings) as PeerSettings);
} catch (error) {
  answer({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
