#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { qrn } from './cli/commands.ts';
import { localService } from './cli/data-folder.ts';
import { runProgram } from './cli/program.ts';

/** The program `qrn` of the service: it has all commands and takes its settings from the environment. */
await runProgram({
  command: qrn,
  environment: process.env,
  localService,
  version: () => JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version,
});
