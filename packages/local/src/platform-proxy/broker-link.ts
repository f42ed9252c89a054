/// <reference path="../../../producer/queue-types.d.ts" />
import { mkdtempSync, realpathSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { ReadModules } from "@sluice/config";
import type { ProducerBroker } from "@sluice/producer";
import { removePath } from "@sluice/project/folders";
import type { Project } from "@sluice/project/read/project";
import { wranglerVersion } from "@sluice/project/wrangler/load-wrangler";
import { QueueWaker } from "../broker/wake-queues.ts";
import { BrokerOwnership } from "../data/broker-ownership.ts";
import { dataFolderOf } from "../data/data-folder.ts";
import { type DataLostError, RESOURCES_FOLDER, watchKept } from "../data/data-lock.ts";
import { announceEnd, type End, forgetPlannedEnd, lastEndIn } from "../data/planned-end.ts";
import { type FileWatch, watchFiles } from "../generation/watch.ts";
import { HostService } from "../http/host-service.ts";
import { entryName } from "../processes/registry.ts";
import { registerBroker } from "../processes/running-brokers.ts";
import { sessionsOf } from "../processes/sessions.ts";
import { MapsOnDisk } from "../stacks/maps-on-disk.ts";
import { stackNamer } from "../stacks/named-stack.ts";
import { sourceFinder } from "../stacks/stack-frames.ts";
import { generateLinkBroker, linkBrokerFolder, readSenders } from "./link-broker.ts";
import { LinkRuntime, type LinkRuntimeOptions } from "./link-runtime.ts";

/** Identifies the broker that a link leads to. */
interface LinkPlace {
  /** The data folder; `null` for one that is deleted with the link. Absolute. */
  readonly data: string | null;
  /** The environment, "" for the top level. */
  readonly env: string;
}

const COMMAND = "getPlatformProxy";
/** How often a link checks whether the process that runs its broker was killed. Other ends are announced. */
const VACANCY_EVERY_MS = 1_000;

/** How long calls may take to finish before the runtime is restarted or ended, in ms. */
const CALLS_MS_MAX = 5_000;

/**
 * Leads this process to the broker of a data folder. The process that took the folder first runs the broker: a
 * `sluice dev`, a link of another process, or this link, which also takes the broker over when that process ends. A
 * process has one link to a folder and environment, however many proxies use it.
 */
export class BrokerLink {
  static readonly #links = new Map<string, BrokerLink>();
  /** Ends of links that are still releasing their folder. */
  static readonly #ends = new Map<string, Promise<void>>();
  static #count = 0;

  /** Configuration files of the Workers that are sent for, and how many proxies use each. */
  readonly #senders = new Map<string, number>();
  readonly #place: LinkPlace;
  readonly #data: string;
  readonly #part = `${COMMAND}-${BrokerLink.#count++}`;
  readonly #sessions = sessionsOf(process.env);
  readonly #startedAtMs = Date.now();
  readonly #runtime = new LinkRuntime();
  readonly #waker = new QueueWaker();
  readonly #stacks = new HostService(stackNamer(sourceFinder(new MapsOnDisk()), process.cwd()));
  readonly #watch: FileWatch;
  readonly #vacancy: NodeJS.Timeout;
  #ownership: BrokerOwnership | null = null;
  /** Project that the broker of this process runs with; `null` while another process runs the broker. */
  #project: Project | null = null;
  #lastEnd: End = "planned";
  #updates: Promise<void> = Promise.resolve();
  #unregister = () => {};
  /** Calls that have no answer yet. They never reject. */
  readonly #calls = new Set<Promise<void>>();
  #isClosed = false;

  private constructor(place: LinkPlace) {
    this.#place = place;
    this.#data = place.data ?? mkdtempSync(join(realpathSync(tmpdir()), "sluice-proxy-"));
    this.#watch = watchFiles(
      () => this.#updateLater(),
      (text) => console.warn(text),
      (folder, onEvent) => watch(folder, onEvent).unref(),
    );
    this.#vacancy = setInterval(() => {
      if (this.#ownership?.isVacant) this.#updateLater();
    }, VACANCY_EVERY_MS).unref();
    process.once("exit", this.#onExit);
  }

  /**
   * Reaches the broker for the queues of a Worker.
   *
   * @param file the Worker's configuration. Absolute.
   * @throws CliError where a process that shares no broker has the data folder, and for files that cannot be used.
   */
  static async reach(file: string, place: LinkPlace): Promise<BrokerLink> {
    const key = keyOf(place);
    if (key !== null) await BrokerLink.#ends.get(key);
    const link = (key === null ? undefined : BrokerLink.#links.get(key)) ?? new BrokerLink(place);
    if (key !== null) BrokerLink.#links.set(key, link);
    link.#senders.set(file, (link.#senders.get(file) ?? 0) + 1);
    try {
      await link.#inTurn(() => link.#update());
      return link;
    } catch (error) {
      await link.release(file);
      throw error;
    }
  }

  /** Returns a queue's Durable Object. Its calls wait while this process takes the broker over. */
  getByName(queue: string): ProducerBroker {
    const call = async <T>(run: (broker: ProducerBroker) => Promise<T>) => {
      await this.#updates;
      const called = run(this.#runtime.queues.getByName(queue));
      const settled = called.then(
        () => {},
        () => {},
      );
      this.#calls.add(settled);
      settled.then(() => this.#calls.delete(settled));
      return called;
    };
    return {
      post: (...args) => call(async (broker) => broker.post(...args)),
      metrics: (...args) => call(async (broker) => broker.metrics(...args)),
    };
  }

  /** Releases the link for one proxy; the last one ends it. Another process that uses its broker takes it over then. */
  async release(file: string): Promise<void> {
    const count = (this.#senders.get(file) ?? 0) - 1;
    if (count > 0) this.#senders.set(file, count);
    else this.#senders.delete(file);
    if (this.#senders.size > 0) return;
    await this.#close();
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const key = keyOf(this.#place);
    const end = this.#end();
    if (key === null) return end;
    BrokerLink.#links.delete(key);
    const ended = end.catch(() => {}).finally(() => BrokerLink.#ends.delete(key));
    BrokerLink.#ends.set(key, ended);
    return end;
  }

  async #end(): Promise<void> {
    this.#watch.close();
    clearInterval(this.#vacancy);
    this.#waker.stop();
    this.#stacks.close();
    await this.#updates;
    await this.#callsSettled();
    this.#announceEnd();
    await this.#runtime.end();
    process.off("exit", this.#onExit);
    this.#leave();
  }

  /**
   * Ends the broker of this process, whose data another broker may have now. Later sends are refused. The process is
   * the user's program and goes on.
   */
  readonly #onLost = (error: DataLostError) => {
    console.error(`Sluice: ${error.message}`);
    // An update under way may start the runtime again: `#close` waits for it and ends that one.
    void Promise.all([this.#runtime.end(), this.#close()]);
  };

  readonly #onExit = () => {
    this.#announceEnd();
    this.#leave();
  };

  #announceEnd(): void {
    if (this.#project !== null) announceEnd(this.#data, { warn: (text) => console.warn(text) });
  }

  /** Releases the folder, and then removes the session, upon which other sessions try to take the folder. */
  #leave(): void {
    this.#unregister();
    // Each run may have a new data folder. A process that takes this one over generates the files again.
    if (this.#project !== null && this.#data !== dataFolderOf(this.#project, undefined)) {
      removePath(linkBrokerFolder(this.#project, this.#data));
    }
    this.#ownership?.leave();
    this.#sessions.leave({ pid: process.pid, part: this.#part });
    if (this.#place.data === null) removePath(this.#data);
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const done = this.#updates.then(run);
    this.#updates = done.catch(() => {});
    return done;
  }

  /** Updates after earlier updates. As in `sluice dev`, an error is reported, and the broker goes on as it was. */
  #updateLater(): void {
    this.#inTurn(() => this.#update()).catch((error: unknown) => {
      console.warn(`Sluice: ${error instanceof Error ? error.message : error}`);
    });
  }

  /** Takes up changes: of the broker's owner, of the Workers that run, and of their files. */
  async #update(): Promise<void> {
    if (this.#isClosed) return;
    const { env } = this.#place;
    const [first = ""] = this.#senders.keys();
    const before = this.#ownership?.owner.kind;
    if (this.#ownership === null) {
      const options = { data: this.#data, env, files: [], sessions: this.#sessions, onLost: this.#onLost };
      this.#ownership = await BrokerOwnership.open({
        ...options,
        command: COMMAND,
        wranglerVersion: wranglerVersion(),
      });
    } else {
      await this.#ownership.change();
    }
    const ownership = this.#ownership;
    // Before all that can fail: a later update must not take a crash for this process's own restart.
    if (ownership.isOwn && before !== "own") this.#lastEnd = lastEndIn(this.#data);
    const { brokerName } = ownership;
    const resources = join(this.#data, RESOURCES_FOLDER);
    const senders = [...this.#senders.keys()];
    const { project, modules, watched } = await readSenders({
      senders,
      env,
      brokerName,
      workingDirectory: dirname(first),
      sessions: this.#sessions,
      isUser: (session) => ownership.isUsedBy(session),
    });
    const broker = project.broker.name;
    if (ownership.owner.kind === "joined") {
      this.#announce(senders, modules, null);
      if (before !== "joined") await this.#run({ broker, own: null, resources });
    } else if (!isDeepStrictEqual(this.#project?.topology, project.topology)) {
      await this.#stacks.listening();
      const own = await generateLinkBroker(project, {
        data: this.#data,
        lastEnd: this.#lastEnd,
        stacks: this.#stacks,
      });
      await this.#run({ broker, own, resources });
      watchKept(this.#data, broker);
      // Later restarts of the broker are this process's own.
      this.#lastEnd = "planned";
      this.#project = project;
      forgetPlannedEnd(this.#data);
      this.#announce(senders, modules, broker);
      await this.#register(broker, project);
    }
    this.#watch.set([
      ...watched.map((path) => ({ kind: "file", path }) as const),
      {
        kind: "folder",
        path: this.#sessions.folder,
        except: entryName({ pid: process.pid, part: this.#part }),
      },
    ]);
  }

  /** Starts or restarts the runtime after the calls under way, which that would cut off. New calls wait. */
  async #run(options: LinkRuntimeOptions): Promise<void> {
    await this.#callsSettled();
    await this.#runtime.run(options);
  }

  async #callsSettled(): Promise<void> {
    await Promise.race([Promise.all(this.#calls), sleep(CALLS_MS_MAX, undefined, { ref: false })]);
  }

  #announce(senders: readonly string[], modules: ReadModules, broker: string | null): void {
    const { pid } = process;
    const { env } = this.#place;
    const self = { pid, part: this.#part, startedAtMs: this.#startedAtMs, env, files: [], senders, modules };
    this.#sessions.announce({ ...self, data: this.#data, broker });
  }

  /** Registers the broker for commands, and wakes queues whose messages have a new consumer. */
  async #register(broker: string, project: Project): Promise<void> {
    const url = await this.#runtime.brokerUrl(broker);
    if (url === null) return;
    this.#unregister();
    const folders = [...new Set([process.cwd(), ...[...this.#senders.keys()].map((file) => dirname(file))])];
    this.#unregister = registerBroker(process.env, { command: COMMAND, url, data: this.#data, folders });
    this.#waker.wake(url, project.topology);
  }
}

/** Returns the key under which proxies share a link; `null` for one that is not shared. */
function keyOf({ data, env }: LinkPlace): string | null {
  return data === null ? null : JSON.stringify([data, env]);
}
