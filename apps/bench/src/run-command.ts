import { writeFile } from "node:fs/promises";
import { backlogTable } from "./backlog/backlog-table.ts";
import { BACKLOGS, QUICK_BACKLOGS, QUICK_SAMPLE_MESSAGES, SAMPLE_MESSAGES } from "./backlog/backlogs.ts";
import { type BacklogFigures, measureBacklog } from "./backlog/measure-backlog.ts";
import { type Command, UsageError } from "./command-line.ts";
import { CASES, type Case } from "./compare/cases.ts";
import { compare } from "./compare/compare.ts";
import { compareChart } from "./compare/compare-chart.ts";
import { compareTables, systemsTable } from "./compare/compare-tables.ts";
import { measurePrices } from "./price/measure-price.ts";
import { priceTables } from "./price/price-tables.ts";
import { besideOf, profileCase } from "./profile/profile.ts";
import { profileTables } from "./profile/profile-tables.ts";
import { conditionsList, readConditions } from "./report/conditions.ts";
import { writeChart, writeFigures } from "./report/documents.ts";
import { SYSTEMS } from "./systems/index.ts";
import type { System } from "./systems/system.ts";

/** What a mode has measured, for people and for programs. */
interface Report {
  readonly markdown: string;
  readonly data: unknown;
  readonly chart?: string;
}

/** Progress goes to standard error, so that the tables alone can be piped. */
const say = (line: string) => console.error(line);

/** Carries a command out: measures, prints, and writes what it was asked to write. */
export async function runCommand(command: Command, commandText: string): Promise<void> {
  const completeConditions = await readConditions(commandText);
  const report = await MODES[command.mode.kind](command);
  const conditions = completeConditions();
  const markdown = `${conditionsList(conditions)}\n\n${report.markdown}`;
  console.log(markdown);
  if (command.jsonFile !== null) {
    const text = JSON.stringify({ mode: command.mode.kind, conditions, results: report.data }, null, 2);
    await writeFile(command.jsonFile, `${text}\n`);
  }
  if (command.writesDocs) await writeFigures(command.mode.kind, markdown);
  if (command.writesDocs && report.chart !== undefined) await writeChart(report.chart);
}

const MODES: Readonly<Record<Command["mode"]["kind"], (command: Command) => Promise<Report>>> = {
  async compare(command) {
    const comparisons = await compare({
      systems: chosenSystems(command),
      cases: chosenCases(command, CASES),
      runs: command.runs,
      runSeconds: command.runSeconds,
      ...(command.isQuick ? { warmUps: 1, warmUpScale: 0.02 } : { warmUps: 2, warmUpScale: 1 }),
      mayInstall: command.mayInstall,
      say,
    });
    const subtitle = `one machine, one run; medians of ${command.runs}; bodies of 200 bytes; each panel has its own scale`;
    return {
      markdown: `${systemsTable(chosenSystems(command))}\n\n${compareTables(comparisons)}`,
      data: comparisons.map(({ system, testCase, outcome }) => ({
        system: system.name,
        acknowledged: system.acknowledged,
        case: testCase.way,
        outcome,
      })),
      chart: compareChart(comparisons, subtitle),
    };
  },

  async backlog(command) {
    const sampleMessages = command.isQuick ? QUICK_SAMPLE_MESSAGES : SAMPLE_MESSAGES;
    const figures: BacklogFigures[] = [];
    for (const backlog of command.isQuick ? QUICK_BACKLOGS : BACKLOGS) {
      figures.push(await measureBacklog(backlog, { runs: command.runs, sampleMessages, say }));
    }
    return { markdown: backlogTable(figures), data: figures };
  },

  async price(command) {
    const priced = await measurePrices(command.isQuick, say);
    return { markdown: priceTables(priced), data: priced };
  },

  async profile(command) {
    if (command.mode.kind !== "profile") throw new UsageError("--profile needs a file.");
    const { file } = command.mode;
    const cases = command.cases.length === 0 ? CASES.filter(isHot) : chosenCases(command, CASES);
    const profiled = [];
    for (const testCase of cases) {
      say(testCase.title);
      const messages = testCase.warmUpMessages * (command.isQuick ? 1 : 10);
      profiled.push(await profileCase(testCase, messages, besideOf(file, testCase.way)));
    }
    return {
      markdown: profileTables(profiled),
      data: profiled.map(({ measured, files }) => ({ measured, files })),
    };
  },
};

/** What a profile is most wanted of. */
function isHot({ way }: Case): boolean {
  return way === "concurrent50" || way === "burst";
}

function chosenSystems({ systems }: Command): readonly System[] {
  return chosen("system", SYSTEMS, systems, ({ id }, wanted) => id.startsWith(wanted));
}

function chosenCases({ cases }: Command, all: readonly Case[]): readonly Case[] {
  return chosen("case", all, cases, ({ way }, wanted) => way === wanted);
}

function chosen<Item>(
  what: string,
  all: readonly Item[],
  wanted: readonly string[],
  matches: (item: Item, wanted: string) => boolean,
): readonly Item[] {
  if (wanted.length === 0) return all;
  const unknown = wanted.find((each) => !all.some((item) => matches(item, each)));
  if (unknown !== undefined) throw new UsageError(`There is no ${what} "${unknown}".`);
  return all.filter((item) => wanted.some((each) => matches(item, each)));
}
