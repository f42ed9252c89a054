import type { QueueTopology } from "@sluice/protocol";
import { afterAll, beforeAll } from "vitest";
import type { Account } from "./account.ts";
import { type Cloudflare, startCloudflare } from "./api.ts";
import { fakeWrangler } from "./fake-wrangler.ts";
import { type Kind, Repository } from "./repository.ts";

/** Accounts on the stand-in of Cloudflare's API, with repositories that deploy to them by a fake Wrangler. */
export class Cloud implements AsyncDisposable {
  readonly cloudflare: Cloudflare;
  readonly #repositories: Repository[] = [];
  #kind: Kind = "wrangler.toml";
  /** Called before each bundle and each change of an account. An error that it throws ends the command. */
  before: (command: string, worker: string) => void | Promise<void> = () => {};

  private constructor(cloudflare: Cloudflare) {
    this.cloudflare = cloudflare;
    cloudflare.holds = (call) => {
      const [, worker] = /^POST scripts\/(.+)\/deployments$/.exec(call) ?? [];
      return worker === undefined ? undefined : Promise.resolve(this.before("rollback", worker));
    };
  }

  static async start(): Promise<Cloud> {
    return new Cloud(await startCloudflare());
  }

  /** Gives the Workers of all tests of a `describe` a kind of configuration. Call it there. */
  configuredBy(kind: Kind): void {
    beforeAll(() => {
      this.#kind = kind;
    });
    afterAll(() => {
      this.#kind = "wrangler.toml";
    });
  }

  /** Calls a function once, before the first bundle or change by this command for this Worker. */
  beforeFirst(command: string, worker: string, act: () => unknown): void {
    this.before = async (...next) => {
      if (next[0] !== command || next[1] !== worker) return;
      this.before = () => {};
      await act();
    };
  }

  /** The first account. */
  get account(): Account {
    return this.cloudflare.account;
  }

  /** Makes a new checkout without Workers, with this name in its `package.json`. */
  repository(name: string, env: NodeJS.ProcessEnv = {}, kind = this.#kind): Repository {
    const start = fakeWrangler(this.cloudflare, (command, worker) => this.before(command, worker));
    const repository = new Repository(name, { ...this.cloudflare.env, ...env }, start, kind);
    this.#repositories.push(repository);
    return repository;
  }

  /**
   * A project whose `mailer` consumes what its `web` sends.
   *
   * @param more further lines of each configuration. Default: none.
   */
  shop(more = "", env: NodeJS.ProcessEnv = {}): Repository {
    const made = this.repository("shop", env);
    made.worker("web", { sends: "mails", more });
    made.worker("mailer", { consumes: "mails", more });
    return made;
  }

  /** Makes the project of `shop` and deploys it. */
  async deployedShop(more = "", env: NodeJS.ProcessEnv = {}): Promise<Repository> {
    const project = this.shop(more, env);
    await project.run("deploy", ["web", "mailer"]);
    return project;
  }

  /** Names of the Workers that a broker is bound to. */
  bound(broker = "sluice", account = this.account): string[] {
    return account.live(broker).bindings.flatMap(({ service }) => service ?? []);
  }

  /** Queues that a broker is deployed with. */
  topologyOf(broker: string, account = this.account): QueueTopology {
    return JSON.parse(account.live(broker).modules["topology.json"] ?? "{}") as QueueTopology;
  }

  /** Deploys a version as another tool does. */
  deployByHand(
    name: string,
    metadata: Parameters<Account["upload"]>[1] = {},
    account = this.account,
  ): string {
    const { id } = account.upload(name, metadata, { "index.js": "" });
    account.deploy(name, [{ version_id: id, percentage: 100 }], {});
    return id;
  }

  /** Changes a secret of a Worker on the first account, which makes another version of the same code. */
  changeSecret(name: string, text = "changed"): void {
    this.account.putSecret(name, "API_KEY", text);
  }

  /** Empties the accounts and removes the checkouts. */
  clear(): void {
    for (const { scripts } of this.cloudflare.accounts.values()) scripts.clear();
    for (const repository of this.#repositories.splice(0)) repository[Symbol.dispose]();
    this.before = () => {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.clear();
    await this.cloudflare[Symbol.asyncDispose]();
  }
}
