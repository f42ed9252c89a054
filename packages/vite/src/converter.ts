import { writeSync } from "node:fs";
import { CliError } from "@sluice/project/errors";
import { writeCloudflareTypes } from "@sluice/project/wrangler/cloudflare-config";
import { surviveLateErrors } from "@sluice/project/wrangler/late-errors";
import { takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { readCloudflareConfigFile } from "@sluice/project/wrangler/wrangler-config";
import { CONVERTED_FD, type Conversion, type ConversionInput, WARNING_FD } from "./conversion-contract.ts";

/*
 * Reads a `cloudflare.config.ts` in a process of its own: reading is asynchronous, and `sluice()` is not.
 */

const { file, mode, types, wranglerFolders } = JSON.parse(process.argv[2] ?? "") as ConversionInput;
surviveLateErrors((line) => writeSync(WARNING_FD, `${line}\n`));
takeWranglerOf(wranglerFolders, { who: "@sluice/vite", oldest: "0" });
const conversion: Conversion = await readCloudflareConfigFile(file, mode).then(
  ({ converted, dependencies }) => ({ converted, dependencies }),
  (error: Error) => ({ error: error instanceof CliError ? error.message : (error.stack ?? error.message) }),
);
writeSync(CONVERTED_FD, JSON.stringify(conversion));
if (types.generate && !("error" in conversion)) await writeCloudflareTypes(file, mode, types);
process.exit();
