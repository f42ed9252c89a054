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

/** Which broker a link leads to. */
interface LinkPlace {
  /** The data folder; `null` for one that is deleted with the link. Absolute. */
  readonly data: string | null;
  /** The environment, "" for the top level. */
  readonly env: string;
}

const COMMAND = "getPlatformProxy";
/** How often a link looks whether the process that has its broker was killed. One that ends says so. */
const VACANCY_EVERY_MS = 1_000;

/** How long calls may take to finish before the runtime is started anew, in ms. */
const CALLS_MS_MAX = 5_000;

/**
 * This process's way to the broker of a data folder. Whoever came first to that folder runs the broker: a `sluice dev`,
 * a link of another process, or this one, which also takes it over when that process ends. A process has one link to
 * a folder, however many proxies use it.
 */
export class BrokerLink {
  static readonly #links = new Map<string, BrokerLink>();
  /** Ends of links that have a folder still. */
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
  /** Project that the broker of this process has been told of; `null` while another process has the broker. */
  #project: Project | null = null;
  #lastEnd: End = "planned";
  #updates: Promise<void> = Promise.resolve();
  #unregister = () => {};
  /** Those that have no answer yet. */
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

  /** A queue's Durable Object. A send waits for a broker that is on its way from another process to this one. */
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

  /** Gives the link back; the last one to do so ends it. A broker of this process goes to who else uses it then. */
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
   * Ends the broker of this process, and sends from then on are refused: the data may be another one's now. The program
   * is the user's, and goes on.
   */
  readonly #onLost = (error: DataLostError) => {
    console.error(`Sluice: ${error.message}`);
    // What an update starts meanwhile is ended when that is done.
    void Promise.all([this.#runtime.end(), this.#close()]);
  };

  readonly #onExit = () => {
    this.#announceEnd();
    this.#leave();
  };

  #announceEnd(): void {
    if (this.#project !== null) announceEnd(this.#data, { warn: (text) => console.warn(text) });
  }

  /** Gives the folder free, and then tells the others, who come for it. */
  #leave(): void {
    this.#unregister();
    // There may be a new data folder for each run. Another process that takes this one generates it anew.
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

  /** As `sluice dev` does: what cannot be used is reported, and what ran goes on. */
  #updateLater(): void {
    this.#inTurn(() => this.#update()).catch((error: unknown) => {
      console.warn(`Sluice: ${error instanceof Error ? error.message : error}`);
    });
  }

  /** Takes up what has changed: who has the broker, which Workers run, what their files say. */
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
      if (before !== "own") this.#lastEnd = lastEndIn(this.#data);
      await this.#stacks.listening();
      const own = await generateLinkBroker(project, {
        data: this.#data,
        lastEnd: this.#lastEnd,
        stacks: this.#stacks,
      });
      await this.#run({ broker, own, resources });
      watchKept(this.#data, broker);
      // It is this process that ends it from now on.
      this.#lastEnd = "planned";
      this.#project = project;
      forgetPlannedEnd(this.#data);
      this.#announce(senders, modules, broker);
      await this.#tellWhereItIs(broker, project);
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

  /** Lets calls finish that a runtime with other options would cut off. Those that come now wait for it. */
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

  /** Commands find the broker, and queues that have messages and a new consumer go on. */
  async #tellWhereItIs(broker: string, project: Project): Promise<void> {
    const url = await this.#runtime.brokerUrl(broker);
    if (url === null) return;
    this.#unregister();
    const folders = [...new Set([process.cwd(), ...[...this.#senders.keys()].map((file) => dirname(file))])];
    this.#unregister = registerBroker(process.env, { command: COMMAND, url, data: this.#data, folders });
    this.#waker.wake(url, project.topology);
  }
}

/** `null` for a link that no other proxy shares. */
function keyOf({ data, env }: LinkPlace): string | null {
  return data === null ? null : JSON.stringify([data, env]);
}
