import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { STRIPPED } from '../support/server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = globSync(['*.md', 'docs/*.md', 'bench/*.md', 'test/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
});

/** Cells of a row, at bars that are not escaped. */
const cellsOf = (row: string) => row.trim().replaceAll('\\|', '').split('|').length;

describe('the pages', () => {
  it('state what the tables of the service state', async () => {
    const args = [...STRIPPED, 'scripts/write-docs.ts', '--check'];
    await promisify(execFile)(process.execPath, args, { cwd: root }).catch(({ stdout }) =>
      assert.fail(stdout),
    );
  });

  it('have tables whose rows have as many cells as their head', () => {
    const broken: string[] = [];
    let tables = 0;
    for (const page of PAGES) {
      const lines = readFileSync(`${root}${page}`, 'utf8')
        .replaceAll(/^```[\s\S]*?^```/gm, '')
        .split('\n');
      for (const [i, line] of lines.entries()) {
        if (!/^\|(:?-+:?\|)+$/.test(line.replaceAll(' ', ''))) continue;
        tables++;
        const end = lines.findIndex((each, at) => at > i && !each.startsWith('|'));
        const rows = [lines[i - 1], ...lines.slice(i + 1, end)];
        broken.push(...rows.filter((row) => cellsOf(row) !== cellsOf(line)).map((row) => `${page}: ${row}`));
      }
    }
    assert.ok(tables > 30, `${tables} tables`);
    assert.deepEqual(broken, []);
  });

  it('have code blocks fenced by lines of their own', () => {
    const broken = PAGES.flatMap((page) => {
      const fences = readFileSync(`${root}${page}`, 'utf8').match(/^ *```.*$/gm) ?? [];
      return fences
        .filter((fence) => !/^ *```\w*( [\w.-]+)?$/.test(fence))
        .map((fence) => `${page}: ${fence}`);
    });
    assert.deepEqual(broken, []);
  });
});
