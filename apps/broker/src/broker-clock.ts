import { type BrokerEnv, DIRECTORY_NAME, type DirectoryClock, type QueueBrokerObject } from "@sluice/broker";
import type { BrokerClock, ComingMoment } from "@sluice/gateway";
import type { ClockSetting } from "@sluice/protocol";

/** What the clock needs of the broker. */
interface ClockPorts {
  /** Names of all objects that messages wait in. */
  names(): Promise<readonly string[]>;
  objectOf(name: string): QueueBrokerObject;
}

/** The clock of a broker in development: the directory keeps it, and every queue is told. */
export function brokerClockOf({ SLUICE_DIRECTORY: namespace }: BrokerEnv, ports: ClockPorts): BrokerClock {
  const directory = () => namespace.get(namespace.idFromName(DIRECTORY_NAME)) as unknown as DirectoryClock;
  const tell = async (setting: ClockSetting) => {
    const names = await ports.names();
    await Promise.all(names.map((name) => ports.objectOf(name).setClock(name, setting)));
    return setting;
  };
  return {
    read: () => directory().clock(),
    advance: async (ms) => tell(await directory().advanceClock(ms)),
    freeze: async (isFrozen) => tell(await directory().freezeClock(isFrozen)),
    next: async (queue) => {
      const names = queue === null ? await ports.names() : [queue];
      const moments = await Promise.all(
        names.map(async (name): Promise<ComingMoment> => {
          return { queue: name, ...(await ports.objectOf(name).nextMoment(name)) };
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
