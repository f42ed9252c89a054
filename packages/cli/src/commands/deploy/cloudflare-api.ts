import { CliError } from "@sluice/project/errors";
import type { TextBinding } from "@sluice/project/register/register";
import { isPassingStatus, PassingFailure, PLAN_TRIES, patiently } from "../patience.ts";
import { type Credentials, type NamedAccount, refusalHint } from "./account.ts";

const API_URL = "https://api.cloudflare.com/client/v4";
/** Codes of Cloudflare's API for a Worker that is not there: a script, and a service. */
const UNKNOWN_WORKER = [10_007, 10_090];
/** Code for an earlier version whose secrets are not those of the live one. */
const CHANGED_SECRETS = 10_220;
/** Time limit of one try, in ms. */
const PATIENCE_MS = 60_000;

/** Credentials, account and address for calls of Cloudflare's API. */
export interface Access extends Credentials {
  /** `null` where neither the environment nor a configuration names it. */
  readonly named: NamedAccount | null;
  /** Default: Cloudflare's own address. */
  readonly apiUrl?: string;
  /** Time limit of one try, in ms. Default: 60,000. */
  readonly patienceMs?: number;
  /** Waits for some ms before another try. Default: by the system's clock. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** A version of a Worker. */
export interface Version {
  readonly id: string;
  /** Tag and message that `wrangler deploy --tag` and `--message` gave the version. */
  readonly tag: string | null;
  readonly message: string | null;
  /** Cause of the version: "upload", or "secret" for a change of secrets alone. */
  readonly trigger: string | null;
  /** Time of the upload, as ISO 8601. */
  readonly createdOn: string;
}

export interface VersionWithBindings extends Version {
  readonly bindings: readonly TextBinding[];
  readonly services: readonly string[];
}

/** Names the secrets that an earlier version of a Worker has in another form than the live one. */
export class ChangedSecrets extends CliError {
  readonly secrets: string;

  /** @param text Cloudflare's error, which ends with the names. */
  constructor(text: string) {
    super(text);
    this.secrets = /secrets have changed: *(.+)$/s.exec(text)?.[1]?.trim() || "their names are not known";
  }
}

/** Reads the state of an account, and deploys earlier versions. Everything else is changed by Wrangler. */
export class CloudflareApi {
  readonly #access: Access;
  #account: string | null;

  constructor(access: Access) {
    this.#access = access;
    this.#account = access.named?.id ?? null;
  }

  /**
   * Returns the id of the account.
   *
   * @throws CliError where nothing names the account and the login opens none, or several.
   */
  async account(): Promise<string> {
    this.#account ??= await this.#onlyAccount();
    return this.#account;
  }

