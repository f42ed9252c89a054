import { writeFile } from "node:fs/promises";
import getPort from "get-port";
import type { Case } from "../compare/cases.ts";
import { Inspector } from "../lab/inspector.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import { openJsonClient } from "../sqs/json-client.ts";
import { prepareSqs, runSqs } from "../sqs/run-sqs.ts";
import { startSluiceServe } from "../sqs/servers.ts";
import type { SqsWay } from "../sqs/sqs-cases.ts";
import { type ProfiledIsolate, SAMPLING_MICROS } from "./profile.ts";

const WARM_UP_RUNS = 3;

/**
 * Profiles `sluice serve` in a case of SQS, in AWS JSON over bare HTTP: what listens, gateway and queue run in one process. Its
 * places are lines of the sources, for the command runs from them.
 */
export async function profileSqsCase(
  { way, title }: Case<SqsWay>,
  messages: number,
  file: string,
): Promise<ProfiledIsolate[]> {
  const folder = await temporaryFolder("profile-sqs");
  const inspectorPort = await getPort();
  const place = { port: await getPort(), folder };
  const { child, endpoint } = await startSluiceServe(place, ["--inspector-port", `${inspectorPort}`]);
  const client = openJsonClient(endpoint);
  try {
    const queueUrl = await client.createQueue("bench");
    for (let i = 0; i < WARM_UP_RUNS; i++)
      await runSqs(await prepareSqs(client, queueUrl, way, messages), way, messages);
    const prepared = await prepareSqs(client, queueUrl, way, messages);
    const inspector = await Inspector.connect(await debuggerUrl(inspectorPort));
    await inspector.startCpuProfile(SAMPLING_MICROS);
    const measured = await runSqs(prepared, way, messages);
    const profile = await inspector.stopCpuProfile();
    inspector.close();
    await writeFile(file, JSON.stringify(profile));
    return [{ title, measured, profile, findSource: () => null, file }];
  } finally {
    await client.close();
    await child.stop();
    await removeFolder(folder);
  }
}

/** The address at which the process can be inspected. */
async function debuggerUrl(inspectorPort: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${inspectorPort}/json`);
  const [listed] = (await response.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
  if (listed === undefined) throw new Error("sluice serve has nothing to inspect");
  return listed.webSocketDebuggerUrl;
}
