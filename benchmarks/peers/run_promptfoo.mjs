// promptfoo: evaluate() with the echo provider and llm-rubric. Arguments: the job's file, the
// report's file, the folder where promptfoo is installed.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [jobFile, reportFile, folder] = process.argv.slice(2);
const job = JSON.parse(fs.readFileSync(jobFile, 'utf8'));
const entry = path.join(folder, 'node_modules/promptfoo/dist/src/index.js');
const promptfoo = (await import(pathToFileURL(entry))).default;
const model = 'gpt-4.1-mini';

function rubric(criterion) {
  const levels = criterion.levels.map((text, n) => `${n / 4}: ${text}`);
  const shown = 'Question: {{question}}\nExpert answer: {{reference}}';
  return [criterion.question, ...levels, shown].join('\n');
}

async function judge(items) {
  const provider = { id: `openai:chat:${model}`, config: { apiBaseUrl: job.url, apiKey: 'none' } };
  const summary = await promptfoo.evaluate(
    {
      prompts: ['{{answer}}'],
      providers: ['echo'],
      defaultTest: { options: { provider } },
      tests: items.map((item) => ({
        vars: item,
        assert: job.criteria.map((one) => ({ type: 'llm-rubric', value: rubric(one) })),
      })),
      writeLatestResults: false,
    },
    { maxConcurrency: job.in_flight, showProgressBar: false, cache: job.cache !== null },
  );
  // A row that ended in an error has no score; a grade that failed has one, of 0.
  const rows = (summary.toEvaluateSummary ? await summary.toEvaluateSummary() : summary).results;
  return Object.fromEntries(
    rows.map((row) => [
      row.vars.id,
      (row.gradingResult?.componentResults ?? job.criteria).map((one) => one.score ?? null),
    ]),
  );
}

if (job.warm_up.length) await judge(job.warm_up);
const before = process.cpuUsage();
const start = performance.now();
const scores = await judge(job.items);
const wall_s = (performance.now() - start) / 1000;
const after = process.cpuUsage(before);
const total = process.cpuUsage();
const report = {
  scores,
  wall_s,
  cpu_s: (after.user + after.system) / 1e6,
  process_cpu_s: (total.user + total.system) / 1e6,
  peak_mib: process.resourceUsage().maxRSS / 1024,
};
fs.writeFileSync(reportFile, JSON.stringify(report));
process.exit(0);
