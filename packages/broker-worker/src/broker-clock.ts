import type { DirectoryClock } from "@sluice/broker";
import type { BrokerClock, ComingMoment } from "@sluice/gateway";
import type { ClockSetting, QueueClockRpc } from "@sluice/protocol";

interface ClockPorts {
  readonly directory: DirectoryClock;
  names(): Promise<readonly string[]>;
  queueOf(name: string): Pick<QueueClockRpc, "setClock" | "nextMoment">;
}

/** Makes the clock of a broker in development: the directory stores it, and every queue gets it. */
export function brokerClockOf({ directory, ...ports }: ClockPorts): BrokerClock {
  const tell = async (setting: ClockSetting) => {
    const names = await ports.names();
    await Promise.all(names.map((name) => ports.queueOf(name).setClock(name, setting)));
    return setting;
  };
  return {
    read: () => directory.clock(),
    advance: async (ms) => tell(await directory.advanceClock(ms)),
    freeze: async (isFrozen) => tell(await directory.freezeClock(isFrozen)),
    next: async (queue) => {
      const names = queue === null ? await ports.names() : [queue];
      const moments = await Promise.all(
        names.map(async (name): Promise<ComingMoment> => {
          return { queue: name, ...(await ports.queueOf(name).nextMoment(name)) };
        }),
      );
      const busy = moments.filter(({ isBusy }) => isBusy).map((moment) => moment.queue);
      const [first = null] = moments
        .filter(({ atMs }) => atMs !== null)
        .sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0));
      return { first, busy };
    },
  };
}
