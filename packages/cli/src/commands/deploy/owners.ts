import { CliError } from "@sluice/project/errors";
import { BROKER_QUEUES_BINDING } from "@sluice/project/names";
import { type Register, readRegister } from "@sluice/project/register/register";
import type { CloudflareApi, Version, VersionWithBindings } from "./cloudflare-api.ts";
import type { Deployment } from "./deployment.ts";
import { type Mark, markOf } from "./messages.ts";

/**
 * Finds out which project owns each Worker, by the mark on the version that runs. If that version was deployed by hand
 * and has no mark, the project that has the Worker in a broker's register owns it. The registers read are those of the
 * brokers that marks of other versions name, and of those that are bound to the Worker.
 *
 * @param names names of Workers; those that are not on the account are left out.
 * @returns the mark of the version that runs; `null` for one that another tool has deployed.
 * @throws CliError for a Worker of another project, and for a broker.
 */
export async function ownersOf(
  names: readonly string[],
  deployment: Deployment,
): Promise<Map<string, Mark | null>> {
  const { api } = deployment;
  const marks = new Map<string, Mark | null>();
  for (const name of names) {
    const ids = await api.deployed(name);
    if (ids === null) continue;
    const mark = await liveMark(name, ids, api);
    marks.set(name, mark);
    if (isOwn(mark, deployment)) continue;
    await refuseBroker(name, ids.at(-1), api);
    const other = mark ?? (await holderOf(name, deployment));
    if (other !== null && other.project !== deployment.own.name) {
      throw new CliError(foreignText(name, other, deployment));
    }
  }
  return marks;
}

/** Whether the project has deployed the Worker to the broker that it uses now. */
export function isOwn(mark: Mark | null | undefined, { own, project }: Deployment): boolean {
  return mark?.project === own.name && mark.broker === project.broker.name;
}

/**
 * Refuses to take some Workers of a project to another broker while others stay: messages between them would not arrive
 * any more. This happens where the command does not name the Worker whose configuration names the broker.
 *
 * @param marks marks of the Workers that are deployed.
 * @throws CliError that says how to stay, to move and to part.
 */
export async function refuseParting(
  marks: ReadonlyMap<string, Mark | null>,
  { api, own, project }: Deployment,
): Promise<void> {
  const to = project.broker.name;
  const brokers = [...marks.values()].flatMap((mark) => (mark?.project === own.name ? mark.broker : []));
  for (const from of new Set(brokers)) {
    if (from === to) continue;
    const known = (await registerOf(from, api))?.projects[own.name]?.workers ?? {};
    const moving = [...marks].flatMap(([name, mark]) =>
      mark?.broker === from && known[name] !== undefined ? name : [],
    );
    if (moving.length === 0) continue;
    const staying: string[] = [];
    for (const name of Object.keys(known).filter((one) => own.entry.workers[one] === undefined)) {
      const mark = await liveMark(name, (await api.deployed(name)) ?? [], api);
      if (mark?.project === own.name && mark.broker === from) staying.push(name);
    }
    if (staying.length > 0) throw new CliError(partingText(moving, staying, { from, to }));
  }
}

function partingText(
  moving: readonly string[],
  staying: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
): string {
  const [its, others] = [moving, staying].map((names) => names.map((name) => `"${name}"`).join(" and "));
  return [
    `${its} would be deployed to the broker "${to}", and ${others} of this project would stay on the broker "${from}": ` +
      "messages between them would not arrive any more.",
    `To stay: broker = "${from}" below [sluice] in the configuration of each of them, or --broker ${from}.`,
    "To move: name all of them in one command.",
    `To part: deploy ${others} to "${from}" with ${moving.map((name) => `--detach ${name}`).join(" ")} first.`,
  ].join("\n");
}

/** Reads the mark of the version that runs, or of the last upload where none runs. */
async function liveMark(name: string, deployed: readonly string[], api: CloudflareApi): Promise<Mark | null> {
  const ids = deployed.length > 0 ? deployed : (await api.versions(name)).map(({ id }) => id).reverse();
  return markOf((await runningCode(name, ids, api))?.message ?? null);
}

