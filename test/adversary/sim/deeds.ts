/** The possible next steps, with their relative probabilities. */
export const DEEDS = {
  request: 30,
  'pure request': 25,
  burst: 5,
  'request again': 6,
  'flawed request': 5,
  'plain request': 6,
  'hang up': 3,
  'withdraw a lot': 0.8,
  'change keys': 2,
  'change limits': 0.6,
  crash: 1.2,
  'stop in order': 0.5,
  'change the weather': 2,
  'set the wall clock': 0.5,
  stall: 0.4,
  wait: 5,
  look: 1.5,
  quiet: 0.5,
} as const;
/** Steps with several nodes. */
export const NODE_DEEDS = { 'cut a node off': 1, 'pause a node': 1, 'fence a node': 0.7 } as const;
export type Deed = keyof typeof DEEDS | keyof typeof NODE_DEEDS;

/** Weights that replace some of these. */
export type Likely = Readonly<Partial<Record<Deed, number>>>;
