import type { DirectoryClock } from "@sluice/broker";
import type { BrokerClock, ComingMoment } from "@sluice/gateway";
import { ALERTS_QUEUE, type ClockSetting, type QueueClockRpc, shardOf } from "@sluice/protocol";

interface ClockPorts {
  readonly directory: DirectoryClock;
  /** Lists all objects of queues and topics: of a queue with shards each of them. */
  names(): Promise<readonly string[]>;
  objectOf(name: string): Pick<QueueClockRpc, "setClock" | "nextMoment">;
}

/** Makes the clock of a broker in development: the directory stores it, and every queue gets it. */
export function brokerClockOf({ directory, ...ports }: ClockPorts): BrokerClock {
  const tell = async (setting: ClockSetting) => {
    const names = await ports.names();
    await Promise.all(names.map((name) => ports.objectOf(name).setClock(name, setting)));
    return setting;
  };
  return {
    read: () => directory.clock(),
    advance: async (ms) => tell(await directory.advanceClock(ms)),
    freeze: async (isFrozen) => tell(await directory.freezeClock(isFrozen)),
    next: async (queue) => {
      // What waits for the webhook of alerts is the broker's own, and nobody waits for it.
      const names = (await ports.names()).filter((name) => name !== ALERTS_QUEUE);
      const all = await Promise.all(
        names.map(async (name): Promise<ComingMoment> => {
          return { queue: shardOf(name).queue, ...(await ports.objectOf(name).nextMoment(name)) };
        }),
      );
      const moments = all.filter((moment) => queue === null || moment.queue === queue);
      const busy = new Set(moments.filter(({ isBusy }) => isBusy).map((moment) => moment.queue));
      const [first = null] = moments
        .filter(({ atMs }) => atMs !== null)
        .sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0));
      // The clock is that of all queues, whichever one it is moved for.
      const [expiring = null] = all
        .flatMap(({ queue, expiresAtMs }) =>
          expiresAtMs === undefined ? [] : [{ queue, atMs: expiresAtMs }],
        )
        .sort((a, b) => a.atMs - b.atMs);
      return { first, busy: [...busy], expiring };
    },
  };
}
