#!/usr/bin/env node
import { run } from "./command-line.ts";
import { terminal } from "./report/printer.ts";

process.exitCode = await run(process.argv.slice(2), terminal);
