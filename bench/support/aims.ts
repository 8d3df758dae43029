import type { Aim } from './suite.ts';

/** The aim of a figure that is reported for comparison only. */
export const NO_AIM = Number.NaN;

export function aimText({ aim }: Aim): string {
  return Number.isFinite(aim) ? String(aim) : '-';
}

export function verdictOn({ measured, aim, isLeast = false }: Aim): 'met' | 'missed' | '-' {
  if (!Number.isFinite(aim)) return '-';
  if (measured === undefined) return 'missed';
  const isMet = isLeast ? measured.median >= aim : measured.median <= aim;
  return isMet ? 'met' : 'missed';
}
