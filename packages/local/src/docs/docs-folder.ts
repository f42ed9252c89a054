import { join } from "node:path";
import { ownModule } from "@sluice/project/own-module";

/** Folder of the documentation that comes with the package. */
export const DOCS_FOLDER = ownModule(new URL("../../../../docs", import.meta.url), "../docs");

/** List of the documentation for coding agents. */
export const LLMS_FILE = join(DOCS_FOLDER, "llms.txt");
