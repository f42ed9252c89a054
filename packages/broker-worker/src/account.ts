import { type AlarmedObject, type BrokerEnv, DIRECTORY_NAME, type DirectoryClock } from "@sluice/broker";
import type { AuditRpc, DirectoryRpc, R2Rpc, TokensRpc, TopicsRpc } from "@sluice/protocol";

/** Calls of the gateway to the directory: queues, topics, tokens, the audit log, R2's rules and the clock. */
export type Account = DirectoryRpc &
  TopicsRpc &
  TokensRpc &
  AuditRpc &
  R2Rpc &
  DirectoryClock &
  AlarmedObject;

/** Makes the directory for the gateway. Each call gets a new stub, because a stub belongs to one request. */
export function accountOf({ SLUICE_DIRECTORY: namespace }: BrokerEnv): Account {
  return new Proxy({} as Account, {
    get:
      (_, method) =>
      (...args: readonly unknown[]) => {
        const directory = namespace.get(namespace.idFromName(DIRECTORY_NAME));
        return Reflect.apply(Reflect.get(directory, method), directory, args);
      },
  });
}
