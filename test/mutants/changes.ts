import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import type { Mutant } from './plant.ts';

const SWAPS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '&': '|',
  '|': '&',
  '<<': '>>>',
  '>>': '<<',
  '>>>': '<<',
  '+=': '-=',
  '-=': '+=',
};

/** Assertions guard against bugs of other code, so no test can make them fail. */
const ASSERTION = /^assert[.(]/;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns every mutant of a file: operators, conditions, numbers, booleans, and omitted calls. */
export function mutantsOf(path: string): Mutant[] {
  const file = resolve(path);
  const source = readFileSync(file, 'utf8');
  const mutants: Mutant[] = [];
  const unseen: Span[] = [];
  const add = ({ start, end }: Span, text: string) => {
    const line = source.slice(0, start).split('\n').length;
    const what = `${source.slice(start, end).split('\n')[0].slice(0, 60)} -> ${text || 'nothing'}`;
    mutants.push({ file, line, start, end, text, what });
  };
  /** The operator stands between its operands. */
  const swap = (node: { readonly left: Span; readonly right: Span; readonly operator: string }) => {
    const to = SWAPS[node.operator];
    if (to === undefined) return;
    const start = source.indexOf(node.operator, node.left.end);
    if (start < node.right.start) add({ start, end: start + node.operator.length }, to);
  };
  const condition = (test: Span) => {
    add(test, 'true');
    add(test, 'false');
  };
  new Visitor({
    BinaryExpression: swap,
    LogicalExpression: swap,
    AssignmentExpression: swap,
    IfStatement: ({ test }) => condition(test),
    ConditionalExpression: ({ test }) => condition(test),
    UnaryExpression: (node) => {
      if (node.operator === '!') add({ start: node.start, end: node.start + 1 }, '');
    },
    ExpressionStatement: (node) => {
      if (ASSERTION.test(source.slice(node.start, node.end))) unseen.push(node);
      else if (node.expression.type === 'CallExpression' || node.expression.type === 'AwaitExpression')
        add(node, ';');
    },
    TSLiteralType: (node) => {
      unseen.push(node);
    },
    Literal: (node) => {
      if (typeof node.value === 'boolean') add(node, String(!node.value));
      if (typeof node.value === 'number') add(node, String(node.value + 1));
    },
  }).visit(parseSync(path, source).program);
  const isWithin = ({ start }: Mutant) => unseen.some((each) => each.start <= start && start < each.end);
  return mutants.filter(
    (mutant) => !isWithin(mutant) && !isUnseen(source, mutant.start) && isProgram(path, source, mutant),
  );
}

/** `??` cannot stand beside `&&` without parentheses, and what cannot be loaded is no bug that a test could find. */
function isProgram(path: string, source: string, { start, end, text }: Mutant): boolean {
  if (text !== '&&' && text !== '||') return true;
  return parseSync(path, source.slice(0, start) + text + source.slice(end)).errors.length === 0;
}

/** Imports have no bugs, and how often a thread looks before it sleeps changes no result. */
function isUnseen(source: string, at: number): boolean {
  const line = source.slice(source.lastIndexOf('\n', at) + 1, at);
  return /^\s*(import |const SPINS = )/.test(line);
}
