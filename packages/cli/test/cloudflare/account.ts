import { randomUUID } from "node:crypto";

/** Error with which Cloudflare refuses a call. */
export class Refused extends Error {
  readonly status: 400 | 403 | 404 | 409 | 412;
  readonly code: number;

  constructor(status: Refused["status"], code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Binding {
  readonly name: string;
  readonly type: string;
  readonly service?: string;
  readonly class_name?: string;
  readonly script_name?: string;
  readonly text?: string;
}

/** Fields of an upload's `metadata` that an account reads. */
export interface Metadata {
  readonly bindings?: readonly Binding[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Durable Object classes as they are, in the place of migrations. */
  readonly exports?: Readonly<Record<string, { readonly type: string; readonly storage?: string }>>;
  readonly migrations?: {
    readonly old_tag?: string;
    readonly new_tag: string;
    readonly steps: readonly { readonly new_sqlite_classes?: readonly string[] }[];
  };
}

export interface Version {
  readonly id: string;
  readonly number: number;
  readonly createdOn: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly bindings: readonly Binding[];
  readonly modules: Readonly<Record<string, string>>;
  readonly secrets: ReadonlyMap<string, string>;
}

export interface Deployment {
  readonly id: string;
  readonly createdOn: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly versions: readonly { readonly version_id: string; readonly percentage: number }[];
}

export interface Script {
  /** Number of bindings to this Worker that are still refused, as if it were not visible yet. */
  unseen: number;
  readonly versions: Version[];
  /** The newest first. */
  readonly deployments: Deployment[];
  readonly classes: Set<string>;
  /** Secrets of the live version. */
  secrets: Map<string, string>;
  migrationTag: string | null;
  subdomain: boolean;
  /** "dash" after an edit in the dashboard, "api" after an upload by a script. */
  lastDeployedFrom: "wrangler" | "dash" | "api";
}

/**
 * Stand-in for an account of Cloudflare with its Workers. It refuses what Cloudflare refuses: a binding to a Worker or
 * class that does not exist, a wrong migration, an unknown Worker, the deletion of a Worker that others are bound to.
 */
export class Account {
  readonly scripts = new Map<string, Script>();
  /** Number of bindings to a new Worker that are refused before it is visible. */
  lag = 0;
  #seconds = 0;

  find(name: string): Script {
    const script = this.scripts.get(name);
    if (script === undefined) {
      throw new Refused(404, 10_007, "This Worker does not exist on your account.");
    }
    return script;
  }

  /** Uploads a version. `PUT` of a script deploys it too. */
  upload(name: string, metadata: Metadata, modules: Readonly<Record<string, string>>): Version {
    const script = this.scripts.get(name) ?? emptyScript(this.lag);
    const classes = this.#migrate(script, metadata, modules);
    const bindings = metadata.bindings ?? [];
    for (const binding of bindings) this.#checkBinding(name, binding, classes);
    checkVariables(bindings);
    checkInherited(bindings, script);
    for (const binding of bindings) {
      if (binding.type === "secret_text") script.secrets.set(binding.name, binding.text ?? "");
    }
    for (const one of classes) script.classes.add(one);
    if (metadata.migrations !== undefined) script.migrationTag = metadata.migrations.new_tag;
    const version = {
      id: randomUUID(),
      number: script.versions.length + 1,
      createdOn: this.#now(),
      annotations: { "workers/triggered_by": "upload", ...metadata.annotations },
      bindings,
      modules,
      secrets: new Map(script.secrets),
    };
    script.versions.push(version);
    script.lastDeployedFrom = "wrangler";
    this.scripts.set(name, script);
    return version;
  }

  /** Sets a secret of a Worker, which makes another version of the same code. */
  putSecret(name: string, secret: string, text: string): void {
    this.find(name).secrets.set(secret, text);
    const { bindings, modules } = this.live(name);
    const annotations = { "workers/triggered_by": "secret" };
    const { id } = this.upload(name, { bindings, annotations }, modules);
    this.deploy(name, [{ version_id: id, percentage: 100 }], {});
  }

  deploy(name: string, versions: Deployment["versions"], annotations: Deployment["annotations"]): Deployment {
    const script = this.find(name);
    for (const { version_id } of versions) {
      if (!script.versions.some(({ id }) => id === version_id)) {
        throw new Refused(400, 10_021, `Version ${version_id} was not found.`);
      }
    }
    const deployment = { id: randomUUID(), createdOn: this.#now(), annotations, versions };
    script.deployments.unshift(deployment);
    return deployment;
  }

  /**
   * Deploys an earlier version, which has its secrets.
   *
   * @param force deploy it also where it has other secrets than the live version.
   */
  deployAgain(
    name: string,
    versions: Deployment["versions"],
    annotations: Deployment["annotations"],
    force: boolean,
  ): Deployment {
    const script = this.find(name);
    const { secrets } = script.versions.find(({ id }) => id === versions[0]?.version_id) ?? script;
    const changed = [...new Set([...script.secrets.keys(), ...secrets.keys()])].filter(
      (secret) => secrets.get(secret) !== script.secrets.get(secret),
    );
    if (changed.length > 0 && !force) {
      throw new Refused(
        400,
        10_220,
        `A secret is not what it was. Add ?force=true. The following secrets have changed: ${changed.join(", ")}`,
      );
    }
    const deployment = this.deploy(name, versions, annotations);
    script.secrets = new Map(secrets);
    return deployment;
  }

  remove(name: string, force: boolean): void {
    const script = this.find(name);
    if (!force) {
      const bound = this.boundTo(name);
      if (bound.length > 0) throw new Refused(409, 10_142, `${name} is used by ${bound.join(", ")}.`);
      if (script.classes.size > 0) {
        throw new Refused(403, 10_064, `${name} has Durable Objects; delete them, or use force.`);
      }
    }
    this.scripts.delete(name);
  }

  /** Lists the names of the other Workers whose live versions are bound to a Worker. */
  boundTo(name: string): string[] {
    return [...this.scripts.keys()].filter(
      (other) =>
        other !== name &&
        this.live(other).bindings.some((binding) => [binding.service, binding.script_name].includes(name)),
    );
  }

  /** The version of a Worker that gets all requests. */
  live(name: string): Version {
    const { versions, deployments } = this.find(name);
    const id = deployments[0]?.versions[0]?.version_id;
    const version = versions.find((one) => one.id === id);
    if (version === undefined) throw new Error(`nothing of ${name} is deployed`);
    return version;
  }

  #migrate(
    script: Script,
    { migrations, exports = {} }: Metadata,
    modules: Readonly<Record<string, string>>,
  ): Set<string> {
    const exported = exportsOf(modules);
    for (const one of script.classes) {
      if (!exported.has(one)) {
        const text =
          `New version of script does not export class '${one}' ` +
          "which is depended on by existing Durable Objects";
        throw new Refused(403, 10_064, text);
      }
    }
    const declared = Object.entries(exports).flatMap(([name, { type }]) =>
      type === "durable-object" ? [name] : [],
    );
    const classes = new Set([...script.classes, ...declared]);
    if (migrations === undefined) return classes;
    if ((migrations.old_tag ?? null) !== script.migrationTag) {
      const text =
        `Actor migration tag precondition failed, got tag '${migrations.old_tag ?? ""}' ` +
        `when expected tag is '${script.migrationTag ?? ""}'`;
      throw new Refused(412, 10_079, text);
    }
    for (const one of migrations.steps.flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes)) {
      if (classes.has(one)) {
        const text =
          `Cannot apply new-sqlite-class migration to class '${one}' ` +
          "that is already depended on by existing Durable Objects";
        throw new Refused(400, 10_074, text);
      }
      if (!exported.has(one)) {
        throw new Refused(
          400,
          10_070,
          `Cannot apply new-class migration to class '${one}' that is not exported by script`,
        );
      }
      classes.add(one);
    }
    return classes;
  }

  #checkBinding(name: string, binding: Binding, ownClasses: ReadonlySet<string>): void {
    if (
      binding.type === "service" &&
      binding.service !== undefined &&
      binding.service !== name &&
      !this.#isSeen(binding.service)
    ) {
      const text =
        `Service binding '${binding.name}' references Worker '${binding.service}' which was not found. ` +
        "Verify that the Worker exists in your account.";
      throw new Refused(400, 10_143, text);
    }
    if (binding.type !== "durable_object_namespace" || binding.class_name === undefined) return;
    const { class_name, script_name = name } = binding;
    if (script_name !== name && !this.#isSeen(script_name)) {
      throw new Refused(
        400,
        10_061,
        `Cannot create binding for class in script '${script_name}' that does not exist.`,
      );
    }
    const classes = script_name === name ? ownClasses : this.find(script_name).classes;
    if (!classes.has(class_name)) {
      const text =
        `Cannot create binding for class '${class_name}' ` +
        "because it is not currently configured to implement Durable Objects.";
      throw new Refused(400, 10_061, text);
    }
  }

  #isSeen(target: string): boolean {
    const script = this.scripts.get(target);
    if (script === undefined) return false;
    if (script.unseen === 0) return true;
    script.unseen -= 1;
    return false;
  }

