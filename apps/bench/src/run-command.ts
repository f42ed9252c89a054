import { writeFile } from "node:fs/promises";
import { backlogTable } from "./backlog/backlog-table.ts";
import { BACKLOGS, QUICK_BACKLOGS, QUICK_SAMPLE_MESSAGES, SAMPLE_MESSAGES } from "./backlog/backlogs.ts";
import { type BacklogFigures, measureBacklog } from "./backlog/measure-backlog.ts";
import { type Command, UsageError } from "./command-line.ts";
import { CASES, type Case } from "./compare/cases.ts";
import { type Comparison, compare } from "./compare/compare.ts";
import { compareChart } from "./compare/compare-chart.ts";
import { compareTables, systemsTable } from "./compare/compare-tables.ts";
import { floorTable } from "./floor/floor-table.ts";
import { measureFloor } from "./floor/measure-floor.ts";
import { measurePrices } from "./price/measure-price.ts";
import { priceTables } from "./price/price-tables.ts";
import { besideOf, type ProfiledIsolate, profileCase } from "./profile/profile.ts";
import { profileSqsCase } from "./profile/profile-sqs.ts";
import { profileTables } from "./profile/profile-tables.ts";
import { conditionsList, readConditions } from "./report/conditions.ts";
import { writeChart, writeFigures } from "./report/documents.ts";
import { SQS_CASES } from "./sqs/sqs-cases.ts";
import { sqsChart } from "./sqs/sqs-chart.ts";
import { SQS_SYSTEMS } from "./sqs/sqs-systems.ts";
import { SYSTEMS } from "./systems/index.ts";
import type { System } from "./systems/system.ts";

/** What a mode has measured, for people and for programs. */
interface Report {
  readonly markdown: string;
  readonly data: unknown;
  /** Goes to `docs/images/NAME.svg`. */
  readonly chart?: { readonly name: string; readonly svg: string };
}

/** Runs by which a Java virtual machine has compiled what it runs. */
const WARM_UPS_MAX = 20;

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
  if (command.writesDocs && report.chart !== undefined) {
    await writeChart(report.chart.name, report.chart.svg);
  }
}

const MODES: Readonly<Record<Command["mode"]["kind"], (command: Command) => Promise<Report>>> = {
  async compare(command) {
    const systems = chosenSystems(command, SYSTEMS);
    const comparisons = await compare({
      systems,
      cases: chosenCases(command, CASES),
      ...howToCompare(command),
    });
    const subtitle = `one machine, one run; medians of ${command.runs}; bodies of 200 bytes; each panel has its own scale`;
    return {
      markdown: `${systemsTable(systems)}\n\n${compareTables(comparisons)}`,
      data: dataOf(comparisons),
      chart: { name: "performance", svg: compareChart(comparisons, subtitle) },
    };
  },

  async sqs(command) {
    const systems = chosenSystems(command, SQS_SYSTEMS);
    const comparisons = await compare({
      systems,
      cases: chosenCases(command, SQS_CASES),
      ...howToCompare(command),
    });
    const subtitle = `one machine, one run; medians of ${command.runs}; bodies of 200 bytes; each panel has its own scale`;
    return {
      markdown: `${systemsTable(systems, "client")}\n\n${compareTables(comparisons)}`,
      data: dataOf(comparisons),
      chart: { name: "sqs", svg: sqsChart(comparisons, subtitle) },
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

  async floor({ runs, runSeconds }) {
    const figures = await measureFloor({ runs, runSeconds, say });
    return { markdown: floorTable(figures), data: figures };
  },

  async price(command) {
    const priced = await measurePrices(command.isQuick, say);
    return { markdown: priceTables(priced), data: priced };
  },

  async profile(command) {
    if (command.mode.kind !== "profile") throw new UsageError("--profile needs a file.");
    const { file, of } = command.mode;
    const hot = command.cases.length === 0 ? CASES.filter(isHot) : [];
    const profiled =
      of === "sqs"
        ? await profileAll(command, file, chosenCases(command, SQS_CASES), profileSqsCase)
        : await profileAll(command, file, hot.length > 0 ? hot : chosenCases(command, CASES), profileCase);
    return {
      markdown: profileTables(profiled),
      data: profiled.map(({ title, measured, file: written }) => ({ title, measured, file: written })),
    };
  },
};

/** Profiles cases one after the other, each into a file of its own. */
async function profileAll<W extends string>(
  { isQuick }: Command,
  file: string,
  cases: readonly Case<W>[],
  profile: (testCase: Case<W>, messages: number, file: string) => Promise<ProfiledIsolate[]>,
): Promise<ProfiledIsolate[]> {
  const profiled: ProfiledIsolate[] = [];
  for (const testCase of cases) {
    say(testCase.title);
    const messages = testCase.warmUpMessages * (isQuick ? 1 : 10);
    profiled.push(...(await profile(testCase, messages, besideOf(file, testCase.way))));
  }
  return profiled;
}

/** What a profile is most wanted of. */
function isHot({ way }: Case): boolean {
  return way === "concurrent50" || way === "burst";
}

function howToCompare({ runs, runSeconds, isQuick, mayInstall }: Command) {
  const warmUp = isQuick
    ? { warmUpsMax: 1, warmUpScale: 0.02 }
    : { warmUpsMax: WARM_UPS_MAX, warmUpScale: 1 };
  return { runs, runSeconds, mayInstall, say, ...warmUp };
}

function dataOf<W extends string>(comparisons: readonly Comparison<W>[]) {
  return comparisons.map(({ system, testCase, outcome }) => ({
    system: system.name,
    acknowledged: system.acknowledged,
    case: testCase.way,
    outcome,
  }));
}

function chosenSystems<W extends string>(
  { systems }: Command,
  all: readonly System<W>[],
): readonly System<W>[] {
  return chosen("system", all, systems, ({ id }, wanted) => id.startsWith(wanted));
}

function chosenCases<W extends string>({ cases }: Command, all: readonly Case<W>[]): readonly Case<W>[] {
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