/**
 * Reads the version whose code runs: one that only changed secrets runs the code of the version before it.
 *
 * @param deployed ids of the versions that were deployed, the newest last.
 * @returns `null` for a Worker that has only secrets.
 */
export async function runningCode(
  name: string,
  deployed: readonly string[],
  api: Pick<CloudflareApi, "version" | "versions">,
): Promise<VersionWithBindings | null> {
  for (const id of deployed.toReversed()) {
    const version = await api.version(name, id);
    if (!changesSecretsAlone(version)) return version;
  }
  const [oldest] = withCode(deployed, await api.versions(name));
  return oldest === undefined || oldest === deployed[0] ? null : api.version(name, oldest);
}

/**
 * Adds the version with the code of the oldest deployment that is listed, if that only changed secrets: the deployment
 * of its code came too long ago.
 *
 * @param deployed ids of the versions that were deployed, the newest last.
 */
export function withCode(deployed: readonly string[], versions: readonly Version[]): readonly string[] {
  const oldest = versions.find(({ id }) => id === deployed[0]);
  if (oldest === undefined || !changesSecretsAlone(oldest)) return deployed;
  const before = versions
    .filter((version) => !changesSecretsAlone(version) && version.createdOn < oldest.createdOn)
    .toSorted((a, b) => a.createdOn.localeCompare(b.createdOn))
    .at(-1);
  return before === undefined ? deployed : [before.id, ...deployed];
}

/** Whether `wrangler secret put`, or an edit of a secret in the dashboard, has made a version. */
export function changesSecretsAlone({ trigger }: Pick<Version, "trigger">): boolean {
  return trigger === "secret";
}

async function refuseBroker(name: string, id: string | undefined, api: CloudflareApi): Promise<void> {
  if (id === undefined) return;
  const { bindings } = await api.version(name, id);
  const holdsQueues = bindings.some(
    (binding) => binding.name === BROKER_QUEUES_BINDING && binding.type === "durable_object_namespace",
  );
  if (!holdsQueues) return;
  const served = Object.keys(readRegister(name, bindings)?.projects ?? {}).map((project) => `"${project}"`);
  throw new CliError(
    `"${name}" on the account is a broker${served.length === 0 ? "" : ` of the project ${served.join(" and ")}`} and ` +
      `holds its messages. A configuration here gives a Worker this name: give that Worker another one.`,
  );
}

/** Finds another project that has a Worker in its broker's register, with that broker; `null` where there is none. */
async function holderOf(name: string, { api, own }: Deployment): Promise<Holder | null> {
  const marked = (await api.versions(name)).flatMap(({ message }) => markOf(message)?.broker ?? []);
  for (const broker of new Set([...marked, ...(await api.boundTo(name))])) {
    const projects = Object.entries((await registerOf(broker, api))?.projects ?? {});
    const [project] =
      projects.find(([one, { workers }]) => one !== own.name && workers[name] !== undefined) ?? [];
    if (project !== undefined) return { project, broker };
  }
  return null;
}

type Holder = Pick<Mark, "project" | "broker">;

function foreignText(name: string, other: Holder, { own, project }: Deployment): string {
  return (
    `"${name}" on the account belongs to the project "${other.project}" with the broker "${other.broker}". This is the ` +
    `project "${own.name}" with the broker "${project.broker.name}". Give it another name here, or say ` +
    `project = "${other.project}" below [sluice] if it is that project. To have the name, delete that Worker first, by ` +
    `"sluice destroy" in the project "${other.project}".`
  );
}

/** Reads the register of a broker; `null` where no Worker has that name, or one that is no broker. */
async function registerOf(broker: string, api: CloudflareApi): Promise<Register | null> {
  const id = (await api.deployed(broker))?.at(-1);
  return id === undefined ? null : readRegister(broker, (await api.version(broker, id)).bindings);
}
