import { basename } from "node:path";
import type { ConfigDocument } from "../file/document.ts";
import { type Place, placeOf, type Report, ROOT } from "../file/report.ts";
import { isTable, type Table } from "../file/table.ts";

/** The environment of a configuration that is in force. */
export interface ActiveEnvironment {
  /** `null` for the top level. */
  readonly env: string | null;
  /** The Worker's name, environment suffix included. */
  readonly workerName: string;
  /** Table with the keys that environments do not inherit. */
  readonly table: Table;
  readonly place: Place;
}

/** Keys of a flattened configuration: a build tool has reduced it to one environment, and redirects Wrangler to it. */
const FLATTENED_KEYS = ["userConfigPath", "topLevelName", "definedEnvironments", "targetEnvironment"];

/**
 * Chooses the environment and names the Worker by Wrangler's rules: the top-level `name`; in an environment its own
 * `name`, or the top-level one with `-<env>` behind it. An environment that the file lacks is an error if the file has
 * others. If it has none, the top level is taken under the environment's name, with a warning.
 *
 * A flattened configuration is of one environment already, and the Worker's name stays as it is written.
 */
export function selectEnvironment(
  document: ConfigDocument,
  requested: string | undefined,
  report: Report,
): ActiveEnvironment {
  const { root } = document;
  checkName(root, ROOT, report);
  if (FLATTENED_KEYS.some((key) => key in root)) return flattenedEnvironment(document, requested, report);
  if (requested === undefined || requested === "") {
    return {
      env: null,
      workerName: ownName(root) ?? nameByFolder(document, report),
      table: root,
      place: ROOT,
    };
  }
  const place = placeOf(placeOf(ROOT, "env"), requested);
  const table = isTable(root.env) ? root.env[requested] : undefined;
  if (table === undefined) {
    reportMissingEnvironment(document, requested, report);
    return {
      env: requested,
      workerName: suffixedName(document, requested, report),
      table: root,
      place: ROOT,
    };
  }
  if (!isTable(table)) {
    report.fieldError(place, `should be an object but got ${JSON.stringify(table)}.`);
    return { env: requested, workerName: suffixedName(document, requested, report), table: {}, place };
  }
  checkName(table, place, report);
  const workerName = ownName(table) ?? suffixedName(document, requested, report);
  return { env: requested, workerName, table, place };
}

function flattenedEnvironment(
  document: ConfigDocument,
  requested: string | undefined,
  report: Report,
): ActiveEnvironment {
  const { root } = document;
  const environments = Object.keys(isTable(root.env) ? root.env : {});
  if (environments.length > 0) {
    const listed = environments.map((env) => `\t- ${env}`).join("\n");
    report.error(
      placeOf(ROOT, "env"),
      `Redirected configurations cannot include environments but the following have been found:\n${listed}`,
    );
  }
  const target = typeof root.targetEnvironment === "string" ? root.targetEnvironment : undefined;
  if (requested && target && requested !== target && root.pages_build_output_dir === undefined) {
    report.error(
      placeOf(ROOT, "targetEnvironment"),
      `You have specified the environment "${requested}". This does not match the target environment ` +
        `"${target}" that was used when building the application.\nPerhaps you need to re-run the ` +
        `custom build of the project with "${requested}" as the selected environment?`,
    );
  }
  const workerName = ownName(root) ?? nameByFolder(document, report);
  return { env: target || requested || null, workerName, table: root, place: ROOT };
}

function suffixedName(document: ConfigDocument, env: string, report: Report): string {
  return `${ownName(document.root) ?? nameByFolder(document, report)}-${env}`;
}

function ownName(table: Table): string | undefined {
  return typeof table.name === "string" && table.name !== "" ? table.name : undefined;
}

/** Names a Worker without a name after its folder, so that the name stays; Wrangler makes a new one at each start. */
function nameByFolder(document: ConfigDocument, report: Report): string {
  const slug = basename(document.directory)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const name = slug === "" ? "worker" : slug;
  const { name: written } = document.root;
  // Any other unusable name has been refused already.
  if (written === undefined || written === "") {
    report.warning(
      placeOf(ROOT, "name"),
      `There is no "name". The Worker is called "${name}", after its folder.`,
    );
  }
  return name;
}

function checkName(table: Table, place: Place, report: Report): void {
  const name = table.name;
  if (name === undefined || (typeof name === "string" && /^$|^[a-z0-9_][a-z0-9-_]*$/.test(name))) return;
  report.error(
    placeOf(place, "name"),
    `Expected "name" to be of type string, alphanumeric and lowercase with dashes only but got ` +
      `${JSON.stringify(name)}.`,
  );
}

function reportMissingEnvironment(document: ConfigDocument, env: string, report: Report): void {
  const { root, file } = document;
  // A Pages project uses its top level for the environments that it does not spell out.
  if (root.pages_build_output_dir !== undefined) return;
  const names = root.env
    ? `The available configured environment names are: ${JSON.stringify(Object.keys(root.env))}\n`
    : "";
  const configFileName = `wrangler.${file.slice(file.lastIndexOf(".") + 1)}`;
  const text = `No environment found in configuration with name "${env}".
Before using \`--env=${env}\` there should be an equivalent environment section in the configuration.
${names}
Consider adding an environment configuration section to the ${configFileName} file:
\`\`\`
[env.${env}]
\`\`\``;
  if (names === "") report.warning(placeOf(ROOT, "env"), text);
  else report.error(placeOf(ROOT, "env"), text);
}
