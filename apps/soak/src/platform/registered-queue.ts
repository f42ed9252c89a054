import {
  applyConfiguration,
  type ConfigurableQueue,
  createIfAbsent,
  ensureQueue,
  isOfDeleted,
  knownFrom,
  type QueueCore,
  type QueueStatus,
  Registration,
  writeRecord,
} from "@sluice/broker/testing";
import type { QueueDefinition, QueueRecord } from "@sluice/protocol";
import type { DirectoryBug } from "../planted/planted-bug.ts";
import type { DirectoryObject } from "./directory-object.ts";
import type { Epoch } from "./epoch.ts";
import type { QueueObject, Registered } from "./queue-object.ts";

/** Between two looks whether a queue has a turn under way, in ms. */
const LOOK_AGAIN_MS = 1;

/** Definition of a queue that does not exist. */
const ABSENT: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: 345_600,
  producers: [],
  consumer: null,
};

/**
 * The part of a queue's object that has to do with the directory: what it is, by what it has been told. The decisions
 * are the broker's; what `QueueBroker` and `openQueue` do about them is written here once more.
 */
export class RegisteredQueue implements Registered {
  readonly #queue: QueueObject;
  readonly #directory: DirectoryObject;

  constructor(queue: QueueObject, directory: DirectoryObject) {
    this.#queue = queue;
    this.#directory = directory;
  }

  /** Record that the running object goes by; `null` for a queue that does not exist, or whose object does not run. */
  get record(): QueueRecord | null {
    return this.#queue.epoch?.registration?.record ?? null;
  }

  /** Whether the running object knows that there is no such queue. */
  get isAbsent(): boolean {
    const { epoch } = this.#queue;
    return epoch?.registration != null && epoch.registration.definition === undefined;
  }

  /**
   * Opens the queue as `openQueue` does: asks the directory for its status, and begins with that or with the copy on
   * disk.
   */
  open(epoch: Epoch): void {
    const { disk, name } = this.#queue;
    const copy = disk.readRecord();
    const begin = (answer: QueueStatus | null) => {
      if (epoch.isAlive) this.#begin(epoch, copy, answer);
    };
    this.#directory.ask((_object, directory) => directory.opened(name, copy)).then(begin, () => begin(null));
  }

  #begin(epoch: Epoch, copy: QueueRecord | null, answer: QueueStatus | null): void {
    const queue = this.#queue;
    const { world } = queue;
    queue.isTouched = true;
    const known = knownFrom(answer, copy, undefined);
    world.note("queue learns what it is", queue.name, known?.kind === "known" ? known.record.revision : 0);
    if (known === null) {
      queue.evict();
      return;
    }
    const isLeft = copy !== null && isOfDeleted(copy, known) && this.#bug !== "keepsDeleted";
    if (isLeft) queue.forget(copy.revision);
    epoch.registration = new Registration(known);
    if (this.#bug === "goesBack") epoch.registration.isOutdated = () => false;
    this.#goBy();
    queue.load(epoch);
    const { core } = epoch;
    if (core === null) return;
    if (copy !== null) core.delayWas(copy.definition.deliveryDelaySeconds);
    epoch.opened();
  }

  /** The directory says what the queue is: what `QueueBroker.configure` does. */
  configure(record: QueueRecord): Promise<void> {
    return this.#whenIdle(async (core) => {
      const configurable = this.#configurable(core);
      const isDropped = this.#bug === "dropsAlways" && !configurable.registration.isOutdated(record);
      const beginAgain = async () => {
        if (this.#bug === "keepsDeleted") return configurable.adopt(record);
        this.#queue.drop(this.record?.revision ?? 0);
        this.#queue.start();
      };
      if (isDropped) await beginAgain();
      else await applyConfiguration(configurable, record, beginAgain);
    });
  }

  /** The directory says that the queue was deleted: what `QueueBroker.clear` does. */
  clear(revision: number): Promise<void> {
    return this.#whenIdle(async (core) => {
      const isCleared = this.#configurable(core).registration.deleted(revision);
      if (isCleared && this.#bug !== "keepsDeleted") this.#queue.drop(this.record?.revision ?? 0);
    });
  }

  /** Before messages of another queue are taken: a queue that does not exist is created. */
  async ensure(core: QueueCore): Promise<void> {
    const { name } = this.#queue;
    await createIfAbsent(this.#configurable(core), () =>
      this.#directory.ask(async ({ registry }, directory) =>
        directory.transaction(() => ensureQueue(registry, name, null)),
      ),
    );
  }

  get #bug(): DirectoryBug | undefined {
    return this.#queue.world.bug?.directory;
  }

  #configurable(core: QueueCore): ConfigurableQueue {
    const { disk, epoch } = this.#queue;
    const registration = epoch?.registration;
    if (registration == null) throw new Error("the object has ended");
    return {
      core,
      registration,
      store: disk,
      adopt: async (record) => {
        const adopted = core.reconfigure(
          () => {
            registration.set(record);
            this.#goBy();
          },
          () => writeRecord(registration, disk),
        );
        if (this.#bug === "confirmsUnstored") adopted.catch(() => {});
        else await adopted;
      },
      keep: () => core.submit(() => core.write(() => writeRecord(registration, disk))),
    };
  }

  #goBy(): void {
    this.#queue.settings.change(this.#queue.epoch?.registration?.definition ?? ABSENT);
  }

  /** A call arrives whose work has to have a turn of its own: what others of the turn went by could not be told. */
  #whenIdle(work: (core: QueueCore) => Promise<void>): Promise<void> {
    const queue = this.#queue;
    return queue.callObject(async (core) => {
      const { disk } = queue;
      // Calls that waited with it until the queue was open have not come as far as to their turn.
      do {
        if (!core.isCaughtUp) void core.wake();
        await queue.world.loop.sleep(LOOK_AGAIN_MS);
        queue.isTouched = true;
        if (queue.disk !== disk) throw new Error("the object has ended");
      } while (disk.durableVersion !== disk.committedVersion || !core.isCaughtUp);
      await work(core);
    });
  }
}
