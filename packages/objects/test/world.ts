import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { idOfName } from "../src/files/object-id.ts";
import { type Binding, type Objects, openObjects } from "../src/index.ts";
import type { ObjectState } from "../src/instance/instance.ts";

export const UNIQUE_KEY = "test-Probe";

/** An object that does what a test wants done inside of it. */
export interface Probe {
  run(job: number, ...args: readonly unknown[]): Promise<unknown>;
}

export interface Env {
  readonly PROBES: { getByName(name: string): Probe };
}

type Job = (ctx: ObjectState, env: Env, ...args: readonly unknown[]) => unknown;

export interface World {
  readonly folder: string;
  readonly objects: Objects;
  /** Errors that were reported to no caller. */
  readonly errors: readonly string[];
  /** How many instances were begun. */
  readonly instances: () => number;
  /** Runs `job` as a call of the object. */
  run<Result>(
    name: string,
    job: (ctx: ObjectState, env: Env) => Result,
    ...args: readonly unknown[]
  ): Promise<Awaited<Result>>;
  /** A number for a job that another object has run. */
  job(job: Job): number;
  fileOf(name: string): string;
  /** Reads the committed rows of an object, as another program sees them. */
  committed(name: string, sql: string): Record<string, unknown>[];
  /** Reads the times in the index of all alarms: by id, in ms. */
  index(): Record<string, number>;
}

export interface WorldInput {
  readonly folder?: string;
  construct?(ctx: ObjectState, env: Env): void;
  alarm?(ctx: ObjectState): unknown;
  holdsNothing?(): boolean;
  now?(): number;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-objects-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens objects of a class of the test's, which are closed at its end. */
export function openWorld({
  folder = temporaryFolder(),
  construct,
  alarm,
  holdsNothing,
  now,
}: WorldInput = {}): World {
  const jobs: Job[] = [];
  const errors: string[] = [];
  let instances = 0;
  const objects = openObjects({
    folder,
    vars: {},
    ...(now && { now }),
    error: (line) => errors.push(line),
    classes: {
      PROBES: {
        uniqueKey: UNIQUE_KEY,
        construct: (ctx, bindings) => {
          instances += 1;
          const env = bindings as Env;
          construct?.(ctx, env);
          return {
            run: (job: number, ...args: unknown[]) => {
              const found = jobs[job];
              if (found === undefined) throw new Error(`there is no job ${job}`);
              return found(ctx, env, ...args);
            },
            ...(alarm === undefined ? {} : { alarm: () => alarm(ctx) }),
            ...(holdsNothing === undefined ? {} : { holdsNothing }),
          };
        },
      },
    },
  });
  onTestFinished(() => objects.close());
  const probes = objects.env.PROBES as Binding;
  const fileOf = (name: string) => join(folder, UNIQUE_KEY, `${idOfName(UNIQUE_KEY, name)}.sqlite`);
  const number = (job: Job) => jobs.push(job) - 1;
  return {
    folder,
    objects,
    errors,
    instances: () => instances,
    run: (name, job, ...args) =>
      (probes.getByName(name) as Probe).run(number(job as Job), ...args) as Promise<never>,
    job: number,
    fileOf,
    committed: (name, sql) => read(fileOf(name), sql),
    index: () => {
      const rows = read(
        join(folder, UNIQUE_KEY, "metadata.sqlite"),
        "SELECT actor_id AS id, scheduled_time / 1000000 AS at FROM _cf_ALARM",
      );
      return Object.fromEntries(rows.map(({ id, at }) => [String(id), Number(at)]));
    },
  };
}

/** As another program reads a file. */
export function read(file: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** Writes to a file as another program. */
export function write(file: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(file);
  for (const statement of statements) database.exec(statement);
  database.close();
}

/** The ids of those named so. */
export function id(name: string): string {
  return idOfName(UNIQUE_KEY, name);
}