  /** Returns a time that is later than the last one, as on an account. */
  #now(): string {
    this.#seconds += 1;
    return new Date(Date.UTC(2026, 10, 1) + 1_000 * this.#seconds).toISOString();
  }
}

/** Enforces the limits of the free plan: 64 variables of 5 KB each. */
function checkVariables(bindings: readonly Binding[]): void {
  const texts = bindings.filter(({ type }) => type === "plain_text");
  if (texts.length > 64) throw new Refused(400, 10_054, "Too many environment variables.");
  for (const { name, text = "" } of texts) {
    if (Buffer.byteLength(text) > 5_120)
      throw new Refused(400, 10_054, `Variable ${name} is larger than 5 KB.`);
  }
}

/** Refuses a required secret that the account does not have. */
function checkInherited(bindings: readonly Binding[], { secrets }: Pick<Script, "secrets">): void {
  for (const { name, type } of bindings) {
    if (type !== "inherit" || secrets.has(name)) continue;
    throw new Refused(400, 10_057, `inherit binding '${name}' is invalid: there is no such binding.`);
  }
}

function emptyScript(unseen: number): Script {
  return {
    unseen,
    versions: [],
    deployments: [],
    classes: new Set(),
    secrets: new Map(),
    migrationTag: null,
    subdomain: false,
    lastDeployedFrom: "wrangler",
  };
}

/** Finds the names that the main module exports, in esbuild's list at its end. */
function exportsOf(modules: Readonly<Record<string, string>>): Set<string> {
  const lists = Object.values(modules).flatMap((source) => [...source.matchAll(/export\s*\{([^}]*)\}/g)]);
  return new Set(
    lists.flatMap(([, list = ""]) =>
      list.split(",").map(
        (one) =>
          one
            .trim()
            .split(/\s+as\s+/)
            .at(-1) ?? "",
      ),
    ),
  );
}
