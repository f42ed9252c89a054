import type { DirectoryClock } from "@sluice/broker";
import type { BrokerClock, ComingMoment } from "@sluice/gateway";
import { ALERTS_QUEUE, type ClockSetting, type QueueClockRpc, shardOf } from "@sluice/protocol";
import { orLogged } from "./or-logged.ts";

interface ClockPorts {
  readonly directory: DirectoryClock;
  /** Lists all objects of queues and topics: of a queue with shards each of them. */
  names(): Promise<readonly string[]>;
  objectOf(name: string): Pick<QueueClockRpc, "setClock" | "nextMoment">;
}

/**
 * Makes the clock of a broker in development: the directory stores its setting, and every queue gets it. A queue whose
 * call fails is left out, and gets the next change.
 */
export function brokerClockOf({ directory, ...ports }: ClockPorts): BrokerClock {
  const apply = async (setting: ClockSetting) => {
    const names = await ports.names();
    await Promise.all(
      names.map((name) => orLogged(name, "told the clock", ports.objectOf(name).setClock(name, setting))),
    );
    return setting;
  };
  return {
    read: () => directory.clock(),
    advance: async (ms) => apply(await directory.advanceClock(ms)),
    freeze: async (isFrozen) => apply(await directory.freezeClock(isFrozen)),
    next: async (queue) => {
      // Alerts that wait for their webhook are in a queue of the broker's own, which no user waits for.
      const names = (await ports.names()).filter((name) => name !== ALERTS_QUEUE);
      const asked = await Promise.all(
        names.map(async (name): Promise<ComingMoment[]> => {
          const next = await orLogged(
            name,
            "asked for its next moment",
            ports.objectOf(name).nextMoment(name),
          );
          return next === null ? [] : [{ queue: shardOf(name).queue, ...next }];
        }),
      );
      const all = asked.flat();
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