  /**
   * Lists the ids of the versions that got a Worker's requests, the newest last; `null` for no such Worker. Cloudflare
   * lists the last 10 deployments, and no earlier ones.
   */
  deployed(worker: string): Promise<string[] | null> {
    return this.#script(worker, "deployments", ({ deployments }: { deployments: DeploymentAnswer[] }) => {
      const ordered = deployments.toSorted((a, b) => a.created_on.localeCompare(b.created_on));
      // Of a deployment to several versions, the one with the largest share of requests counts.
      return ordered.flatMap(({ versions }) => mostUsed(versions)?.version_id ?? []);
    });
  }

  /** Lists the versions of a Worker that can be deployed, which are the last 100. Without that filter they are 10. */
  async versions(worker: string): Promise<Version[]> {
    const read = ({ items }: { items: VersionAnswer[] }) => items.map(versionOf);
    return (await this.#script(worker, "versions?deployable=true", read)) ?? [];
  }

  /** Reads a version, with its bindings and the names of the Workers that its service bindings lead to. */
  async version(worker: string, id: string): Promise<VersionWithBindings> {
    const version = await this.#script(worker, `versions/${id}`, (answer: VersionAnswer) => {
      const bindings = answer.resources?.bindings ?? [];
      const services = bindings.flatMap(({ service }) => service ?? []);
      return { ...versionOf(answer), bindings, services: [...new Set(services)] };
    });
    if (version === null) throw new CliError(`Cloudflare has no version ${id} of "${worker}" (any more).`);
    return version;
  }

  /**
   * Gives all requests of a Worker to an earlier version. Wrangler would answer the question about changed secrets with
   * yes by itself, where it cannot ask.
   *
   * @param force go back also to other secrets.
   * @throws ChangedSecrets where the version has other secrets than the live one.
   */
  async deployAgain(worker: string, version: string, message: string, force: boolean): Promise<void> {
    const body = {
      strategy: "percentage",
      versions: [{ version_id: version, percentage: 100 }],
      annotations: { "workers/message": message },
    };
    const path = `deployments${force ? "?force=true" : ""}`;
    const isDone = await this.#script(worker, path, () => true, body);
    if (isDone === null) throw new CliError(`"${worker}" is not on the account (any more).`);
  }

  /** Returns the tag of the last migration of a Worker's Durable Object classes; `null` where it has none. */
  async migrationTag(worker: string): Promise<string | null> {
    const read = ({ default_environment: { script } }: ServiceAnswer) => script.migration_tag ?? null;
    return this.#call(`/workers/services/${encodeURIComponent(worker)}`, read);
  }

  /** Returns the address of a Worker below workers.dev; `null` where it has none. */
  async address(worker: string): Promise<string | null> {
    const read = ({ enabled }: { enabled: boolean }) => enabled === true;
    if ((await this.#script(worker, "subdomain", read)) !== true) return null;
    const name = await this.subdomain();
    return name === null ? null : `https://${worker}.${name}.workers.dev`;
  }

  /** Returns the account's name below workers.dev; `null` where it has none. */
  async subdomain(): Promise<string | null> {
    const read = ({ subdomain }: { subdomain?: string | null }) => subdomain || null;
    return this.#call("/workers/subdomain", read);
  }

  /** Lists the names of the Workers that are bound to a Worker, without its own. */
  async boundTo(worker: string): Promise<string[]> {
    const bound = await this.#script(worker, "references", (answer: ReferencesAnswer) => {
      const services = (answer.services?.incoming ?? []).map(({ service }) => service);
      const objects = (answer.durable_objects ?? []).map(({ service }) => service);
      return [...new Set([...services, ...objects])].filter((name) => name !== worker).sort();
    });
    return bound ?? [];
  }

  /** Returns the name of the Worker that answers at a custom domain; `null` where no Worker does. */
  async domainOwner(hostname: string): Promise<string | null> {
    const path = `/workers/domains?hostname=${encodeURIComponent(hostname)}`;
    return this.#call(path, (found: { hostname: string; service: string }[]) => {
      return found.find((one) => one.hostname === hostname)?.service ?? null;
    });
  }

  /** @param body sent by POST. Default: a GET. */
  #script<A, T>(worker: string, path: string, read: (result: A) => T, body?: object): Promise<T | null> {
    return this.#call(`/workers/scripts/${encodeURIComponent(worker)}/${path}`, read, body);
  }

  /** Calls a path below the account; returns `null` where the Worker is not there. */
  async #call<A, T>(path: string, read: (result: A) => T, body?: object): Promise<T | null> {
    return this.#ask(`/accounts/${await this.account()}${path}`, read, body);
  }

  /** @throws CliError where the credentials open no account, or several. */
  async #onlyAccount(): Promise<string> {
    const read = (list: { id: string; name: string }[]) => list.map(({ id, name }) => ({ id, name }));
    const accounts = (await this.#ask("/accounts", read)) ?? [];
    const [only, another] = accounts;
    if (only !== undefined && another === undefined) return only.id;
    const lines = accounts.map(({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id}  ${name}`);
    throw new CliError(
      only === undefined
        ? "The login opens no account of Cloudflare."
        : `The login opens several accounts. Say which one is meant:\n${lines.join("\n")}`,
    );
  }

  /**
   * Sends a request and reads the result; returns `null` for a Worker that is not there. Failures that may pass are
   * retried, since a deployment would otherwise stop halfway. To deploy a version twice does no harm.
   *
   * @param read reads the result. A `TypeError` that it throws means that the answer has another form.
   */
  #ask<A, T>(path: string, read: (result: A) => T, body?: object): Promise<T | null> {
    const { wait } = this.#access;
    const patience = { tries: PLAN_TRIES, note: () => {}, ...(wait === undefined ? {} : { wait }) };
    return patiently(patience, () => this.#askOnce(path, read, body));
  }

  async #askOnce<A, T>(path: string, read: (result: A) => T, body?: object): Promise<T | null> {
    const call = `${body === undefined ? "GET" : "POST"} ${path}`;
    const { status, text } = await this.#fetch(call, path, body);
    const answer = parsed<A>(text);
    if (answer?.success === true) {
      try {
        return read(answer.result);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        throw new CliError(
          `Cloudflare answers ${call} in a form that Sluice does not know. Run the same command again, or with ` +
            "the latest Sluice.",
        );
      }
    }
    const [error] = answer?.errors ?? [];
    if (error !== undefined && UNKNOWN_WORKER.includes(error.code)) return null;
    if (error?.code === CHANGED_SECRETS) throw new ChangedSecrets(error.message);
    const said = error === undefined ? `status ${status}` : `${error.message} [code: ${error.code}]`;
    const hint = refusalHint({ code: error?.code, status }, this.#access, this.#access.named);
    const refused = `Cloudflare refuses ${call}: ${said}${hint}`;
    throw isPassingStatus(status) ? new PassingFailure(refused) : new CliError(refused);
  }

  /** @throws PassingFailure where no answer comes, or not all of it in time. */
  async #fetch(call: string, path: string, body: object | undefined): Promise<ApiAnswer> {
    const { headers, apiUrl = API_URL, patienceMs = PATIENCE_MS } = this.#access;
    try {
      const response = await fetch(`${apiUrl}${path}`, {
        ...(body === undefined
          ? { headers }
          : {
              method: "POST",
              headers: { ...headers, "content-type": "application/json" },
              body: JSON.stringify(body),
            }),
        // A redirect would take the token elsewhere.
        redirect: "manual",
        signal: AbortSignal.timeout(patienceMs),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const why = error.name === "TimeoutError" ? `nothing within ${patienceMs / 1_000} s` : causeOf(error);
      throw new PassingFailure(`Cloudflare does not answer ${call}: ${why}.`);
    }
  }
}

interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

interface ApiEnvelope<T> {
  readonly success: boolean;
  readonly errors?: readonly { readonly code: number; readonly message: string }[];
  readonly result: T;
}

interface VersionAnswer {
  readonly id: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata: { readonly created_on: string };
  readonly resources?: { readonly bindings?: readonly (TextBinding & { readonly service?: string })[] };
}

interface DeploymentAnswer {
  readonly created_on: string;
  readonly versions: readonly Share[];
}

interface Share {
  readonly version_id: string;
  readonly percentage: number;
}

interface ServiceAnswer {
  readonly default_environment: { readonly script: { readonly migration_tag?: string } };
}

interface ReferencesAnswer {
  readonly services?: { readonly incoming?: readonly { readonly service: string }[] };
  readonly durable_objects?: readonly { readonly service: string }[];
}

function versionOf({ id, annotations, metadata }: VersionAnswer): Version {
  const {
    "workers/tag": tag = null,
    "workers/message": message = null,
    "workers/triggered_by": trigger = null,
  } = annotations ?? {};
  return { id, tag, message, trigger, createdOn: metadata.created_on };
}

function mostUsed(shares: readonly Share[]): Share | undefined {
  return shares.toSorted((a, b) => b.percentage - a.percentage)[0];
}

function parsed<T>(text: string): ApiEnvelope<T> | null {
  try {
    return JSON.parse(text) as ApiEnvelope<T>;
  } catch {
    return null;
  }
}

function causeOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}
