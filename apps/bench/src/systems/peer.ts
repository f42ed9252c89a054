import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@sluice/harness/child";
import getPort from "get-port";
import type { ClientRequest, ClientResponse } from "../peers/messages.ts";
import type { PeerSettings } from "../peers/peer-client.ts";
import { accepts } from "../process/accepts.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import { PEERS_FOLDER } from "./npm-packages.ts";
import type { RunningSystem } from "./system.ts";

const CLIENT = fileURLToPath(new URL("../peers/main.ts", import.meta.url));

/** Starts a peer's server, which listens on `port` and keeps its state in `folder`. */
export type StartServer = (place: { readonly port: number; readonly folder: string }) => Promise<Child>;

/** Starts a peer: its server, and the process that sends to it and consumes from it. */
export async function startPeer(id: string, startServer: StartServer): Promise<RunningSystem> {
  const folder = await temporaryFolder(id);
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of started.toReversed()) await part.stop();
    await removeFolder(folder);
  };
  try {
    const port = await getPort();
    const server = await startServer({ port, folder });
    started.push(server);
    await server.ready(() => accepts(port));
    const client = await startClient(id, { port, packages: PEERS_FOLDER });
    started.push(client);
    return { pids: [server.pid, client.pid], run: client.run, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startClient(id: string, settings: PeerSettings) {
  const child = startChild(process.execPath, ["--no-warnings", CLIENT, id, JSON.stringify(settings)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const say = (request: ClientRequest) => child.process.send(request);
  const stop = async () => {
    if (child.process.connected) say({ kind: "stop" });
    await child.stop();
  };
  const answer = () =>
    new Promise<ClientResponse>((resolve, reject) => {
      const ended = () => reject(new Error("its client ended"));
      child.process.once("exit", ended);
      child.process.once("message", (message) => {
        child.process.off("exit", ended);
        resolve(message as ClientResponse);
      });
    });
  const first = await answer();
  if (first.kind === "failed") {
    await stop();
    throw new Error(first.reason);
  }
  const run: RunningSystem["run"] = async (way, messages) => {
    const answered = answer();
    say({ kind: "run", way, messages });
    const response = await answered;
    if (response.kind === "measured") return response.measured;
    throw new Error(response.kind === "failed" ? response.reason : "it answered out of turn");
  };
  return { pid: child.pid, run, stop };
}
